// Calls that the platform cancels because their clients have gone away. workerd does so for a call from another Worker; over HTTP, it
// does not notice that the client of a pending JSON answer has gone.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { legacy } from './requests.mjs'
import { startWorkerd } from './workerd.mjs'

/** A Worker that passes requests on, and cancels those that say when, in milliseconds. */
const CALLER = `export default {
  async fetch(request, env) {
    const time = request.headers.get('cancel-after')
    if (!time) return env.FAULTS.fetch(request)
    return env.FAULTS.fetch(request, { signal: AbortSignal.timeout(Number(time)) }).catch(() => new Response('{"cancelled":true}'))
  },
}`

test('calls that the platform cancels leave nothing behind', async (t) => {
  const worker = await startWorkerd(CALLER)
  t.after(worker.stop)
  const live = async () => (await legacy(worker, 'tools/call', { name: 'memory' })).body.result.structuredContent.live
  const cancelled = async () => {
    const response = await fetch(worker.url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'MCP-Protocol-Version': '2025-11-25', 'cancel-after': '200' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hold' } }),
    })
    assert.deepEqual(await response.json(), { cancelled: true })
  }
  await Promise.all(Array.from({ length: 10 }, cancelled))
  // They are worked on until the deadline of the tool, 3 s.
  await sleep(3500)
  const before = await live()
  await Promise.all(Array.from({ length: 100 }, cancelled))
  assert.ok(await live() > before * 1.5, 'calls that wait are seen')
  let end
  for (const until = Date.now() + 5000; Date.now() < until; await sleep(50)) {
    end = await live()
    if (end < before * 1.1) break
  }
  assert.ok(end < before * 1.1, `${before} → ${end} bytes are live`)
})
