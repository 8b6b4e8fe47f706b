// Tests the bindings of Vectorize and Workers AI: the real clients of workerd, with a server behind them that enforces the documented limits.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { DIMENSIONS, startCloudflareStub } from './cloudflare-stub.mjs'
import { call } from './requests.mjs'
import { randomToken } from './worker.mjs'
import { startWorkerd, startWorkerds } from './workerd.mjs'

const OPTIONS = { name: 'client-worker', vars: { SERVERS: '{}' }, secrets: { MCP_STATE_KEY: randomToken() } }

let stub, worker, without
before(async () => {
  stub = await startCloudflareStub({ dimensions: 3, indexes: { status: 'string', year: 'number', draft: 'boolean' } })
  ;[worker, without] = await startWorkerds([{ ...OPTIONS, cloudflare: stub }, OPTIONS])
})
after(async () => {
  await worker?.stop()
  stub?.stop()
})

/** Sends a request to a binding. Returns its result, or its error. */
async function use(request, of = worker) {
  const { content: [{ text }], isError } = await call(of, 'call-binding', request)
  return isError ? new Error(text) : text
}
const query = async (more = {}, space = 'a') => {
  const result = await use({ space, query: { vector: [1, 0, 0], most: 10, ...more } })
  return result instanceof Error ? result : JSON.parse(result)
}
const upsert = (vectors, space = 'a') => use({ space, upsert: vectors })
const last = () => stub.requests.at(-1)

