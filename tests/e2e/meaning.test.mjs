// Tests the search by meaning in workerd: with models at an HTTP endpoint, with Workers AI and Vectorize, and for many tenants at once.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { startCloudflareStub } from './cloudflare-stub.mjs'
import { startEmbeddingsServer } from './embeddings-server.mjs'
import { call, modern } from './requests.mjs'
import { randomToken } from './worker.mjs'
import { startWorkerds } from './workerd.mjs'

const TENANTS = Array.from({ length: 20 }, (_, n) => `tenant-${n}`)
const KEY = 'key-of-the-model'
const SEARCHES = ['search-docs', 'related-docs']

let server, stub, http, other, reranked, cloudflare, tenants
before(async () => {
  server = await startEmbeddingsServer()
  stub = await startCloudflareStub()
  const vars = { KB_EMBEDDING_URL: server.url, KB_EMBEDDING_MODEL: 'small' }
  ;[http, other, reranked, cloudflare, tenants] = await startWorkerds([
    { name: 'app', database: true, objects: 'disk', vars, secrets: { KB_EMBEDDING_API_KEY: KEY } },
    { name: 'app', database: true, objects: 'disk', vars: { ...vars, KB_EMBEDDING_MODEL: 'large' } },
    { name: 'app', database: true, objects: 'disk', vars: { ...vars, KB_RERANKER_URL: server.url, KB_RERANKER_MODEL: 'sorter' } },
    {
      name: 'app', database: true, objects: 'disk', cloudflare: stub,
      vars: { KB_EMBEDDING: 'workers-ai', KB_RERANKER: 'workers-ai', KB_VECTORS: 'vectorize' },
    },
    { name: 'client-worker', database: true, vars: { SERVERS: '{}' }, secrets: { MCP_STATE_KEY: randomToken() } },
  ])
})
after(async () => {
  await http?.stop()
  server?.stop()
  stub?.stop()
})

async function result(worker, tool, args) {
  const { isError, content, structuredContent } = await call(worker, tool, args)
  assert.equal(isError, false, content[0].text)
  return structuredContent
}
const save = (worker, slug, text) => result(worker, 'save-document', { slug, title: slug, text })
const search = async (worker, queryText, tool = 'search-passages') => {
  const { retrieval, note, sources } = await result(worker, tool, { queryText, topK: 5 })
  return { retrieval, note, slugs: sources.map(({ metadata: { slug } }) => slug) }
}
const reindex = (worker) => result(worker, 'run_reindex', {})

const TEA = 'Teapots keep infusions warm.'
/** A question that has no word of [`TEA`], and most of its pairs of letters. */
const PARAPHRASE = 'tea pot infusing warmth'
const DOCUMENTS = { tea: TEA, harbour: 'Ships anchor in the bay.', zoo: 'Zebras gallop.' }

describe('with a model at an HTTP endpoint', () => {
  before(async () => {
    for (const [slug, text] of Object.entries(DOCUMENTS)) {
      assert.deepEqual(await save(http, slug, text), { slug, uri: `kb://documents/${slug}`, pending: 0 })
    }
  })

  // R97, R105
  test('all tools find a paraphrase', async () => {
    assert.partialDeepStrictEqual(await search(http, PARAPHRASE), { retrieval: 'hybrid', note: undefined })
    assert.equal((await search(http, PARAPHRASE)).slugs[0], 'tea')
    assert.equal((await search(http, PARAPHRASE, 'related-passages')).slugs[0], 'tea')
    assert.equal((await result(http, 'search-documents', { query: PARAPHRASE, limit: 1 })).documents[0].slug, 'tea')
    const { path, authorization, body } = server.requests.at(-1)
    assert.deepEqual([path, authorization, body.model, body.input], ['/v1/embeddings', `Bearer ${KEY}`, 'small', [PARAPHRASE]])
  })

  // R111
  test('while the model fails, documents are saved and found by their words, until run_reindex makes the vectors', async () => {
    for (const [n, [what, answer]] of Object.entries({
      'a status': () => 400,
      'a wrong number of dimensions': ({ data, ...rest }) => ({ ...rest, data: data.map((one) => ({ ...one, embedding: [1, 2, 3] })) }),
      'a vector with nulls': ({ data, ...rest }) => ({ ...rest, data: data.map((one) => ({ ...one, embedding: [null, 1] })) }),
    }).entries()) {
      const slug = `outage-${n}`
      server.answersWith(answer)
      const saved = await save(http, slug, `Confidential lighthouse number${n}.`)
      assert.equal(saved.pending > 0 || /another embedding model/.test(saved.note), true, `${what}: ${JSON.stringify(saved)}`)
      assert.ok(saved.note, what)
      const found = await search(http, `lighthouse number${n}`)
      assert.deepEqual([found.retrieval, found.slugs[0]], ['lexical', slug], what)
      assert.match(found.note, /^The passages were found by their words alone/, what)
      await http.logged(/"event":"rag"/)
      server.answersWith()
      assert.deepEqual(await reindex(http), { embedded: 1, pending: 0 }, what)
      assert.equal((await search(http, `light house numbers${n}`)).retrieval, 'hybrid', what)
    }
    const logs = http.logs()
    assert.deepEqual([KEY, 'lighthouse', 'is ill', PARAPHRASE].filter((text) => logs.includes(text)), [])
  })
})

