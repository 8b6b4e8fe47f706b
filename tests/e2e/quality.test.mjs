// Measures how well search-passages and related-passages find the sections that answer a question: the fixed corpus and the questions of
// tests/rag/, in workerd.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { DEPTH, measure, measureRelations, readCorpus, readQuestions, sectionOf } from '../rag/quality.mjs'
import { call } from './requests.mjs'
import { startApp } from './workerd.mjs'

let worker
let files
/** The sections that are stored, as `FILE#HEADING`. */
let stored
before(async () => {
  worker = await startApp()
  const corpus = await readCorpus()
  files = corpus.files
  assert.equal((await call(worker, 'run_ingest', { documents: corpus.documents })).isError, false)
  const passages = await worker.sql('SELECT DISTINCT name AS document, heading FROM rag_chunks JOIN rag_documents ON rag_documents.id = document')
  stored = new Set(passages.map(({ document, heading }) => sectionOf(files, document, heading)))
})
after(() => worker?.stop())

/** Returns the sections of the passages that a tool finds. */
async function search(tool, retrieval, { question, groups }) {
  for (const name of groups.flat()) assert.ok(stored.has(name), `the corpus has no section ${name}`)
  const result = await call(worker, tool, { queryText: question, topK: DEPTH })
  assert.equal(result.isError, false, JSON.stringify(result))
  assert.equal(result.structuredContent.retrieval, retrieval)
  return result.structuredContent.sources.map(({ metadata, heading }) => sectionOf(files, metadata.slug, heading))
}

async function searchAll(questions, tool = 'search-passages', retrieval = 'lexical') {
  const results = []
  for (const question of questions) results.push(await search(tool, retrieval, question))
  return results
}

const relatedAll = (questions) => searchAll(questions, 'related-passages', 'graph')

const show = (measured) => Object.entries(measured).map(([name, value]) => `${name} ${value.toFixed(3)}`).join(', ')

// R99. The constants of the ranking were chosen with the odd rows.
test('search-passages finds the sections that answer the questions', async (t) => {
  const questions = await readQuestions('questions.tsv')
  assert.equal(questions.length, 70)
  const results = await searchAll(questions)
  const some = (is) => measure(questions.filter(is), results.filter((_, nth) => is(questions[nth], nth)))
  const all = measure(questions, results)
  t.diagnostic(`all rows: ${show(all)}`)
  t.diagnostic(`odd rows: ${show(some((_, nth) => nth % 2 === 0))}`)
  t.diagnostic(`even rows: ${show(some((_, nth) => nth % 2 === 1))}`)
  for (const kind of new Set(questions.map(({ kind }) => kind))) {
    const isOfKind = (question) => question.kind === kind
    t.diagnostic(`kind ${kind} (${questions.filter(isOfKind).length}): ${show(some(isOfKind))}`)
  }
  const hit = (question, nth) => measure([question], [results[nth]])['hit@5']
  t.diagnostic(`not in the first five: ${questions.flatMap((question, nth) => (hit(question, nth) ? [] : [nth + 1])).join(', ')}`)
  assert.ok(all['hit@5'] >= 0.78, `hit@5 ${all['hit@5']}`)
  assert.ok(all.MRR >= 0.62, `MRR ${all.MRR}`)
})

// R99. These questions need sections of two documents, so a search by words finds both for about half of them.
test('search-passages finds the sections of two documents that answer a question about a relation', async (t) => {
  const questions = await readQuestions('relations.tsv')
  assert.equal(questions.length, 20)
  const all = measureRelations(questions, await searchAll(questions))
  t.diagnostic(`all rows: ${show(all)}`)
  assert.ok(all['all@5'] >= 0.35, `all@5 ${all['all@5']}`)
  assert.ok(all['all@10'] >= 0.45, `all@10 ${all['all@10']}`)
})

// R99. The differences on questions about relations are one of 20 questions, so connections must only not be worse.
test('related-passages is not worse than search-passages', async (t) => {
  for (const [file, measureOf, names] of [
    ['questions.tsv', measure, ['hit@1', 'hit@5']],
    ['relations.tsv', measureRelations, ['one@1', 'all@5', 'all@10']],
  ]) {
    const questions = await readQuestions(file)
    const [searched, related] = [measureOf(questions, await searchAll(questions)), measureOf(questions, await relatedAll(questions))]
    t.diagnostic(`${file}: search ${show(searched)}; related ${show(related)}`)
    for (const name of names) assert.ok(related[name] >= searched[name], `${file}, ${name}: ${related[name]} instead of ${searched[name]}`)
  }
})
