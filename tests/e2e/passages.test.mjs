// Tests the store of passages in D1. The example passage_store changes the store at random and compares it with a model. This test runs its
// statements.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { after, before, test } from 'node:test'

import { getPlatformProxy } from 'wrangler'

import { ROOT } from './worker.mjs'

/** The seed of the changes. A failure shows it. To repeat a run, set PASSAGES_SEED. */
const SEED = process.env.PASSAGES_SEED ?? String(randomInt(2 ** 32))
const CHANGES = 60

const CONFIGURATION = `
name = "passages"
compatibility_date = "2026-11-01"

[[d1_databases]]
binding = "DB"
database_name = "passages"
database_id = "00000000-0000-0000-0000-000000000000"
`

let folder, workerd, database
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edge-mcp-passages-'))
  const configPath = join(folder, 'wrangler.toml')
  await writeFile(configPath, CONFIGURATION)
  workerd = await getPlatformProxy({ configPath, persist: false })
  database = workerd.env.DB
  const migration = await readFile(join(ROOT, 'src/rag/sqlite/migrations/0001_passages.sql'), 'utf8')
  await database.batch(statementsOf(migration).map((sql) => database.prepare(sql)))
})
after(async () => {
  await workerd?.dispose()
  await rm(folder, { recursive: true, force: true })
})

/** Divides a migration into statements. A trigger ends with `END;`. */
function statementsOf(migration) {
  const text = migration.replace(/^\s*--.*$/gm, '')
  return [...text.matchAll(/\s*CREATE TRIGGER[\s\S]*?END;|[^;]*[^;\s][^;]*;/g)].map(([statement]) => statement.trim())
}

/** The rows that each batch read. */
const rowsRead = []

async function answer(batch) {
  try {
    const statements = batch.map(([sql, values]) => database.prepare(sql).bind(...values))
    const results = await database.batch(statements)
    rowsRead.push(results.reduce((sum, { meta }) => sum + meta.rows_read, 0))
    return { rows: results.map(({ results }) => results.map(({ item }) => item)) }
  } catch (error) {
    return { error: error.message }
  }
}

/** Runs the example with a second argument, and executes its statements. Returns the number of batches. */
async function run(argument) {
  const program = spawn('cargo', [
    // These are the features of scripts/test, so cargo does not build the library again.
    'run', '--quiet', '-p', 'edge-mcp', '--no-default-features', '--features', 'client,page,rag', '--example', 'passage_store', '--', SEED, argument,
  ], { cwd: ROOT, stdio: ['pipe', 'pipe', 'pipe'] })
  let errors = ''
  program.stderr.on('data', (text) => { errors += text })
  program.stdin.on('error', () => {})
  const ended = new Promise((resolve) => program.once('exit', resolve))
  let batches = 0
  for await (const line of createInterface({ input: program.stdout })) {
    batches++
    program.stdin.write(`${JSON.stringify(await answer(JSON.parse(line)))}\n`)
  }
  assert.equal(await ended, 0, `PASSAGES_SEED=${SEED}: ${errors}`)
  return batches
}

// R26, R29, R62, R66, R72, R84, R85, R103
test('the store has the passages of a model after random changes', async (t) => {
  t.diagnostic(`seed ${SEED}`)
  const batches = await run(String(CHANGES))
  assert.ok(batches > CHANGES * 4, `${batches} batches`)

  // R103: nothing is left over.
  const count = async (table) => (await database.prepare(`SELECT count(*) AS rows FROM ${table}`).all()).results[0].rows
  for (const [table, column] of [['rag_chunks', 'document'], ['rag_links', 'document'], ['rag_words', 'rowid']]) {
    const parent = column === 'rowid' ? 'rag_chunks' : 'rag_documents'
    assert.equal(await count(`${table} WHERE ${column} NOT IN (SELECT id FROM ${parent})`), 0, table)
  }
  assert.equal(await count('rag_chunks WHERE id NOT IN (SELECT rowid FROM rag_words)'), 0)
  assert.equal(await count('rag_documents AS document WHERE passages <> (SELECT count(*) FROM rag_chunks WHERE document = document.id)'), 0)
  assert.equal(await count('rag_spaces AS space WHERE passages <> (SELECT ifnull(sum(passages), 0) FROM rag_documents WHERE space = space.id)'), 0)
  await database.prepare("INSERT INTO rag_words (rag_words) VALUES ('integrity-check')").run()
  await database.prepare('DELETE FROM rag_documents').run()
  for (const table of ['rag_chunks', 'rag_links', 'rag_words', 'rag_vocabulary', 'rag_spaces WHERE passages <> 0']) {
    assert.equal(await count(table), 0, table)
  }
})

test('the largest filter of a caller reads the tags of each document once for each test', async () => {
  await run('filter')
  const [unfiltered, filtered] = rowsRead.slice(-2)
  const [documents, passages, tests, tags] = [12, 120, 10, 20]
  assert.ok(filtered - unfiltered < documents * tests * (tags + 4) + 4 * passages, `${unfiltered} rows, with the filter ${filtered}`)
})

test('an import of the exported tables fills the index again', async () => {
  await run('filter')
  const rows = async (sql) => (await database.prepare(sql).all()).results
  const index = () => rows('SELECT term, doc, col FROM rag_hits ORDER BY doc, term')
  const spaces = () => rows('SELECT * FROM rag_spaces ORDER BY id')
  const before = [await index(), await spaces()]
  const tables = ['rag_spaces', 'rag_documents', 'rag_chunks', 'rag_links']
  const exported = await Promise.all(tables.map((table) => rows(`SELECT * FROM ${table}`)))
  await database.batch(['rag_documents', 'rag_spaces'].map((table) => database.prepare(`DELETE FROM ${table}`)))
  assert.deepEqual(await index(), [])
  for (const [nth, table] of tables.entries()) {
    for (const row of exported[nth]) {
      const places = Object.keys(row).map((_, at) => `?${at + 1}`)
      await database.prepare(`INSERT INTO ${table} (${Object.keys(row)}) VALUES (${places})`).bind(...Object.values(row)).run()
    }
  }
  assert.deepEqual([await index(), await spaces()], before)
})

// R85, R88, R91
test('a caller gets the same bytes, whatever documents the caller cannot see', async (t) => {
  t.diagnostic(`seed ${SEED}`)
  const batches = await run('isolation')
  assert.ok(batches > 500, `${batches} batches`)
})