// R44
test('the vectors of another model are not used, until run_reindex replaces them', async () => {
  await save(other, 'tea', TEA)
  // The index has vectors of another model, as after a change of the variable.
  await other.sql("UPDATE rag_models SET model = 'older'")
  const before = await search(other, 'infusions')
  assert.deepEqual([before.retrieval, before.slugs], ['lexical', ['tea']])
  assert.match(before.note, /another embedding model/)
  assert.match((await save(other, 'zoo', 'Zebras gallop.')).note, /another embedding model/)
  assert.deepEqual(await reindex(other), { embedded: 2, pending: 0 })
  assert.partialDeepStrictEqual(await search(other, PARAPHRASE), { retrieval: 'hybrid', note: undefined })
  assert.deepEqual(await other.sql('SELECT model, dimensions FROM rag_models'), [{ model: 'large', dimensions: 256 }])
})

test('a reranker changes the order, and its failure does not', async () => {
  const documents = ['tea pot tea pot', 'a pot of something else'].map((text, n) => ({ slug: `d${n}`, title: 'T', text }))
  assert.equal((await result(reranked, 'run_ingest', { documents })).pending, 0)
  assert.deepEqual((await search(reranked, 'tea pot')).slugs, ['d1', 'd0'])
  assert.equal(server.requests.at(-1).path, '/v1/rerank')
  server.answersWith((answer) => (answer.results ? 400 : answer))
  const failed = await search(reranked, 'tea pot')
  server.answersWith()
  assert.deepEqual([failed.retrieval, failed.slugs], ['hybrid', ['d0', 'd1']])
  assert.match(failed.note, /reranker/)
})

// R105, R111
describe('with Workers AI and Vectorize', () => {
  test('passages are found by their meaning, and by their words until their vectors are visible', async () => {
    stub.delay(Infinity)
    assert.equal((await save(cloudflare, 'tea', TEA)).pending, 0)
    assert.equal(stub.vectors.size, 0)
    assert.deepEqual((await search(cloudflare, 'infusions')).slugs, ['tea'])
    stub.delay(0)
    stub.show()
    await save(cloudflare, 'zoo', 'Zebras gallop.')
    const found = await search(cloudflare, PARAPHRASE)
    assert.deepEqual([found.retrieval, found.slugs[0]], ['hybrid', 'tea'])
    assert.deepEqual([...stub.vectors.values()].map(({ namespace }) => namespace), ['documents/', 'documents/'])
    assert.ok(stub.requests.some(({ model }) => model === '@cf/baai/bge-reranker-base'))
  })

  test('a deleted document is not found, and its vectors are deleted from the index', async () => {
    assert.deepEqual(await result(cloudflare, 'delete-document', { slug: 'zoo' }), { existed: true })
    assert.equal(stub.vectors.size, 2, 'the index still has the vector')
    assert.deepEqual((await search(cloudflare, 'zebra gallops')).slugs, ['tea'])
    assert.equal(stub.vectors.size, 1)
  })

  test('while the index or the model fails, passages are found by their words', async () => {
    for (const [path, answer] of [
      ['/query', { status: 500, body: 'no JSON' }],
      ['/run', { status: 400, body: JSON.stringify({ name: 'AiError', internalCode: 5007, description: 'gone' }) }],
    ]) {
      stub.fail(path, answer)
      const found = await search(cloudflare, 'infusions')
      assert.deepEqual([found.retrieval, found.slugs], ['lexical', ['tea']], path)
      assert.match(found.note, /^The passages were found by their words alone/, path)
    }
    stub.fail('/upsert', { status: 500, body: 'no JSON' })
    const saved = await save(cloudflare, 'harbour', DOCUMENTS.harbour)
    assert.deepEqual([saved.pending, Boolean(saved.note)], [1, true])
    assert.deepEqual(await reindex(cloudflare), { embedded: 1, pending: 0 })
    assert.equal((await search(cloudflare, 'shipping anchored bays')).slugs[0], 'harbour')
    await cloudflare.logged(/VECTOR_UPSERT_ERROR/)
  })
})

// R109
test('a tenant never sees passages of another tenant, while all tenants save and search by meaning', async () => {
  const use = async (tenant, name, args) => {
    const headers = { Tenant: tenant, Meaning: 'yes' }
    const { body } = await modern(tenants, 'tools/call', { name, arguments: args }, 1, headers)
    assert.equal(body.result?.isError, false, JSON.stringify(body))
    return body.result.structuredContent
  }
  const put = (tenant, document, version) => use(tenant, 'save', {
    document, text: `# Shared\n\nThe common secret of ${tenant}, version${version}.`, status: 'published', links: [],
  })
  await Promise.all(TENANTS.flatMap((tenant) => ['d0', 'd1'].map((document) => put(tenant, document, 0))))
  let found = 0
  const ask = async (tenant, name) => {
    const { sources, retrieval } = await use(tenant, name, { queryText: 'the commonest secrets of tenants', topK: 50 })
    assert.ok(name !== SEARCHES[0] || retrieval === 'hybrid', retrieval)
    assert.equal(sources.length, 2, tenant)
    for (const { document } of sources) assert.ok(document.includes(`secret of ${tenant},`), `${tenant}: ${document}`)
    found += sources.length
  }
  for (let round = 1; round <= 2; round++) {
    await Promise.all(TENANTS.flatMap((tenant, n) => [
      ask(tenant, SEARCHES[(n + round) % 2]), ...(n % 5 === round ? [put(tenant, 'd1', round)] : []),
    ]))
  }
  assert.equal(found, 80)
})
