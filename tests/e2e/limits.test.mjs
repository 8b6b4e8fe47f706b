// Tests limits in workerd over HTTP. tests/spec/limits.rs tests each limit at its value and one beyond. app.test.mjs tests the limit of a
// body.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { assertServing } from './faults.mjs'
import { call, post } from './requests.mjs'
import { startWorkerd } from './workerd.mjs'

let worker
before(async () => { worker = await startWorkerd() })
after(() => worker?.stop())

const large = (bytes) => ({ jsonrpc: '2.0', id: 'large', method: 'tools/call', params: { name: 'large', arguments: { bytes } } })

test('an error replaces an answer beyond the limit', async () => {
  const most = 16 * 1024 * 1024
  const whole = await post(worker, large(most - 1000))
  assert.equal(whole.body.result.content[0].text.length, most - 1000)
  for (const bytes of [most, 50_000_000]) {
    const { status, body } = await post(worker, large(bytes))
    assert.deepEqual([status, body.id, body.result.isError], [200, 'large', true])
    assert.match(body.result.content[0].text, new RegExp(`^The answer must have at most ${most} bytes \\(got \\d+\\)\\.`))
  }
  await assertServing(worker)
})

test('the answers to a batch share one limit', async () => {
  const { body } = await post(worker, [large(9_000_000), { ...large(100), id: 'small' }], { 'MCP-Protocol-Version': '2025-03-26' })
  assert.deepEqual(body.map(({ id, result }) => [id, result.isError]), [['large', true], ['small', false]])
})

test('bodies of every size are read while few or many calls are pending', async () => {
  const lengths = [10, 100_000, 300_000]
  const echoedLength = async (length) => (await call(worker, 'echo', { text: 'x'.repeat(length) })).content[0].text.length
  const assertRead = async () => assert.deepEqual(await Promise.all(lengths.map(echoedLength)), lengths)
  await assertRead()
  const pending = Promise.all(Array.from({ length: 16 }, () => call(worker, 'wait', { ms: 1000 })))
  await assertRead()
  for (const { isError } of await pending) assert.equal(isError, false)
})

test('a header beyond the limit is rejected', async () => {
  const most = 64 * 1024
  const withHeader = async (name, length) => (await post(worker, large(1), { [name]: 'x'.repeat(length) }))
  assert.notEqual((await withHeader('MCP-Protocol-Version', most)).status, 431)
  const { status, body } = await withHeader('MCP-Protocol-Version', most + 1)
  assert.equal(status, 431)
  assert.match(body.error.message, new RegExp(`^The header mcp-protocol-version is longer than the limit of ${most} bytes\\.$`, 'i'))
  await assertServing(worker)
})