describe('Vectorize', () => {
  // R38, R41
  test('queries find the nearest vectors of a space, until they are deleted', async () => {
    assert.equal(await upsert([[1, [0, 1, 0]], [2, [1, 0.5, 0]], [-3, [1, 0.1, 0]]]), 'done')
    assert.equal(await upsert([[4, [1, 0, 0]]], 'b'), 'done')
    assert.deepEqual(await query(), [-3, 2, 1])
    assert.deepEqual(await query({ most: 1 }), [-3])
    assert.deepEqual(await query({}, 'b'), [4])
    assert.deepEqual(await query({}, 'c'), [])
    assert.deepEqual([...stub.vectors.values()].map(({ namespace }) => namespace), ['docs/a', 'docs/a', 'docs/a', 'docs/b'])

    assert.equal(await upsert([[1, [1, 0, 0]]]), 'done')
    assert.deepEqual(await query(), [1, -3, 2], 'an upsert replaces a vector')
    assert.equal(await use({ delete: [1, 2, -3, 4, 5] }), 'done')
    assert.deepEqual(await query(), [])
    assert.equal(stub.vectors.size, 0)
  })

  test('a change is visible later', async () => {
    stub.delay(Infinity)
    await upsert([[1, [1, 0, 0]]])
    assert.deepEqual(await query(), [])
    stub.show()
    assert.deepEqual(await query(), [1])
    await use({ delete: [1] })
    assert.deepEqual(await query(), [1])
    stub.delay(0)
    stub.show()
    assert.deepEqual(await query(), [])
  })

  // R105
  test('requests stay within the limits of the platform', async () => {
    const ids = Array.from({ length: 500 }, (_, n) => n)
    const vectors = ids.map((id) => [id, [1, 0, id / 1000]])
    assert.equal(await upsert(vectors), 'done')
    assert.equal((await query({ most: 1000 })).length, 100)
    assert.equal(last().body.topK, 100)
    const before = stub.requests.length
    assert.equal(await use({ delete: ids }), 'done')
    assert.deepEqual(stub.requests.slice(before).map(({ body }) => body.ids.length), [100, 100, 100, 100, 100])
    assert.equal(stub.vectors.size, 0)

    const { message } = await upsert([...vectors, [500, [1, 0, 0]]])
    assert.equal(message, 'the index `VECTORS` failed (a call has 501 vectors, and must have at most 500)')
    assert.equal(stub.vectors.size, 0)

    const name = 'ü'.repeat(100)
    assert.equal(await upsert([[1, [1, 0, 0]]], name), 'done')
    assert.deepEqual(await query({}, name), [1])
    assert.match(last().body.namespace, /^[0-9a-f]{40}$/)
    await use({ delete: [1] })
  })

  test('an error names the binding and has the message of the platform', async () => {
    const failed = (reason) => `the index \`VECTORS\` failed (${reason})`
    const refused = await query({ vector: [1, 2] })
    assert.equal(refused.message, failed('VECTOR_QUERY_ERROR (code = 40012): expected 3 dimensions, and got 2 dimensions'))
    for (const [path, request, reason] of [
      ['/query', { query: { vector: [1, 0, 0], most: 1 } }, 'VECTOR_QUERY_ERROR: Status + 500'],
      ['/upsert', { upsert: [[1, [1, 0, 0]]] }, 'VECTOR_UPSERT_ERROR: Status + 500'],
      ['/deleteByIds', { delete: [1] }, 'VECTOR_DELETE_ERROR: Status + 500'],
    ]) {
      stub.fail(path, { status: 500, body: 'no JSON' })
      assert.equal((await use(request)).message, failed(reason))
    }
    stub.fail('/query', { status: 200, body: '{"matches":[{"id":"1"},{"id":"a"}]}' })
    assert.equal((await query()).message, failed('it has a vector whose id is not the number of a passage: use an index without other vectors'))
    stub.fail('/query', { status: 200, body: '{}' })
    assert.match((await query()).message, /^the index `VECTORS` failed \(/)
  })
})

describe('Workers AI', () => {
  const run = (model, inputs) => use({ run: { model, inputs: JSON.stringify(inputs) } })

  // R38
  test('a model gets its inputs, and its answer is JSON', async () => {
    const texts = ['brew tea', 'Grüße 🫖']
    const { shape, data } = JSON.parse(await run('@cf/baai/bge-m3', { text: texts }))
    assert.deepEqual(shape, [2, DIMENSIONS])
    assert.deepEqual(data.map((vector) => vector.length), [DIMENSIONS, DIMENSIONS])
    assert.deepEqual([last().model, last().body.inputs], ['@cf/baai/bge-m3', { text: texts }])

    const contexts = [{ text: 'coffee' }, { text: 'how to brew tea' }]
    const { response } = JSON.parse(await run('@cf/baai/bge-reranker-base', { query: 'brew tea', contexts }))
    assert.deepEqual(response, [{ id: 1, score: 1 }, { id: 0, score: 0 }])
    assert.equal(JSON.parse(await run('@cf/meta/llama-3.1-8b-instruct', { messages: [] })).response, 'A fixed answer.')
  })

  test('a failure has the message of the platform, which begins with its code', async () => {
    assert.equal((await run('unknown', {})).message, '5007: No such model unknown or task')
    stub.fail('/run', { status: 429, body: JSON.stringify({ name: 'AiError', internalCode: 3040, description: 'No more capacity' }) })
    assert.equal((await run('@cf/baai/bge-m3', { text: 'a' })).message, '3040: No more capacity')
    stub.fail('/run', { status: 502, body: 'Bad gateway' })
    assert.equal((await run('@cf/baai/bge-m3', { text: 'a' })).message, 'Bad gateway')
  })
})

test('the error for a missing binding says what to add to wrangler.toml', async () => {
  const vectors = await use({ query: { vector: [1], most: 1 } }, without)
  assert.equal(vectors.message, 'VECTORS is not a binding of [[vectorize]] in wrangler.toml: add this section with `binding` and `index_name`')
  const ai = await use({ run: { model: 'm', inputs: '{}' } }, without)
  assert.equal(ai.message, 'AI is not a binding of [ai] in wrangler.toml: add this section with `binding`')
})

// R38: a test double in another Worker. The result of a call is a thenable, and not a promise.
test('a service binding with the same methods has the same results', async () => {
  const source = `import { WorkerEntrypoint } from 'cloudflare:workers'
    const vectors = []
    export default class extends WorkerEntrypoint {
      upsert(all) { vectors.push(...all) }
      deleteByIds(ids) { if (ids[0] === '9') throw new Error('no vector 9') }
      query(vector, options) {
        return { matches: vectors.filter(({ values }) => values[1] === vector[1]).concat({ id: String(options.topK) }) }
      }
      run(model, inputs) { return { model, inputs } }
    }`
  const own = await startWorkerd({ ...OPTIONS, services: { VECTORS: source, AI: source } })
  try {
    assert.equal(await use({ upsert: [[7, [0, 0.5]], [8, [0, 1]]] }, own), 'done')
    assert.equal(await use({ query: { vector: [0, 0.5], most: 3 } }, own), '[7,3]')
    assert.equal((await use({ delete: [9] }, own)).message, 'the index `VECTORS` failed (no vector 9)')
    assert.equal(await use({ run: { model: 'm', inputs: '{"a":[1]}' } }, own), '{"model":"m","inputs":{"a":[1]}}')
  } finally {
    await own.stop()
  }
})

test('a Worker has a database beside these bindings', async () => {
  const own = await startWorkerd({ ...OPTIONS, database: true, cloudflare: stub })
  try {
    const headers = { Tenant: 'acme' }
    const save = { document: 'tea', text: '# Tea\n\nWarm the pot.', status: 'published', links: [] }
    assert.ok(!(await call(own, 'save', save, headers)).isError)
    const { structuredContent } = await call(own, 'search-docs', { queryText: 'pot' }, headers)
    assert.deepEqual(structuredContent.sources.map(({ document }) => document), ['Warm the pot.'])
    const [{ passages }] = await own.sql('SELECT count(*) AS passages FROM rag_chunks')
    assert.equal(passages, 1)
  } finally {
    await own.stop()
  }
})
