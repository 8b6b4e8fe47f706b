// Measures how well search-passages finds the section that answers a question: the fixed corpus and the questions of tests/rag/, in workerd.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { after, before, test } from 'node:test'

import { markdownFiles, slugOf, titleOf } from '../../scripts/lib/documents.mjs'
import { call } from './requests.mjs'
import { ROOT, startWorker } from './worker.mjs'

const CORPUS = join(ROOT, 'tests/rag/corpus')
/** The passages of an answer that count. */
const DEPTH = 10

let worker
/** The name of each document's file, by the slug of the document. */
const files = new Map()
before(async () => {
  worker = await startWorker()
  const documents = []
  for (const path of await markdownFiles(CORPUS)) {
    const text = await readFile(join(CORPUS, path), 'utf8')
    files.set(slugOf(path), basename(path))
    documents.push({ slug: slugOf(path), title: titleOf(text, path), text })
  }
  assert.equal((await call(worker, 'run_ingest', { documents })).isError, false)
})
after(() => worker?.stop())

const questions = async () => (await readFile(join(ROOT, 'tests/rag/questions.tsv'), 'utf8')).trim().split('\n').map((line) => {
  const [kind, question, gold] = line.split('\t')
  return { kind, question, gold: gold.split('|') }
})

/** Returns the section of a passage, as `FILE#HEADING`. */
const section = (slug, heading) => `${files.get(slug)}#${heading.split(' > ').at(-1)}`

/** Returns the positions of the gold sections among the passages, from 1. Each section counts once. */
function positions(gold, sources) {
  const sections = sources.map(({ metadata, heading }) => section(metadata.slug, heading))
  return gold.map((name) => sections.indexOf(name) + 1).filter((position) => position > 0).sort((a, b) => a - b)
}

const gain = (position) => 1 / Math.log2(position + 1)

function measure(rows) {
  const mean = (value) => rows.reduce((sum, row) => sum + value(row), 0) / rows.length
  return {
    'hit@1': mean(({ found: [first] }) => Number(first === 1)),
    'hit@5': mean(({ found: [first] }) => Number(first <= 5)),
    MRR: mean(({ found: [first] }) => (first ? 1 / first : 0)),
    'nDCG@10': mean(({ gold, found }) => found.reduce((sum, position) => sum + gain(position), 0) /
      gold.slice(0, DEPTH).reduce((sum, _, nth) => sum + gain(nth + 1), 0)),
  }
}

const show = (measured) => Object.entries(measured).map(([name, value]) => `${name} ${value.toFixed(3)}`).join(', ')

// R99. The constants of the ranking were chosen with the odd rows.
test('search-passages finds the sections that answer the questions', async (t) => {
  const rows = await questions()
  assert.equal(rows.length, 70)
  const stored = new Set((await worker.sql('SELECT DISTINCT name AS document, heading FROM rag_chunks JOIN rag_documents ON rag_documents.id = document')).map(({ document, heading }) => section(document, heading)))
  for (const row of rows) {
    for (const name of row.gold) assert.ok(stored.has(name), `the corpus has no section ${name}`)
    const result = await call(worker, 'search-passages', { queryText: row.question, topK: DEPTH })
    assert.equal(result.isError, false, JSON.stringify(result))
    assert.equal(result.structuredContent.retrieval, 'lexical')
    row.found = positions(row.gold, result.structuredContent.sources)
  }
  const all = measure(rows)
  t.diagnostic(`all rows: ${show(all)}`)
  t.diagnostic(`odd rows: ${show(measure(rows.filter((_, nth) => nth % 2 === 0)))}`)
  t.diagnostic(`even rows: ${show(measure(rows.filter((_, nth) => nth % 2 === 1)))}`)
  for (const kind of new Set(rows.map(({ kind }) => kind))) {
    const some = rows.filter((row) => row.kind === kind)
    t.diagnostic(`kind ${kind} (${some.length}): ${show(measure(some))}`)
  }
  t.diagnostic(`not in the first five: ${rows.flatMap(({ found: [first] }, nth) => (first <= 5 ? [] : [nth + 1])).join(', ')}`)
  assert.ok(all['hit@5'] >= 0.78, `hit@5 ${all['hit@5']}`)
  assert.ok(all.MRR >= 0.62, `MRR ${all.MRR}`)
})
