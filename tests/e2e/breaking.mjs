// Requests to tests/faults, a server that breaks as it is told to.

import assert from 'node:assert/strict'

import { ENVELOPE, NEWEST } from './ask.mjs'

/** Within this everything is answered that is not left hanging. */
const LIMIT = 15_000

/** The ways in which a module breaks that cannot be told from each other but by how they come about. */
export const KINDS = ['panic', 'overflow', 'recursion', 'exhaustion']

export const PROGRESS = { progressToken: 'p' }

export const tool = (name, args = {}, meta = {}) =>
  ({ method: 'tools/call', params: { name, arguments: args, _meta: { ...ENVELOPE, ...meta } } })

/** Whatever can panic, by what it is. */
export const PANICS = [
  ['a panic at once', tool('break', { how: 'panic' })],
  ['a panic after a while', tool('break_later', { how: 'panic' })],
  ['a panic of a resource', { method: 'resources/read', params: { uri: 'faults://break', _meta: ENVELOPE } }],
  ['a panic of a prompt', { method: 'prompts/get', params: { name: 'break', _meta: ENVELOPE } }],
  ['a panic of the server function', { ...tool('echo', { text: 'x' }), headers: { Break: 'panic' } }],
]

/** Sends a request, in another body than the usual if one is given, and gives the Response. */
export function send(worker, { method, params, headers = {} }, id, body = JSON.stringify({ jsonrpc: '2.0', id, method, params })) {
  return fetch(worker.url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': NEWEST, 'Mcp-Method': method,
      ...(params.name || params.uri ? { 'Mcp-Name': params.name ?? params.uri } : {}), ...headers,
    },
    body,
    duplex: 'half',
    signal: AbortSignal.timeout(LIMIT),
  })
}

/** The answer to a request, which may come in another body than the usual. */
export async function ask(worker, request, id, body) {
  const response = await send(worker, request, id, body)
  const text = await response.text()
  try {
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body: JSON.parse(text) }
  } catch {
    assert.fail(`${response.status} ${text.slice(0, 500)}`)
  }
}

/** The answers to a batch of tool calls, each `[id, name, arguments]`, and a notification. */
export async function askBatch(worker, calls) {
  const messages = calls.map(([id, name, args]) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }))
  const response = await fetch(worker.url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-03-26' },
    body: JSON.stringify([...messages, { jsonrpc: '2.0', method: 'notifications/initialized' }]),
    signal: AbortSignal.timeout(LIMIT),
  })
  return response.json()
}

/** Begins a stream that goes on for a while. `last` is its last message. */
export async function stream(worker, request, id) {
  const response = await send(worker, request, id)
  assert.match(response.headers.get('content-type'), /^text\/event-stream/)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  const { value: begun } = await reader.read()
  assert.match(begun, /"began"/)
  const last = (async () => {
    // Several events may arrive at once.
    let text = begun
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return JSON.parse(text.split('\n').findLast((line) => line.startsWith('data: ')).slice('data: '.length))
      text += value
    }
  })()
  // Whoever wants to know waits for it later.
  last.catch(() => {})
  return { last }
}

export function isBroken({ status, body }, id) {
  assert.deepEqual([status, body.jsonrpc, body.error?.code, body.id], [200, '2.0', -32603, id], JSON.stringify(body))
  assert.equal(body.error.message, 'The server failed to answer this request. Its log says why.')
}

export function isInterrupted({ status, retryAfter, body }, id) {
  assert.deepEqual([status, retryAfter, body.error?.code, body.id], [503, '1', -32603, id], JSON.stringify(body))
  assert.match(body.error.message, /^The server restarted/)
}

export function isRight({ status, body }, id, text) {
  assert.deepEqual([status, body.id, body.result?.content[0].text], [200, id, text], JSON.stringify(body))
}

export const isServed = async (worker) => isRight(await ask(worker, tool('echo', { text: 'whole again' }), 'next'), 'next', 'whole again')
