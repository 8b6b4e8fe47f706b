// Limits in workerd, over real HTTP; tests/spec/limits.rs has each at its limit and one past it. Those of a body are in app.test.mjs.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { call, post } from './requests.mjs'
import { assertServing } from './faults.mjs'
import { startWorker } from './worker.mjs'

let worker
before(async () => { worker = await startWorker({ name: 'faults' }) })
after(() => worker?.stop())

const large = (bytes) => ({ jsonrpc: '2.0', id: 'large', method: 'tools/call', params: { name: 'large', arguments: { bytes } } })

test('an answer that is too long is replaced by an error', async () => {
  const most = 16 * 1024 * 1024
  const whole = await post(worker, large(most - 1000))
  assert.equal(whole.body.result.content[0].text.length, most - 1000)
  for (const bytes of [most, 50_000_000]) {
    const { status, body } = await post(worker, large(bytes))
    assert.deepEqual([status, body.id, body.result.isError], [200, 'large', true])
    assert.match(body.result.content[0].text, new RegExp(`^The answer has \\d+ bytes; at most ${most} are sent\\.`))
  }
  await assertServing(worker)
})

test('of a batch, the answers share what is sent', async () => {
  const { body } = await post(worker, [large(9_000_000), { ...large(100), id: 'small' }], { 'MCP-Protocol-Version': '2025-03-26' })
  assert.deepEqual(body.map(({ id, result }) => [id, result.isError]), [['large', true], ['small', false]])
})

test('a body of any length is read, while few and while many calls are pending', async () => {
  const lengths = [10, 100_000, 300_000]
  const echoed = async (length) => (await call(worker, 'echo', { text: 'x'.repeat(length) })).content[0].text.length
  const isRead = async () => assert.deepEqual(await Promise.all(lengths.map(echoed)), lengths)
  await isRead()
  const pending = Promise.all(Array.from({ length: 16 }, () => call(worker, 'wait', { ms: 1000 })))
  await isRead()
  for (const { isError } of await pending) assert.equal(isError, false)
})

test('a header that is too long is refused', async () => {
  const most = 64 * 1024
  const of = async (name, length) => (await post(worker, large(1), { [name]: 'x'.repeat(length) }))
  assert.notEqual((await of('MCP-Protocol-Version', most)).status, 431)
  const { status, body } = await of('MCP-Protocol-Version', most + 1)
  assert.equal(status, 431)
  assert.match(body.error.message, new RegExp(`^The header mcp-protocol-version is longer than the limit of ${most} bytes\\.$`, 'i'))
  await assertServing(worker)
})
