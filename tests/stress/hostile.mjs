// Invalid requests of many kinds. The server must answer each with an error, but not with a 5xx status.

import assert from 'node:assert/strict'

const call = (params) => `{"jsonrpc":"2.0","id":"hostile","method":"tools/call","params":${params}}`
const search = (args) => call(`{"name":"search-documents","arguments":${args}}`)

/** Requests with an invalid body. */
const BODIES = [
  '', '{', '[]', 'null', '1', '"text"', '{}', '[[]]', '[{}]', '{"jsonrpc":"2.0"}', 'x'.repeat(70_000), '\ufeff{}',
  '{"jsonrpc":"1.0","id":1,"method":"ping"}', '{"jsonrpc":"2.0","id":{},"method":"ping"}', '{"jsonrpc":"2.0","id":1e400,"method":"ping"}',
  '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}', '{"jsonrpc":"2.0","id":"hostile","method":7}',
  call('[]'), call('7'), call('{}'), call('{"name":{}}'), call('{"name":"x","name":"y"}'), call('{"name":"no-such-tool"}'),
  call(`{"name":"${'x'.repeat(100_000)}"}`), call(`{"name":"search-documents","arguments":${'['.repeat(50_000)}${']'.repeat(50_000)}}`),
  call('{"a":'.repeat(200) + '1' + '}'.repeat(200)), search('7'), search('{"query":7}'), search('{"query":"\\ud800"}'),
  search('{"query":"a","limit":1e400}'), search('{"query":"a","limit":99999999999999999999}'), search('{"query":"a","limit":-0.5}'),
  search('{"query":""}'), search(`{"query":"${'a'.repeat(501)}"}`), search('{"query":"a","__proto__":{"query":7},"limit":0}'),
  `[${Array(101).fill('{"jsonrpc":"2.0","id":1,"method":"ping"}').join()}]`, Buffer.from([0x7b, 0xff, 0x7d]), Buffer.alloc(1000),
].map((body) => ({ body, headers: {} }))

const PING = '{"jsonrpc":"2.0","id":"hostile","method":"ping"}'
/** Requests with invalid headers. */
const HEADERS = [
  { 'Content-Type': 'text/plain' }, { Accept: 'text/html' }, { Origin: 'https://evil.example' },
  { Authorization: 'Bearer wrong' }, { Authorization: 'Basic YTpi' }, { Authorization: '' },
  { 'MCP-Protocol-Version': '2099-01-01' }, { 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/list' },
  { 'MCP-Protocol-Version': 'x'.repeat(10_000) },
].map((headers) => ({ body: PING, headers }))

/** All invalid requests: `{ body, headers }`. */
export const HOSTILE = [...BODIES, ...HEADERS]

/** Returns the nth invalid request, with the check of its answer. */
export function hostile(n) {
  const { body, headers } = HOSTILE[n % HOSTILE.length]
  return {
    body,
    headers,
    check: ({ status, body: answer }) => {
      assert.ok(status < 500, `${status}`)
      const [first] = [answer].flat()
      assert.ok(first.error || first.result?.isError, 'the answer is not an error')
      if (first.id !== undefined) assert.ok(['hostile', 1].includes(first.id), 'the answer has the id of another request')
    },
  }
}
