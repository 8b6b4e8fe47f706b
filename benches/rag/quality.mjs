// Measures how well the knowledge base finds the sections that answer the questions of tests/rag/. `scripts/bench rag quality` starts this
// script and documents it.
//
// The mode `vectors` needs no Worker: this script embeds the stored passages and the questions, and compares them. The other modes call the
// tools of the knowledge base.

import { spawn } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { join } from 'node:path'
import { call } from '../../tests/e2e/requests.mjs'
import { ROOT, startWorker } from '../../tests/e2e/worker.mjs'
import { DEPTH, measure, measureRelations, readCorpus, readQuestions, sectionOf } from '../../tests/rag/quality.mjs'

const SEARCH = 'search-passages'
const GRAPH = 'related-passages'
const MODEL = 'all-MiniLM-L6-v2'
/** The texts of one request to the embedding model. */
const BATCH = 32

/** What the modes have to reach: the least difference to another mode. */
const GOALS = [
  { questions: 'open', mode: 'both', than: 'words', least: { 'hit@1': 0, 'hit@5': 0.05, MRR: 0.02 } },
  ...['words', 'both'].flatMap((mode) => [
    { questions: 'open', mode: `graph (${mode})`, than: mode, least: { 'hit@1': 0, 'hit@5': 0 } },
    { questions: 'relations', mode: `graph (${mode})`, than: mode, least: { 'all@5': 0.05, 'all@10': 0 } },
  ]),
]

/** Returns the model of the environment, or starts the one of embeddings.py. */
async function startModel() {
  const { KB_EMBEDDING_URL: url, KB_EMBEDDING_MODEL: name = MODEL, KB_EMBEDDING_API_KEY: key } = process.env
  if (url) return { url, name, key, stop() {} }
  const python = join(ROOT, '.tools/embeddings/bin/python')
  const child = spawn(python, [join(import.meta.dirname, 'embeddings.py')], { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(child, 'exit').then(([status]) => { throw new Error(`embeddings.py ended with ${status}`) })
  const [line] = await Promise.race([once(createInterface(child.stdout), 'line'), ended])
  ended.catch(() => {})
  return { url: line, name, key, stop: () => child.kill() }
}

/** Returns the vectors of texts. */
async function embed({ url, name, key }, texts) {
  const vectors = []
  for (let begin = 0; begin < texts.length; begin += BATCH) {
    const response = await fetch(`${url}/embeddings`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...(key && { Authorization: `Bearer ${key}` }) },
      body: JSON.stringify({ model: name, input: texts.slice(begin, begin + BATCH) }),
    })
    if (!response.ok) throw new Error(`the embedding model answered ${response.status}: ${(await response.text()).slice(0, 500)}`)
    const { data } = await response.json()
    vectors.push(...data.sort((a, b) => a.index - b.index).map(({ embedding }) => unit(embedding)))
  }
  return vectors
}

function unit(vector) {
  const length = Math.hypot(...vector)
  return vector.map((number) => number / length)
}

const dot = (one, other) => one.reduce((sum, number, at) => sum + number * other[at], 0)

/** Serves the knowledge base with the documents of the corpus. With a model, all passages have vectors. */
async function serve(corpus, model) {
  const worker = await startWorker({
    // The log and the rate limit are not part of a search.
    vars: { MCP_LOG: 'failures', ...(model && { KB_EMBEDDING_URL: model.url, KB_EMBEDDING_MODEL: model.name }) },
    secrets: model?.key ? { KB_EMBEDDING_API_KEY: model.key } : {},
    config: (toml) => toml.replace('limit = 1000,', 'limit = 1000000,'),
  })
  try {
    await ask(worker, 'run_ingest', { documents: corpus.documents })
    for (let pending = model ? Infinity : 0; pending > 0;) {
      const before = pending
      pending = (await ask(worker, 'run_reindex', {})).pending
      if (!(pending < before)) throw new Error(`run_reindex makes no progress: ${pending} passages are pending`)
    }
    return worker
  } catch (error) {
    await worker.stop()
    throw error
  }
}

async function ask(worker, name, args) {
  const result = await call(worker, name, args)
  if (!result || result.isError) throw new Error(`${name} failed: ${JSON.stringify(result)}\n${worker.logs().slice(-2000)}`)
  return result.structuredContent
}

