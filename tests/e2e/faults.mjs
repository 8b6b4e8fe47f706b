// Requests to tests/faults, a server that crashes on demand, and assertions about its responses.

import assert from 'node:assert/strict'

import { ENVELOPE, NEWEST } from './requests.mjs'

/** The time in milliseconds within which the server must answer each request. */
const TIMEOUT = 15_000

/** The kinds of crashes. They differ only in their cause: clients cannot distinguish them. */
export const CRASH_KINDS = ['panic', 'overflow', 'recursion', 'exhaustion']

/** The `_meta` member with which a client requests progress notifications. */
export const PROGRESS_META = { progressToken: 'p' }

/** Creates the request of a tool call. */
export const tool = (name, args = {}, meta = {}) =>
  ({ method: 'tools/call', params: { name, arguments: args, _meta: { ...ENVELOPE, ...meta } } })

/** A request for each place that can panic, with a name for the test. */
export const PANICS = [
  ['a panic at once', tool('break', { how: 'panic' })],
  ['a panic after a wait', tool('break_later', { how: 'panic' })],
  ['a panic in a resource', { method: 'resources/read', params: { uri: 'faults://break', _meta: ENVELOPE } }],
  ['a panic in a prompt', { method: 'prompts/get', params: { name: 'break', _meta: ENVELOPE } }],
  ['a panic in the server function', { ...tool('echo', { text: 'x' }), headers: { Break: 'panic' } }],
]

/** Sends a body with additional headers, and returns the `Response`. */
export function post(worker, headers, body) {
  return fetch(worker.url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', ...headers },
    body,
    duplex: 'half',
    signal: AbortSignal.timeout(TIMEOUT),
  })
}

/** Sends a request and returns the `Response`. `body` replaces the default body. */
export function send(worker, { method, params, headers = {} }, id, body = JSON.stringify({ jsonrpc: '2.0', id, method, params })) {
  const name = params.name ?? params.uri
  return post(worker, { 'MCP-Protocol-Version': NEWEST, 'Mcp-Method': method, ...(name ? { 'Mcp-Name': name } : {}), ...headers }, body)
}

/** Sends a request and returns the status, `Retry-After` and the parsed body. `body` replaces the default body of the request. */
export async function ask(worker, request, id, body) {
  const response = await send(worker, request, id, body)
  const text = await response.text()
  try {
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body: JSON.parse(text) }
  } catch {
    assert.fail(`${response.status} ${text.slice(0, 500)}`)
  }
}

/** Sends a batch of tool calls, each `[id, name, arguments]`, and a notification. Returns the responses. */
export async function askBatch(worker, calls) {
  const messages = calls.map(([id, name, args]) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }))
  const response = await fetch(worker.url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-03-26' },
    body: JSON.stringify([...messages, { jsonrpc: '2.0', method: 'notifications/initialized' }]),
    signal: AbortSignal.timeout(TIMEOUT),
  })
  return response.json()
}

/** Starts a stream and waits for its first progress notification. Returns `last`, a promise of the last message. */
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
  // The test awaits `last` later. Without this handler, an earlier rejection would end the process.
  last.catch(() => {})
  return { last }
}

/** Asserts that the answer is the error for a call that crashed. */
export function assertCrashed({ status, body }, id) {
  assert.deepEqual([status, body.jsonrpc, body.error?.code, body.id], [200, '2.0', -32603, id], JSON.stringify(body))
  assert.equal(body.error.message, 'The server failed to answer this request. Its log says why.')
}

/** Asserts that the answer is the error for a call that a crash of another call interrupted. */
export function assertInterrupted({ status, retryAfter, body }, id) {
  assert.deepEqual([status, retryAfter, body.error?.code, body.id], [503, '1', -32603, id], JSON.stringify(body))
  assert.match(body.error.message, /^The server restarted/)
}

/** Asserts that the answer is a tool result with this text. */
export function assertAnswered({ status, body }, id, text) {
  assert.deepEqual([status, body.id, body.result?.content[0].text], [200, id, text], JSON.stringify(body))
}

/** Asserts that the server answers a new call. */
export const assertServing = async (worker) =>
  assertAnswered(await ask(worker, tool('echo', { text: 'whole again' }), 'next'), 'next', 'whole again')
