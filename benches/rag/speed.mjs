// Measures the CPU time of a search in workerd: by words, and by words and meaning, among random passages with random vectors.
// `scripts/bench rag speed` starts this script and documents it.

import { createServer } from 'node:http'
import { once } from 'node:events'
import { call } from '../../tests/e2e/requests.mjs'
import { startWorkerds } from '../../tests/e2e/workerd.mjs'
import { cpuMicros } from '../proc.mjs'
import { quartiles } from '../statistics.mjs'

const SIZES = (process.env.BENCH_PASSAGES ?? '1000 10000 20000').split(' ').map(Number)
const DIMENSIONS = 768
const PER_DOCUMENT = 50
const ROUNDS = 60
const WARM_UP = 20
/** The rows of a statement. */
const BATCH = 25
/** The words of the passages. The first ones are frequent. */
const WORDS = Array.from({ length: 3000 }, (_, n) => `w${n.toString(36)}`)
const MODEL = 'random'

let state = 1
function random() {
  state = (Math.imul(state, 1664525) + 1013904223) >>> 0
  return state / 2 ** 32
}
const word = () => WORDS[Math.floor(random() ** 3 * WORDS.length)]
const words = (count) => Array.from({ length: count }, word)

/** Serves random vectors as an embedding model. */
async function startModel() {
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const data = JSON.parse(body).input.map((_, index) => ({ index, embedding: Array.from({ length: DIMENSIONS }, () => random() - 0.5) }))
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ data }))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { url: `http://127.0.0.1:${server.address().port}/v1`, stop: () => server.close() }
}

const quoted = (text) => `'${text.replaceAll("'", "''")}'`
/** Returns a code: 5 bits in each letter. */
const code = () => String.fromCharCode(...Array.from({ length: Math.ceil(DIMENSIONS / 5) }, () => 96 + Math.floor(random() * 32)))
const vector = () => Buffer.from(Array.from({ length: DIMENSIONS }, () => Math.floor(random() * 255) - 127)).toString('base64')

/** Writes passages, each with 120 words, and their vectors. Saving them with the Worker would take minutes. */
async function fill({ sql }, passages) {
  await sql(`INSERT INTO rag_spaces (id, index_name, space) VALUES (1, 'documents', '');
    INSERT INTO rag_models (index_name, model, dimensions, saved, generation) VALUES ('documents', '${MODEL}', ${DIMENSIONS}, ${passages}, 2)`)
  for (let from = 0; from < passages; from += BATCH) {
    const rows = []
    for (let n = from; n < Math.min(from + BATCH, passages); n++) {
      const document = Math.floor(n / PER_DOCUMENT)
      if (n % PER_DOCUMENT === 0) {
        const metadata = JSON.stringify({ slug: `d${document}`, title: `Document ${document}` })
        await sql(`INSERT INTO documents (slug, title, text) VALUES ('d${document}', 'Document ${document}', '');
          INSERT INTO rag_documents (id, space, name, metadata, passages)
          VALUES (${document + 1}, 1, 'd${document}', jsonb(${quoted(metadata)}), ${Math.min(PER_DOCUMENT, passages - n)})`)
      }
      const text = words(120)
      const stems = [...new Set(text)]
      const impacts = Array.from({ length: 16 }, (_, impact) => stems.filter((_, nth) => nth % 16 === impact).map((stem) => ` ·${stem}`).join(''))
      rows.push([n + 1, document + 1, `h${n}`, n % PER_DOCUMENT, `Document ${document} > Part ${n % 7}`, text.join(' '), JSON.stringify(impacts), code(), vector()])
    }
    const list = (of) => quoted(JSON.stringify(rows.map(of)))
    await sql(`INSERT INTO rag_chunks (id, document, hash, ordinal, heading, text, words)
      SELECT value->>0, value->>1, value->>2, value->>3, value->>4, value->>5, value->>6 FROM json_each(${list((row) => row.slice(0, 7))})`)
    await sql(`INSERT INTO rag_codes (space, page, id, document, code)
      SELECT 1, (value->>0) / 2048, value->>0, value->>1, value->>2 FROM json_each(${list(([id, document, ...row]) => [id, document, row[5]])})`)
    await sql(`UPDATE rag_vectors SET vector = new.value->>1 FROM json_each(${list((row) => [row[0], row[8]])}) AS new WHERE rag_vectors.id = new.value->>0`)
  }
}

/** Returns the CPU time of each search in milliseconds. */
async function measure(worker, mode) {
  const times = []
  for (let n = 0; n < WARM_UP + ROUNDS; n++) {
    const queryText = words(5).join(' ')
    const before = await cpuMicros(worker.pid)
    const { isError, structuredContent } = await call(worker, 'search-passages', { queryText })
    const spent = await cpuMicros(worker.pid) - before
    if (isError || structuredContent.retrieval !== mode || structuredContent.sources.length < 10) {
      throw new Error(`a search by ${mode} failed: ${JSON.stringify(structuredContent)}`)
    }
    if (n >= WARM_UP) times.push(spent / 1000)
  }
  return times
}

const model = await startModel()
console.log(`| passages | by words, ms of CPU: median (quartiles) | by words and meaning, ${DIMENSIONS} dimensions |\n|--:|--:|--:|`)
try {
  for (const passages of SIZES) {
    const plain = { MCP_LOG: 'failures' }
    const meaning = { ...plain, KB_EMBEDDING_URL: model.url, KB_EMBEDDING_MODEL: MODEL }
    const cells = []
    for (const [vars, mode] of [[plain, 'lexical'], [meaning, 'hybrid']]) {
      const [worker] = await startWorkerds([{ name: 'app', database: true, vars }])
      try {
        await fill(worker, passages)
        const { lower, median, upper } = quartiles(await measure(worker, mode))
        cells.push(`${median.toFixed(1)} (${lower.toFixed(1)}–${upper.toFixed(1)})`)
      } finally {
        await worker.stop()
      }
    }
    console.log(`| ${passages} | ${cells.join(' | ')} |`)
  }
} finally {
  model.stop()
}
