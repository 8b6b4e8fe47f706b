// Measures a gateway: a call through it, against a Worker whose tool makes the same call with the MCP client, and the lists of many servers.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { modulesOf, startSubject } from './bed.mjs'
import { check } from './check.mjs'
import { load, untilLevel } from './load.mjs'
import { checkAnswer } from './rows.mjs'
import { rotated } from './statistics.mjs'
import { LIST_OF_MANY, LIST_OF_ONE, RELAY, SMALL, THROUGH } from './works.mjs'

/** The servers of the gateway with many servers. Each has as many tools as the list of the gateway with one server. */
const MANY = 20
/** The lists of servers that answer late, before the first one that is measured. */
const WARM_UP = 10
const SUBJECT = { crate: 'benches/client' }
const SERVER = { name: 'server 2.4 for the gateway', peer: 'server' }

/**
 * @typedef {object} Gateway each list has a value of each round. CPU times are those of the gateway, in microseconds
 * @property {number[]} through a call of a tool through the gateway
 * @property {number[]} relay a call of a tool of our own Worker, which makes the same call
 * @property {number[]} list_of_many `tools/list` of a gateway with 20 servers, which do not let it cache their lists
 * @property {number[]} list_of_one the same with one server
 * @property {number[]} delayed_ms the time of a list of 20 servers that answer after 50 ms, in milliseconds
 *
 * @param {import('./bed.mjs').Bed} bed
 * @param {{ rounds: number, seconds: number, warmUp: number }} how
 * @returns {Promise<Gateway>}
 */
export async function gateway(bed, how) {
  const running = []
  const started = async (process) => {
    running.push(process)
    return process
  }
  const worker = async (name, bindings) => {
    const subject = { ...SUBJECT, name, bindings }
    const modules = await modulesOf(bed, subject)
    return { subject, process: await started(await startSubject(bed, { ...subject, modules }, SMALL.tools)) }
  }
  try {
    const modules = await modulesOf(bed, SERVER)
    // The server runs on the core of the load, so it does not compete with the gateway.
    const place = { ...bed, core: { ...bed.core, subject: bed.core.load } }
    const server = await started(await startSubject(place, { ...SERVER, modules }, SMALL.tools))
    const lists = await started(await startLists())
    const measured = [
      ['through', THROUGH, await worker('gateway', { PEER: server.url, MOUNTS: '1' })],
      ['relay', RELAY, await worker('gateway, none', { PEER: server.url })],
      ['list_of_many', LIST_OF_MANY, await worker('gateway, many', { PEER: lists.url(0), MOUNTS: String(MANY) })],
      ['list_of_one', LIST_OF_ONE, await worker('gateway, one', { PEER: lists.url(0), MOUNTS: '1' })],
    ]
    const delayed = await worker('gateway, delayed', { PEER: lists.url(50), MOUNTS: String(MANY) })
    bed.say('gateway: warming up')
    for (let nth = 0; nth < WARM_UP; nth++) await check(delayed.process.url, LIST_OF_MANY)
    for (const [, work, one] of measured) {
      await checkAnswer(one, work)
      await untilLevel((until) => load(bed, one.process, work, until), how.warmUp)
    }
    const found = Object.fromEntries([...measured.map(([name]) => [name, []]), ['delayed_ms', []]])
    for (let round = 0; round < how.rounds; round++) {
      bed.say(`gateway: round ${round + 1} of ${how.rounds}`)
      for (const [name, work, one] of rotated(measured, round)) {
        found[name].push((await load(bed, one.process, work, { seconds: how.seconds })).cpu_us)
      }
      const begun = performance.now()
      await check(delayed.process.url, LIST_OF_MANY)
      found.delayed_ms.push(performance.now() - begun)
    }
    for (const [, work, one] of measured) await checkAnswer(one, work)
    return found
  } finally {
    await Promise.all(running.map((process) => process.stop()))
  }
}

/** Starts a server that has only prepared lists of tools. The path is the number of milliseconds before its answer. */
async function startLists() {
  const tools = Array.from({ length: LIST_OF_ONE.items }, (_, index) => ({
    name: `tool-${index}`,
    description: 'Finds documents by their words, best match first. It returns the title, the place and an extract of each document.',
    inputSchema: {
      type: 'object',
      properties: {
        query: { type: 'string', description: 'The words to search for', minLength: 1, maxLength: 500 },
        limit: { type: 'integer', description: 'The maximum number of documents', minimum: 1, maximum: 50 },
      },
      required: ['query'],
    },
  }))
  const server = createServer(async (request, response) => {
    const { id } = JSON.parse(await text(request))
    const delay = Number(/\d+/.exec(request.url))
    if (delay > 0) await sleep(delay)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { resultType: 'complete', tools, ttlMs: 0, cacheScope: 'private' } }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = async () => {
    server.closeAllConnections()
    server.close()
  }
  return { url: (delay) => `http://127.0.0.1:${server.address().port}/${delay}/mcp`, stop }
}