/** Asks a tool all questions. Returns the sections of the passages that it finds for each. */
async function asked(worker, tool, retrieval, corpus, questions) {
  const results = []
  for (const { question } of questions) {
    const found = await ask(worker, tool, { queryText: question, topK: DEPTH })
    if (found.retrieval !== retrieval) throw new Error(`${tool} searched by ${found.retrieval} instead of ${retrieval}: ${found.note}`)
    results.push(found.sources.map(({ metadata, heading }) => sectionOf(corpus.files, metadata.slug, heading)))
  }
  return results
}

/** Returns the sections of the passages whose vectors are the most similar to those of the questions. */
async function byVectors(worker, model, corpus, questions) {
  const passages = await worker.sql(
    'SELECT name, heading, text FROM rag_chunks JOIN rag_documents ON rag_documents.id = document ORDER BY rag_chunks.id')
  const vectors = await embed(model, passages.map(({ heading, text }) => `${heading}\n${text}`))
  const sections = passages.map(({ name, heading }) => sectionOf(corpus.files, name, heading))
  return (await embed(model, questions.map(({ question }) => question))).map((vector) => {
    const scores = vectors.map((passage) => dot(passage, vector))
    const order = sections.map((_, at) => at).sort((a, b) => scores[b] - scores[a])
    return order.slice(0, DEPTH).map((at) => sections[at])
  })
}

/** Prints a table of Markdown. */
function print(heads, rows) {
  const cells = (row) => `| ${row.map((cell) => (typeof cell === 'number' ? cell.toFixed(3) : cell)).join(' | ')} |`
  console.log(['', cells(heads), `|${heads.map((_, nth) => (nth < 1 ? '---' : '--:')).join('|')}|`, ...rows.map(cells)].join('\n'))
}

/** Prints a table with a row for each mode. Returns the measures by mode. */
function report(title, measureOf, questions, results) {
  const measured = Object.fromEntries(Object.entries(results).map(([mode, found]) => [mode, measureOf(questions, found)]))
  const names = Object.keys(Object.values(measured)[0])
  print([`${title} (${questions.length})`, ...names], Object.entries(measured).map(([mode, values]) => [mode, ...names.map((name) => values[name])]))
  return measured
}

/** Prints whether each goal is met. */
function judge(measured) {
  const rows = GOALS.filter(({ questions, mode }) => measured[questions][mode]).flatMap(({ questions, mode, than, least }) =>
    Object.entries(least).map(([name, difference]) => {
      const [value, other] = [mode, than].map((which) => measured[questions][which][name])
      return [`${mode} against ${than}: ${name}, ${questions}`, value, other, difference, value - other >= difference - 1e-9 ? 'met' : 'missed']
    }))
  print(['goal', 'is', 'against', 'at least +', ''], rows)
}

async function main() {
  const wordsOnly = process.argv.includes('--words')
  const corpus = await readCorpus()
  const sets = { open: await readQuestions('questions.tsv'), relations: await readQuestions('relations.tsv') }
  const questions = [...sets.open, ...sets.relations]
  const results = {}
  const stops = []
  try {
    const words = await serve(corpus)
    stops.push(words.stop)
    results.words = await asked(words, SEARCH, 'lexical', corpus, questions)
    results['graph (words)'] = await asked(words, GRAPH, 'graph', corpus, questions)
    if (!wordsOnly) {
      const model = await startModel()
      stops.push(model.stop)
      console.log(`Embedding model: ${model.name}`)
      results.vectors = await byVectors(words, model, corpus, questions)
      const both = await serve(corpus, model)
      stops.push(both.stop)
      results.both = await asked(both, SEARCH, 'hybrid', corpus, questions)
      results['graph (both)'] = await asked(both, GRAPH, 'graph', corpus, questions)
    }
  } finally {
    for (const stop of stops) await stop()
  }

  const of = (is) => Object.fromEntries(Object.entries(results).map(([mode, found]) => [mode, found.filter((_, nth) => is(questions[nth]))]))
  const isOpen = ({ groups }) => groups.length === 1
  for (const kind of new Set(sets.open.map(({ kind }) => kind))) {
    report(`type ${kind}`, measure, sets.open.filter((question) => question.kind === kind), of((question) => question.kind === kind))
  }
  const measured = {
    open: report('all types but R', measure, sets.open, of(isOpen)),
    relations: report('type R', measureRelations, sets.relations, of((question) => !isOpen(question))),
  }
  judge(measured)
  await mkdir(join(ROOT, 'target'), { recursive: true })
  await writeFile(join(ROOT, 'target/rag-quality.json'), `${JSON.stringify({ measured, results }, null, 1)}\n`)
}

await main()
