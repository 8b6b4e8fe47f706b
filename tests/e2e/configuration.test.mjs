// Tests Workers with a wrong configuration. The response names the problem and contains no secret.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { call, modern, post } from './requests.mjs'
import { startWorker } from './worker.mjs'
import { startWorkerds } from './workerd.mjs'

async function withWorker(options, check) {
  const worker = await startWorker(options)
  try {
    await check(worker)
  } finally {
    await worker.stop()
  }
}

const MISTAKES = [
  ['no tokens', { secrets: { MCP_STATIC_TOKENS: undefined } }, 'MCP_STATIC_TOKENS'],
  ['tokens that are not a list', { secrets: { MCP_STATIC_TOKENS: 's3cret' } }, 'MCP_STATIC_TOKENS'],
  ['an empty list of tokens', { secrets: { MCP_STATIC_TOKENS: '[]' } }, 'MCP_STATIC_TOKENS'],
  ['a setting that requires sessions', { vars: { MCP_SERVERLESS: 'false' } }, 'MCP_SERVERLESS'],
  ['an unknown authentication method', { vars: { MCP_AUTH: 'magic' } }, 'MCP_AUTH'],
  ['a page setting other than on and off', { vars: { MCP_PAGE: 'false' } }, 'MCP_PAGE'],
  ['no authentication method', { vars: { MCP_AUTH: undefined } }, 'MCP_AUTH'],
  // Variables in wrangler.toml can have other types than string. Such a variable must be an error, not an unset variable.
  ['a boolean', { vars: { MCP_SERVERLESS: false } }, 'MCP_SERVERLESS'],
  ['a list', { vars: { MCP_ALLOWED_ORIGINS: ['app.example.com'] } }, 'MCP_ALLOWED_ORIGINS'],
  ['a model without a URL', { vars: { LIBRARIAN_MODEL: 'small' } }, 'LIBRARIAN_MODEL_URL'],
  ['an embedding model without a URL', { vars: { KB_EMBEDDING_MODEL: 'small' } }, 'KB_EMBEDDING_URL'],
  ['Workers AI without its binding', { vars: { KB_EMBEDDING: 'workers-ai' } }, 'AI is not a binding of \\[ai\\] in wrangler.toml'],
  ['Vectorize without its binding',
    { vars: { KB_EMBEDDING_URL: 'https://models.example.com/v1', KB_EMBEDDING_MODEL: 'small', KB_VECTORS: 'vectorize' } },
    'VECTORS is not a binding of \\[\\[vectorize\\]\\] in wrangler.toml'],
  ['a model URL without TLS', { vars: { LIBRARIAN_MODEL: 'small', LIBRARIAN_MODEL_URL: 'http://models.example.com/v1' } }, 'LIBRARIAN_MODEL_URL'],
]

test('with MCP_PAGE=off, the root URL answers 404', async (t) => {
  const [off, on] = await startWorkerds([{ name: 'app', vars: { MCP_PAGE: 'off' } }, { name: 'app' }])
  t.after(off.stop)
  const statusOf = async ({ origin }) => (await fetch(origin, { headers: { Accept: 'text/html' } })).status
  assert.deepEqual([await statusOf(off), await statusOf(on)], [404, 200])
})

describe('with a mistake in its configuration, the server answers 503 and names the variable:', () => {
  let workers
  before(async () => { workers = await startWorkerds(MISTAKES.map(([, options]) => ({ name: 'app', ...options }))) })
  after(() => workers?.[0].stop())

  for (const [n, [problem, , variable]] of MISTAKES.entries()) {
    test(`${problem}: ${variable}`, async () => {
      const worker = workers[n]
      const { status, body } = await post(worker, { jsonrpc: '2.0', id: 1, method: 'ping' }, { Authorization: 'Bearer s3cret' })
      assert.equal(status, 503)
      assert.match(body.error.message, new RegExp(variable))
      assert.ok(!JSON.stringify(body).includes('s3cret') && !worker.logs().includes('s3cret'))
      assert.equal((await fetch(worker.url)).status, 405)
      const document = await fetch(`${worker.origin}/server.json`)
      assert.equal(document.status, 503)
      assert.match((await document.json()).error.message, new RegExp(variable))
    })
  }
})

test('without tables, a tool result names the command to run, and the log has the cause', () => withWorker({ migrate: false }, async (worker) => {
  for (const [tool, args] of [
    ['search-documents', { query: 'x' }], ['read-document', { slug: 'x' }], ['save-document', { slug: 'x', title: 'x', text: 'x' }],
  ]) {
    const { isError, content: [{ text }] } = await call(worker, tool, args)
    assert.ok(isError && text.includes('migrations apply') && !text.includes('no such table'), text)
  }
  await worker.logged(/"event":"failure","subject":"read-document","cause":".*no such table/)
  const { body: { error } } = await modern(worker, 'resources/list')
  assert.deepEqual([error.code, error.message.includes('no such table')], [-32603, false])
  assert.equal((await modern(worker, 'tools/list')).body.result.tools.length, 11, 'requests that need no table are served')
}))

test('examples/weather serves its tool', () => withWorker({ name: 'weather' }, async (worker) => {
  assert.deepEqual((await call(worker, 'get-weather', { location: 'Paris' })).structuredContent, { celsius: 21.5 })
  assert.equal((await call(worker, 'get-weather', { location: 'Rome' })).isError, true)
}))
