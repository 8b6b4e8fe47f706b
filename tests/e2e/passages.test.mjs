// Tests the store of passages in D1. The example passage_store changes the store at random and compares it with a model. This test runs its
// statements.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
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
  for (const name of (await readdir(join(ROOT, 'migrations'))).sort()) {
    await database.batch(statementsOf(await readFile(join(ROOT, 'migrations', name), 'utf8')).map((sql) => database.prepare(sql)))
  }
  // Passages belong to a document of the knowledge base.
  for (let n = 0; n < 5; n++) {
    await database.prepare("INSERT INTO documents (slug, title, text, is_chunked) VALUES (?1, 'T', 'T', 1)").bind(`d${n}`).run()
  }
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

async function answer(batch) {
  try {
    const statements = batch.map(([sql, values]) => database.prepare(sql).bind(...values))
    const results = await database.batch(statements)
    return { rows: results.map(({ results }) => results.map(({ item }) => item)) }
  } catch (error) {
    return { error: error.message }
  }
}

// R26, R29, R62, R66, R72, R84, R85, R103
test('the store has the passages of a model after random changes', async (t) => {
  t.diagnostic(`seed ${SEED}`)
  const program = spawn('cargo', [
    // These are the features of scripts/test, so cargo does not build the library again.
    'run', '--quiet', '-p', 'edge-mcp', '--no-default-features', '--features', 'client,rag', '--example', 'passage_store', '--', SEED, String(CHANGES),
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
  assert.ok(batches > CHANGES * 4, `${batches} batches`)

  // R103: nothing is left over.
  const [{ orphans }] = (await database.prepare(
    'SELECT count(*) AS orphans FROM rag_links WHERE NOT EXISTS (SELECT 1 FROM rag_chunks AS chunk WHERE chunk.document = rag_links.document' +
    ' AND chunk.index_name = rag_links.index_name AND chunk.space = rag_links.space)').all()).results
  assert.equal(orphans, 0)
  await database.prepare("INSERT INTO rag_chunks_text (rag_chunks_text) VALUES ('integrity-check')").run()
  await database.prepare('DELETE FROM documents').run()
  for (const table of ['rag_chunks', 'rag_links', 'rag_words']) {
    assert.equal((await database.prepare(`SELECT count(*) AS rows FROM ${table}`).all()).results[0].rows, 0, table)
  }
  assert.equal((await database.prepare('SELECT passages FROM rag_size').all()).results[0].passages, 0)
})
