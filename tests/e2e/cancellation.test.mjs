// Tests calls that the platform cancels because their clients have disconnected. workerd cancels a call from another Worker. Over HTTP, it
// does not detect that the client of a pending JSON response has disconnected.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { legacy } from './requests.mjs'
import { startWorkerd } from './workerd.mjs'

/** A Worker that forwards requests. It cancels a request with the header `cancel-after` after this number of milliseconds. */
const CALLER = `export default {
  async fetch(request, env) {
    const time = request.headers.get('cancel-after')
    if (!time) return env.FAULTS.fetch(request)
    return env.FAULTS.fetch(request, { signal: AbortSignal.timeout(Number(time)) }).catch(() => new Response('{"cancelled":true}'))
  },
}`

test('calls that the platform cancels release their memory', async (t) => {
  const worker = await startWorkerd({ caller: CALLER })
  t.after(worker.stop)
  const liveBytes = async () => (await legacy(worker, 'tools/call', { name: 'memory' })).body.result.structuredContent.live
  const callAndCancel = async () => {
    const response = await fetch(worker.url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'MCP-Protocol-Version': '2025-11-25', 'cancel-after': '200' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hold' } }),
    })
    assert.deepEqual(await response.json(), { cancelled: true })
  }
  await Promise.all(Array.from({ length: 10 }, callAndCancel))
  // The module works on these calls until the deadline of the tool, 3 s.
  await sleep(3500)
  const before = await liveBytes()
  await Promise.all(Array.from({ length: 100 }, callAndCancel))
  assert.ok(await liveBytes() > before * 1.5, 'the pending calls hold memory')
  let end
  for (const until = Date.now() + 5000; Date.now() < until; await sleep(50)) {
    end = await liveBytes()
    if (end < before * 1.1) break
  }
  assert.ok(end < before * 1.1, `live memory: ${before} → ${end} bytes`)
})
