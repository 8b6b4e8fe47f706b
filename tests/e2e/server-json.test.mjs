// Tests /server.json, the document for the MCP registry. tests/schema validates such documents with the schema of the registry.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { startWorkerds } from './workerd.mjs'

const OPTIONS = [{ name: 'app' }, { name: 'app', vars: { MCP_RESOURCE: 'https://kb.example.com/mcp' } }, { name: 'everything' }]

let local, resource, everything
before(async () => { [local, resource, everything] = await startWorkerds(OPTIONS) })
after(() => local?.stop())

const request = (worker, init = {}) => fetch(`${worker.origin}/server.json`, init)

const AUTHORIZATION =
  { name: 'Authorization', description: 'The access token: Bearer, a space, and the token', isRequired: true, isSecret: true }
const document = (name, url, version) => ({
  $schema: 'https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json',
  name,
  title: 'Knowledge base',
  description: 'A knowledge base of Markdown documents.',
  version,
  repository: { url: 'https://github.com/edge-mcp/edge-mcp', source: 'github', subfolder: 'app' },
  remotes: [{ type: 'streamable-http', url, headers: [AUTHORIZATION] }],
})

test('on localhost, the document has the URL of the request, and caches do not store it', async () => {
  const answer = await request(local, { headers: { Origin: 'https://anyone.example' } })
  const body = await answer.json()
  assert.match(body.version, /^\d+\.\d+\.\d+$/)
  assert.deepEqual(body, document('localhost/knowledge-base', local.url, body.version))
  assert.deepEqual(['content-type', 'cache-control', 'access-control-allow-origin'].map((name) => answer.headers.get(name)),
    ['application/json', 'no-store', '*'])
  const head = await request(local, { method: 'HEAD' })
  assert.deepEqual([head.status, head.headers.get('content-type'), await head.text()], [200, 'application/json', ''])
  const rejected = await request(local, { method: 'POST', body: '{}' })
  assert.deepEqual([rejected.status, rejected.headers.get('allow')], [405, 'GET, HEAD, OPTIONS'])
})

test('with MCP_RESOURCE, the document has that URL, and caches store it for 300 s', async () => {
  const answer = await request(resource)
  const body = await answer.json()
  assert.deepEqual(body, document('com.example.kb/knowledge-base', 'https://kb.example.com/mcp', body.version))
  assert.equal(answer.headers.get('cache-control'), 'public, max-age=300')
})

test('without authentication, the document lists no headers', async () => {
  const body = await (await request(everything)).json()
  assert.deepEqual(body.remotes, [{ type: 'streamable-http', url: everything.url }])
  assert.deepEqual([body.name, body.repository.subfolder], ['localhost/everything', 'examples/everything'])
  assert.equal(body.icons, undefined, 'the registry does not accept data: URLs')
})
