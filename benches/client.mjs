// Measures a call of a tool of another server: with the MCP client in a Worker, and with the official client in Node.js.

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

const WORKER = { name: 'client', crate: 'benches/client' }
const SERVER = { name: 'server 2.4 for the client', peer: 'server' }

/**
 * @typedef {object} Calls each list has the CPU time per call in each round, in microseconds
 * @property {number[]} relay a request to a Worker whose tool calls the server
 * @property {number[]} without a request to the same Worker whose tool returns the same result without a call
 * @property {number[]} own the difference of the two: a call of the client in the Worker
 * @property {number[]} official a call of the official client
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
    const worker = await subject(WORKER, bed.core.subject, { PEER: server.url })
    const official = await started(startOfficial(bed, server.url))
    const ofWorker = (name, work) => ({
      name,
      check: () => checkAnswer({ subject: WORKER, process: worker }, work),
      run: (until) => load(bed, worker, work, until),
    })
    const clients = [
      ofWorker('relay', RELAY),
      ofWorker('without', WITHOUT),
      // The official client checks each answer.
      { name: 'official', check: () => {}, run: official.run },
    ]
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
    return { ...found, own: found.relay.map((micros, round) => micros - found.without[round]) }
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
