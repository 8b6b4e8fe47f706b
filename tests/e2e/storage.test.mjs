// Tests the storage in workerd, with the tools of tests/client-worker: the tables of tests/statements, and that a tenant never sees the
// passages of another tenant. The header with the tenant reaches the program, and the credentials of the caller do not.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { modern } from './requests.mjs'
import { startWorker } from './worker.mjs'

const TENANTS = Array.from({ length: 50 }, (_, n) => `tenant-${n}`).concat(["' OR 1=1 --", '%', '*', '["tenant-1"]', 'tenant-', 'TENANT-1'])
const DOCUMENTS = ['d0', 'd1', 'd2']
const SEARCHES = ['search-docs', 'related-docs']

let worker
before(async () => {
  worker = await startWorker({ name: 'client-worker', vars: { SERVERS: '{}' } })
})
after(() => worker?.stop())

/** Calls a tool for a tenant. Without a tenant, the server sets no search space. */
const call = async (tenant, name, args) => {
  const headers = tenant === undefined ? {} : { Tenant: tenant }
  const { body } = await modern(worker, 'tools/call', { name, arguments: args }, 1, headers)
  assert.ok(body.result, JSON.stringify(body))
  return body.result
}

test('D1 and Workers KV have the outcomes of the tables', async () => {
  const result = await call(undefined, 'check-storage', {})
  assert.equal(result.content[0].text, '')
})

// R40, R103
test('the store in D1 keeps the contract of stores, with the answers of the store in memory', async () => {
  const result = await call(undefined, 'compare-stores', {})
  assert.deepEqual([result.isError, result.content[0].text], [false, ''])
})

/** Returns the text of a document. All tenants have documents with the same names and words, and one word of their own. */
const textOf = (tenant, version) => `# Shared\n\nThe common secret of number${TENANTS.indexOf(tenant)}, version${version}.\n\n## More\n\nCommon words.`
const save = (tenant, document, version = 0) =>
  call(tenant, 'save', { document, text: textOf(tenant, version), status: 'published', links: DOCUMENTS })

// R88, R89, R90, R109
test('a tenant never sees passages of another tenant, while all tenants search and save', async () => {
  await Promise.all(TENANTS.flatMap((tenant) => DOCUMENTS.map((document) => save(tenant, document))))
  await Promise.all(TENANTS.map((tenant) => call(tenant, 'save', {
    document: 'd2', text: `# Draft\n\nThe common secret draft of number${TENANTS.indexOf(tenant)}.`, status: 'draft', links: DOCUMENTS,
  })))
  const filters = [undefined, {}, { status: { $in: ['draft', 'published'] } }, { $or: [{ status: 'draft' }, { status: { $exists: true } }] }, { $not: { status: 'x' } }]
  await Promise.all(Array.from({ length: 3 }, async (_, round) => {
    for (const [nth, tenant] of TENANTS.entries()) {
      if ((nth + round) % 5 === 0) await save(tenant, DOCUMENTS[round % 2], round)
      const filter = filters[(nth + round) % filters.length]
      const result = await call(tenant, SEARCHES[(nth + round) % 2], { queryText: 'common secret number0 number7 draft', topK: 50, ...(filter && { filter }) })
      assert.equal(result.isError, false, JSON.stringify(result))
      const { sources } = result.structuredContent
      // Two passages of each of the two published documents. A walk that runs during a save can see both versions of a passage.
      assert.ok(sources.length >= 4 && sources.length <= 6, `${tenant}: ${sources.length} passages`)
      const owners = new Set(JSON.stringify(result).match(/number\d+/g))
      assert.deepEqual([...owners], [`number${nth}`], tenant)
      assert.ok(!JSON.stringify(sources).includes('draft'), tenant)
    }
  }))
  const [{ spaces }] = await worker.sql('SELECT count(*) AS spaces FROM rag_spaces WHERE passages > 0')
  assert.equal(spaces, TENANTS.length)
})

test('only the server function chooses the space', async () => {
  for (const name of SEARCHES) {
    const withoutTenant = await call(undefined, name, { queryText: 'common' })
    assert.equal(withoutTenant.isError, true)
    assert.match(withoutTenant.content[0].text, /did not set a search space/)
    assert.equal(withoutTenant.structuredContent, undefined)
    for (const member of ['space', 'index', 'tenant', 'within']) {
      assert.equal((await call('tenant-1', name, { queryText: 'common', [member]: 'tenant-2' })).isError, true, member)
    }
    assert.deepEqual((await call('tenant-unknown', name, { queryText: 'common secret' })).structuredContent.sources, [])
    assert.deepEqual((await call('tenant-1', name, { queryText: 'number2 number3' })).structuredContent.sources, [], 'words of other tenants find nothing')
  }
})

test('a handler does not see the credentials of its caller', async () => {
  const credentials = { Authorization: 'Bearer secret', Cookie: 'session=secret', 'Proxy-Authorization': 'Basic secret', Tenant: 'tenant-1' }
  const { body } = await modern(worker, 'tools/call', { name: 'headers', arguments: {} }, 1, credentials)
  assert.equal(body.result.content[0].text, 'tenant')
})
