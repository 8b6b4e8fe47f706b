// Tests a call with several rounds of elicitation, each in another process, and a client that disconnects.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { ENVELOPE, NEWEST, post } from './requests.mjs'
import { randomToken } from './worker.mjs'
import { startWorkerd } from './workerd.mjs'

const META = {
  ...ENVELOPE,
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} }, sampling: {}, roots: {} },
}

const headers = (name) => ({
  'MCP-Protocol-Version': NEWEST, 'Mcp-Method': 'tools/call', 'Mcp-Name': name, Accept: 'application/json, text/event-stream',
})

const request = (name, params) => ({
  jsonrpc: '2.0', id: 1, method: 'tools/call', params: { _meta: META, name, arguments: {}, ...params },
})

/** Starts a worker, sends one request to it, and stops it. */
async function ask(key, params) {
  const worker = await startWorkerd({ name: 'everything', secrets: { MCP_STATE_KEY: key } })
  try {
    const name = 'test_input_required_result_multi_round'
    return (await post(worker, request(name, params), headers(name))).body
  } finally {
    await worker.stop()
  }
}

test('a new process can answer each round of a call', async () => {
  const key = randomToken()
  const { result: first } = await ask(key, {})
  assert.deepEqual([first.resultType, Object.keys(first.inputRequests)], ['input_required', ['step1']])
  const { result: second } = await ask(key, {
    inputResponses: { step1: { action: 'accept', content: { name: 'Ada' } } }, requestState: first.requestState,
  })
  assert.deepEqual(Object.keys(second.inputRequests), ['step2'])
  const last = { inputResponses: { step2: { action: 'accept', content: { color: 'green' } } }, requestState: second.requestState }
  const { result: third } = await ask(key, last)
  assert.equal(third.content[0].text, 'Ada likes green')
  const { error } = await ask(randomToken(), last)
  assert.deepEqual([error.code, error.data.reason], [-32602, 'invalid_request_state'], 'a process with another key rejects the request state')
})

test('a client that closes the stream cancels the handler', async () => {
  const worker = await startWorkerd({ name: 'everything' })
  try {
    const disconnect = new AbortController()
    const response = await fetch(worker.url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers('linger') },
      body: JSON.stringify(request('linger', { _meta: { ...META, progressToken: 1 } })),
      signal: disconnect.signal,
    })
    assert.equal(response.headers.get('content-type'), 'text/event-stream')
    const { value } = await response.body.getReader().read()
    assert.match(new TextDecoder().decode(value), /"message":"lingering"/)
    disconnect.abort()
    await worker.logged(/the client of linger has disconnected/)
  } finally {
    await worker.stop()
  }
})
