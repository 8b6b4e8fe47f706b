// Tests in workerd how documents of earlier versions get passages.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { call } from './requests.mjs'
import { startWorker } from './worker.mjs'

const DOCUMENTS = 45

let worker
before(async () => {
  worker = await startWorker()
  // The statement of earlier versions.
  const values = Array.from({ length: DOCUMENTS }, (_, n) => `('old-${n}', 'Old ${n}', '# Old ${n}\n\nA zeppelin.\n\n## Part\n\nNumber${n}.')`)
  await worker.sql(`INSERT INTO documents (slug, title, text) VALUES ${values.join(', ')}`)
})
after(() => worker?.stop())

const search = async (query, limit = 50) => {
  const result = await call(worker, 'search-documents', { query, limit })
  assert.equal(result.isError, false, JSON.stringify(result))
  return result.structuredContent.documents
}
const count = async (table) => (await worker.sql(`SELECT count(*) AS rows FROM ${table}`))[0].rows

// R22
test('a filter finds documents of earlier versions that match the question less than others', async () => {
  const values = Array.from({ length: 120 }, (_, n) => `('many-${n}', 'Many', '${n === 7 ? `A dirigible. ${'Other words. '.repeat(200)}` : 'dirigible dirigible'}')`)
  await worker.sql(`INSERT INTO documents (slug, title, text) VALUES ${values.join(', ')}`)
  const { sources } = (await call(worker, 'search-passages', { queryText: 'dirigible', topK: 1, filter: { slug: 'many-7' } })).structuredContent
  assert.deepEqual(sources.map(({ uri }) => uri), ['kb://documents/many-7'])
  await worker.sql("DELETE FROM documents WHERE slug LIKE 'many-%'")
})

// R64, R67
test('documents of earlier versions are found before and after they have passages', async () => {
  assert.equal((await search('zeppelin')).length, DOCUMENTS)
  for (const tool of ['search-passages', 'related-passages']) {
    const { sources } = (await call(worker, tool, { queryText: 'zeppelins', topK: 50 })).structuredContent
    assert.equal(new Set(sources.map(({ uri }) => uri)).size, DOCUMENTS, tool)
    assert.match(sources[0].document, /A zeppelin\./)
    const filtered = await call(worker, tool, { queryText: 'zeppelins', filter: { slug: 'old-7' } })
    assert.deepEqual(filtered.structuredContent.sources.map(({ uri }) => uri), ['kb://documents/old-7'], `${tool}: filters apply`)
  }
  // A document that is saved again leaves the index of whole documents.
  await call(worker, 'save-document', { slug: 'old-0', title: 'Old 0', text: 'A new zeppelin.' })
  const mixed = await search('zeppelin')
  assert.equal(mixed.length, DOCUMENTS)
  assert.equal(mixed.filter(({ slug }) => slug === 'old-0').length, 1, 'each document is found once')

  // R64: several clients at once, while another client saves one of the documents.
  const [saved, ...calls] = await Promise.all([
    call(worker, 'save-document', { slug: 'old-44', title: 'Old 44', text: 'A changed zeppelin.' }),
    ...Array.from({ length: 3 }, () => call(worker, 'run_reindex', {})),
  ])
  for (const result of [saved, ...calls]) assert.equal(result.isError, false, JSON.stringify(result))
  const reindexed = calls.reduce((sum, { structuredContent }) => sum + structuredContent.documents, 0)
  assert.ok(reindexed === DOCUMENTS - 1 || reindexed === DOCUMENTS - 2, `each document is completed by one client: ${reindexed}`)
  const last = await call(worker, 'run_reindex', {})
  assert.deepEqual(last.structuredContent, { documents: 0, remaining: 0 })

  assert.equal((await search('zeppelin')).length, DOCUMENTS)
  assert.deepEqual((await search('number17')).map(({ slug }) => slug), ['old-17'])
  assert.deepEqual(await search('number44'), [], 'the passages are those of the last text')
  assert.equal(await count('documents_index_docsize'), 0, 'the index of whole documents is empty')
  assert.equal(await count('rag_chunks'), DOCUMENTS * 2 - 2)
})

test('a changed section changes one passage', async () => {
  const text = (word) => `# Tea\n\nWarm the pot.\n\n## Steeping\n\n${word} minutes.\n\n## Pots\n\nIron.`
  const ids = async () => Object.fromEntries(
    (await worker.sql("SELECT id, heading FROM rag_chunks WHERE document = (SELECT id FROM rag_documents WHERE name = 'tea') ORDER BY ordinal")).map(({ id, heading }) => [heading, id]))
  await call(worker, 'save-document', { slug: 'tea', title: 'Tea', text: text('Three') })
  const before = await ids()
  await call(worker, 'save-document', { slug: 'tea', title: 'Tea', text: text('Four') })
  const after = await ids()
  assert.deepEqual(Object.keys(after), ['Tea', 'Tea > Steeping', 'Tea > Pots'])
  assert.ok(after['Tea > Steeping'] > before['Tea > Steeping'], 'R26: a new passage has a new id')
  assert.deepEqual({ ...after, 'Tea > Steeping': 0 }, { ...before, 'Tea > Steeping': 0 })
})

test('a failure while passages are stored changes nothing', async () => {
  await call(worker, 'save-document', { slug: 'kept', title: 'Kept', text: 'The kept zebra.' })
  await worker.sql("CREATE TRIGGER refused BEFORE INSERT ON rag_chunks WHEN new.text LIKE '%refused%' BEGIN SELECT RAISE(ABORT, 'no'); END")
  const failed = await call(worker, 'run_ingest', { documents: [
    { slug: 'kept', title: 'Kept', text: 'A giraffe.' }, { slug: 'other', title: 'Other', text: 'It is refused.' },
  ] })
  assert.ok(failed.isError && failed.content[0].text.includes('Try again later'), JSON.stringify(failed))
  await worker.sql('DROP TRIGGER refused')
  assert.equal((await call(worker, 'read-document', { slug: 'kept' })).content[0].text, 'The kept zebra.')
  assert.deepEqual((await search('zebra')).map(({ slug }) => slug), ['kept'])
  assert.deepEqual(await search('giraffe'), [])
})

// R66
test('a deleted document leaves no passage and no link', async () => {
  await call(worker, 'save-document', { slug: 'target', title: 'Target', text: 'Text.' })
  await call(worker, 'save-document', { slug: 'source', title: 'Source', text: 'A unicorn. See [the target](target.md).' })
  assert.equal(await count("rag_links JOIN rag_documents ON id = document WHERE name = 'source' AND target = 'target'"), 1)
  for (const existed of [true, false]) {
    assert.deepEqual((await call(worker, 'delete-document', { slug: 'source' })).structuredContent, { existed })
  }
  assert.deepEqual(await search('unicorn'), [])
  for (const table of ['rag_chunks', 'rag_links']) assert.equal(await count(`${table} WHERE document NOT IN (SELECT id FROM rag_documents WHERE name <> 'source')`), 0)
})
