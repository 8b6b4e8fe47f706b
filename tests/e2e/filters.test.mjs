// Tests that the condition of a filter in D1 gives the same results as `Filter::matches`, for random pairs of a filter and metadata, and for
// each operator with each kind of value. The example filter_pairs makes the filters, the metadata and the statements.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { getPlatformProxy } from 'wrangler'

import { ROOT } from './worker.mjs'

/** The seed of the pairs. A failure shows it. To repeat a run, set FILTER_SEED. */
const SEED = process.env.FILTER_SEED ?? String(randomInt(2 ** 32))
const PAIRS = 5000

const CONFIGURATION = `
name = "filters"
compatibility_date = "2026-11-01"

[[d1_databases]]
binding = "DB"
database_name = "filters"
database_id = "00000000-0000-0000-0000-000000000000"
`

let folder, workerd
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edge-mcp-filters-'))
  const configPath = join(folder, 'wrangler.toml')
  await writeFile(configPath, CONFIGURATION)
  workerd = await getPlatformProxy({ configPath, persist: false })
})
after(async () => {
  await workerd?.dispose()
  await rm(folder, { recursive: true, force: true })
})

/** Returns the statements. Each has its parameters, the filters of its columns, the documents of its rows, and the expected rows. */
async function statements() {
  const { stdout } = await promisify(execFile)('cargo', [
    // These are the features of scripts/test, so cargo does not build the library again.
    'run', '--quiet', '-p', 'edge-mcp', '--no-default-features', '--features', 'client,page,rag', '--example', 'filter_pairs', '--', SEED, String(PAIRS),
  ], { cwd: ROOT, maxBuffer: 1e8 })
  return stdout.trim().split('\n').map((line) => JSON.parse(line))
}

// R23
test('filters have the same results in D1 as in Rust', async (t) => {
  t.diagnostic(`seed ${SEED}`)
  const counts = { all: 0, matching: 0 }
  for (const { statement, values, filters, documents, expected } of await statements()) {
    const rows = await workerd.env.DB.prepare(statement).bind(...values).raw()
    assert.equal(rows.length, documents.length)
    for (const [y, row] of rows.entries()) {
      for (const [x, matches] of row.entries()) {
        assert.equal(matches, expected[y][x], `FILTER_SEED=${SEED}: ${filters[x]} for ${JSON.stringify(documents[y])}`)
        counts.all++
        counts.matching += matches
      }
    }
  }
  // The test is only useful if many pairs match and many do not.
  assert.ok(counts.all > PAIRS && counts.matching > PAIRS / 10 && counts.matching < PAIRS / 2, JSON.stringify(counts))
})
