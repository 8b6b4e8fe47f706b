// Measures a call of a tool of another server: in Workers, with the MCP client, the official client and a plain fetch, and in Node.js, with
// the official client.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { modulesOf, startSubject } from './bed.mjs'
import { load, untilLevel } from './load.mjs'
import { cpuMicros } from './proc.mjs'
import { checkAnswer } from './rows.mjs'
import { rotated } from './statistics.mjs'
import { MODERN, RELAY, SMALL, WITHOUT } from './works.mjs'

/** The Workers: this library, and benches/peers/relay.mjs with each of its callers. */
const WORKERS = {
  own: { subject: { name: 'client', crate: 'benches/client' }, bindings: {} },
  floor: { subject: { name: 'client, floor', peer: 'relay' }, bindings: { CALLER: 'floor' } },
  shared: { subject: { name: 'client, official and shared', peer: 'relay' }, bindings: { CALLER: 'shared' } },
  fresh: { subject: { name: 'client, official and fresh', peer: 'relay' }, bindings: { CALLER: 'fresh' } },
}
const SERVER = { name: 'server 2.4 for the client', peer: 'server' }

/**
 * @typedef {object} Calls each list has the CPU time per call in each round, in microseconds
 * @property {number[]} relay a request to our Worker whose tool calls the server
 * @property {number[]} without a request to the same Worker whose tool returns the same result without a call
 * @property {number[]} own the difference of the two: a call of the client in the Worker
 * @property {number[]} official a call of the official client in Node.js
 * @property {number[]} floor a plain fetch in a Worker whose answer is parsed, as the same difference
 * @property {number[]} shared a call of the official client in a Worker, shared by the requests of the isolate, as the same difference
 * @property {number[]} fresh a call of the official client in a Worker that builds it for each request, as the same difference
 *
 * The server runs on the core of the load, so it does not compete with the clients. Its CPU time does not count.
 *
 * @param {import('./bed.mjs').Bed} bed
 * @param {{ rounds: number, seconds: number, warmUp: number }} how
 * @returns {Promise<Calls>}
 */
export async function client(bed, how) {
  const processes = []
  const started = async (starting) => {
    const process = await starting
    processes.push(process)
    return process
  }
  const subject = async (subject, core, bindings) => {
    const modules = await modulesOf(bed, subject)
    return started(startSubject({ ...bed, core: { ...bed.core, subject: core } }, { ...subject, bindings, modules }, SMALL.tools))
  }
  try {
    const server = await subject(SERVER, bed.core.load)
    // The official client checks each answer.
    const official = await started(startOfficial(bed, server.url))
    const clients = [{ name: 'official', check: () => {}, run: official.run }]
    for (const [caller, worker] of Object.entries(WORKERS)) {
      const process = await subject(worker.subject, bed.core.subject, { ...worker.bindings, PEER: server.url })
      clients.push(...Object.entries({ relay: RELAY, without: WITHOUT }).map(([kind, work]) => ({
        name: `${caller} ${kind}`,
        check: () => checkAnswer({ subject: worker.subject, process }, work),
        run: (until) => load(bed, process, work, until),
      })))
    }
    bed.say('client: warming up')
    for (const { check, run } of clients) {
      await check()
      await untilLevel(run, how.warmUp)
    }
    const found = Object.fromEntries(clients.map(({ name }) => [name, []]))
    for (let round = 0; round < how.rounds; round++) {
      bed.say(`client: round ${round + 1} of ${how.rounds}`)
      for (const { name, run } of rotated(clients, round)) found[name].push((await run({ seconds: how.seconds })).cpu_us)
    }
    for (const { check } of clients) await check()
    const difference = (caller) => found[`${caller} relay`].map((micros, round) => micros - found[`${caller} without`][round])
    const differences = Object.fromEntries(Object.keys(WORKERS).map((caller) => [caller, difference(caller)]))
    return { relay: found['own relay'], without: found['own without'], official: found.official, ...differences }
  } finally {
    await Promise.all(processes.map((process) => process.stop()))
  }
}

/** Starts the official client on the core of the subjects. */
async function startOfficial({ root, core }, url) {
  const program = join(root, 'benches/peers/client.mjs')
  // taskset replaces itself with Node.js, so `pid` is the process of the client. The client ends with its input.
  const child = spawn('taskset', ['-c', String(core.subject), process.execPath, program, url], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]()
  const line = async () => {
    const { value } = await lines.next()
    if (value === undefined) throw new Error('the official client ended')
    return value
  }
  const stop = async () => {
    if (child.exitCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const revision = await line()
  if (revision !== MODERN) throw new Error(`the official client speaks ${revision}`)
  const run = async ({ seconds, answers = 0 }) => {
    const before = await cpuMicros(child.pid)
    child.stdin.write(`${seconds} ${answers}\n`)
    const requests = Number(await line())
    return { requests, cpu_us: (await cpuMicros(child.pid) - before) / requests }
  }
  return { run, stop }
}
