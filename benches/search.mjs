// Measures the knowledge base: how long scripts/load takes for documents of 5 KB, and the CPU time of a search. `scripts/bench search` starts
// this script and documents it. The other checkout, if there is one, takes turns with this one.

import { spawn } from 'node:child_process'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, dirname, join, resolve } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { callTool } from '../scripts/lib/mcp.mjs'
import { markdownFiles } from '../scripts/lib/documents.mjs'
import { cpuMicros } from './proc.mjs'
import { median, quartiles, rotated } from './statistics.mjs'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const DOCUMENTS = Number(process.env.BENCH_DOCUMENTS ?? 1000)
const BYTES = 5000
/** The tags of each document: as many as the knowledge base stores, and almost as long. */
const TAGS = Array.from({ length: 20 }, (_, n) => `tag-${n}-${'x'.repeat(50)}`)
const ROUNDS = 9
/** The rounds before the measurement, in which V8 optimizes the modules. */
const WARM_UP = 3

const search = { name: 'search-documents', arguments: (query) => ({ query }) }
const passages = { name: 'search-passages', arguments: (queryText) => ({ queryText }) }
const related = { name: 'related-passages', arguments: (queryText) => ({ queryText }) }
/** The filter with the most tests, each of which reads all tags of each document. */
const filter = { $and: Array.from({ length: 10 }, (_, n) => ({ tags: { $ne: `no-tag-${n}` } })) }
const filtered = (tool) => ({
  name: tool.name, label: `${tool.name}, filter of 10 tests`, arguments: (queryText) => ({ ...tool.arguments(queryText), filter }),
})

/** Writes documents that consist of sections of the corpus in tests/rag. They are the same in each run. */
async function writeDocuments(folder) {
  const corpus = join(ROOT, 'tests/rag/corpus')
  const texts = await Promise.all((await markdownFiles(corpus)).map((path) => readFile(join(corpus, path), 'utf8')))
  const sections = texts.flatMap((text) => text.split(/^(?=#{1,3} )/m)).filter((section) => section.length > 100)
  let state = 1
  const random = (below) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
  for (let n = 0; n < DOCUMENTS; n++) {
    let text = `---\ntags: [${TAGS.join(', ')}]\n---\n\n# Document ${n}\n\n`
    while (text.length < BYTES) text += `${sections[random(sections.length)].replace(/^#+/, '##')}\n`
    await mkdir(join(folder, `part-${n % 10}`), { recursive: true })
    await writeFile(join(folder, `part-${n % 10}`, `document-${n}.md`), text.slice(0, BYTES))
  }
}

/** Returns the ids of the workerd processes of a process group. */
async function workerds(group) {
  const found = []
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    const [, name, fields] = /^\d+ \((.*)\) (.*)$/s.exec(stat) ?? []
    if (name === 'workerd' && Number(fields.split(' ')[2]) === group) found.push(pid)
  }
  return found
}

const cpu = async ({ processes }) => (await Promise.all(processes.map(cpuMicros))).reduce((sum, micros) => sum + micros, 0)

/** Runs scripts/load of a checkout, and returns its time in seconds. */
async function load({ root, worker }, folder) {
  const begun = performance.now()
  let output = ''
  const child = spawn(join(root, 'scripts/load'), [folder, '--url', worker.url], {
    env: { ...process.env, MCP_TOKEN: worker.token }, stdio: ['ignore', 'ignore', 'pipe'],
  })
  child.stderr.on('data', (text) => { output += text })
  const status = await new Promise((resolve) => child.once('close', resolve))
  if (status !== 0) throw new Error(`scripts/load failed:\n${output.slice(-1000)}`)
  return (performance.now() - begun) / 1000
}

/** Asks all questions once. Returns the CPU time of a call in microseconds. */
async function ask(subject, tool, questions) {
  const begun = await cpu(subject)
  let found = 0
  for (const question of questions) {
    const { structuredContent } = await callTool({ ...subject.worker, name: tool.name, arguments: tool.arguments(question) })
    found += (structuredContent.documents ?? structuredContent.sources).length
  }
  const spent = await cpu(subject) - begun
  if (found < questions.length) throw new Error(`${tool.name} finds only ${found} results for ${questions.length} questions`)
  return spent / questions.length
}

async function main() {
  const other = process.argv[2]
  const folder = await mkdtemp(join(tmpdir(), 'bench-search-'))
  const subjects = []
  try {
    await writeDocuments(folder)
    const questions = (await readFile(join(ROOT, 'tests/rag/questions.tsv'), 'utf8')).trim().split('\n').map((line) => line.split('\t')[1])
    for (const [name, root, tools] of [
      ...(other ? [['before', resolve(other), [search]]] : []),
      ['now', ROOT, [search, passages, related, filtered(passages), filtered(related)]],
    ]) {
      const { startWorker } = await import(pathToFileURL(join(root, 'tests/e2e/worker.mjs')))
      // The log and the rate limit are not part of a search.
      const worker = await startWorker({ vars: { MCP_LOG: 'failures' }, config: (toml) => toml.replace('limit = 1000,', 'limit = 1000000,') })
      const subject = { name, root, worker, tools, processes: await workerds(worker.group), times: tools.map(() => []) }
      subjects.push(subject)
      const seconds = await load(subject, folder)
      console.log(`${name}: loaded ${DOCUMENTS} documents of ${BYTES} bytes in ${seconds.toFixed(1)} s (${basename(root)})`)
    }
    for (let round = 0; round < WARM_UP + ROUNDS; round++) {
      for (const subject of rotated(subjects, round)) {
        for (const [nth, tool] of subject.tools.entries()) {
          const micros = await ask(subject, tool, questions)
          if (round >= WARM_UP) subject.times[nth].push(micros)
        }
      }
    }
    console.log('\n| search | CPU per call, ms: median (quartiles) | against search-documents before |\n|---|--:|--:|')
    const baseline = other && subjects[0].times[0]
    for (const { name, tools, times } of subjects) {
      for (const [nth, tool] of tools.entries()) {
        const { lower, median: middle, upper } = quartiles(times[nth].map((micros) => micros / 1000))
        const ratio = baseline ? median(times[nth].map((micros, round) => micros / baseline[round])).toFixed(2) : '–'
        console.log(`| ${tool.label ?? tool.name}, ${name} | ${middle.toFixed(2)} (${lower.toFixed(2)}–${upper.toFixed(2)}) | ${ratio} |`)
      }
    }
  } finally {
    for (const { worker } of subjects) await worker.stop()
    await rm(folder, { recursive: true, force: true })
  }
}

await main()
