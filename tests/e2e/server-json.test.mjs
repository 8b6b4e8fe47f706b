// What the MCP registry asks of a server, at /server.json. tests/schema reads such documents by the registry's own schema.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { startWorker } from './worker.mjs'

async function withWorker(options, check) {
  const worker = await startWorker({ migrate: false, ...options })
  try {
    await check(worker, (init = {}) => fetch(`${worker.origin}/server.json`, init))
  } finally {
    await worker.stop()
  }
}

const AUTHORIZATION = { name: 'Authorization', description: 'The access token: Bearer, a space, and the token', isRequired: true, isSecret: true }
const document = (name, url, version) => ({
  $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  name,
  title: 'Knowledge base',
  description: 'Knowledge base',
  version,
  repository: { url: 'https://github.com/edge-mcp/edge-mcp', source: 'github', subfolder: 'app' },
  remotes: [{ type: 'streamable-http', url, headers: [AUTHORIZATION] }],
})

test('on localhost it has the URL that it was asked at, and no cache keeps it', () => withWorker({}, async (worker, read) => {
  const answer = await read({ headers: { Origin: 'https://anyone.example' } })
  const body = await answer.json()
  assert.match(body.version, /^\d+\.\d+\.\d+$/)
  assert.deepEqual(body, document('localhost/knowledge-base', worker.url, body.version))
  assert.deepEqual(['content-type', 'cache-control', 'access-control-allow-origin'].map((name) => answer.headers.get(name)),
    ['application/json', 'no-store', '*'])
  const head = await read({ method: 'HEAD' })
  assert.deepEqual([head.status, head.headers.get('content-type'), await head.text()], [200, 'application/json', ''])
  const refused = await read({ method: 'POST', body: '{}' })
  assert.deepEqual([refused.status, refused.headers.get('allow')], [405, 'GET, HEAD, OPTIONS'])
}))

test('with MCP_RESOURCE it has that URL', () => withWorker({ vars: { MCP_RESOURCE: 'https://kb.example.com/mcp' } }, async (_, read) => {
  const answer = await read()
  const body = await answer.json()
  assert.deepEqual(body, document('com.example.kb/knowledge-base', 'https://kb.example.com/mcp', body.version))
  assert.equal(answer.headers.get('cache-control'), 'public, max-age=300')
}))

test('a Worker that is not set up right has none', () => withWorker({ vars: { MCP_AUTH: 'magic' } }, async (_, read) => {
  const answer = await read()
  assert.equal(answer.status, 503)
  assert.match((await answer.json()).error.message, /MCP_AUTH/)
}))

test('one that asks nobody for a token asks for none here', () => withWorker({ name: 'everything' }, async (worker, read) => {
  const body = await (await read()).json()
  assert.deepEqual(body.remotes, [{ type: 'streamable-http', url: worker.url }])
  assert.deepEqual([body.name, body.repository.subfolder], ['localhost/everything', 'examples/everything'])
  assert.equal(body.icons, undefined, 'a data: URL is not for the registry')
}))
