// A server that has the effects of the steps of tests/faults. It counts them by idempotency key, and decides which steps panic.

import { once } from 'node:events'
import { createServer } from 'node:http'

/**
 * Starts the server.
 *
 * @returns {Promise<Effects>}
 *
 * @typedef {object} Effects
 * @property {string} url its origin
 * @property {(job: string) => { step: number, count: number, receipt: string }[]} of returns the effects of a job, one for each key, in the
 *   order of the first requests
 * @property {number} panics the number of panics so far
 * @property {() => void} stop
 */
export async function startEffects() {
  /** The effects by their keys, by the names of their jobs. */
  const jobs = new Map()
  const panicked = new Set()
  let receipts = 0
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, 'http://localhost')
    const job = searchParams.get('job')
    if (pathname === '/fault') {
      response.end(panicked.has(job) ? 'go on' : 'panic')
      panicked.add(job)
      return
    }
    const key = searchParams.get('key')
    if (!jobs.has(job)) jobs.set(job, new Map())
    const effects = jobs.get(job)
    if (!effects.has(key)) effects.set(key, { step: Number(searchParams.get('step')), count: 0, receipt: `r${++receipts}` })
    const effect = effects.get(key)
    effect.count += 1
    response.end(effect.receipt)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}`,
    of: (job) => [...jobs.get(job)?.values() ?? []],
    get panics() { return panicked.size },
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}
