// The official conformance suite against examples/everything in workerd.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { ROOT, startWorker } from '../e2e/worker.mjs'

const run = promisify(execFile)
const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

let worker, folder
before(async () => {
  worker = await startWorker({ name: 'everything' })
  folder = await mkdtemp(join(tmpdir(), 'edge-mcp-conformance-'))
})
after(async () => {
  await worker?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Runs the suite. Returns its exit status, its output, and whether each scenario passed. */
async function suite(...args) {
  // The suite requires the host name localhost.
  const url = worker.url.replace('127.0.0.1', 'localhost')
  const { code = 0, stdout } = await run(process.execPath, [SUITE, 'server', '--url', url, '-o', folder, ...args],
    { timeout: 300_000, maxBuffer: 1e8 }).catch((error) => error)
  const outcomes = new Map([...String(stdout).matchAll(/^([✓✗]) ([\w-]+): /gm)].map(([, mark, name]) => [name, mark === '✓']))
  return { code, stdout, outcomes }
}

test('2026-07-28: every scored scenario passes', async () => {
  const { code, stdout, outcomes } = await suite('--requirements', '2026-07-28')
  assert.equal(code, 0, stdout)
  const scored = [...outcomes].filter(([name]) => !/^(tasks|sep-2640)-/.test(name))
  assert.ok(scored.length >= 37, stdout)
  // Three scenarios that are not scored must pass too. The scenarios of tasks are excluded, because the server does not support tasks.
  assert.deepEqual(scored.filter(([, passed]) => !passed).map(([name]) => name), [], stdout)
  for (const name of ['http-header-validation', 'http-custom-header-server-validation', 'json-schema-2020-12']) {
    assert.equal(outcomes.get(name), true, name)
  }
})

test('2025-11-25: all scenarios that do not need a session pass', async () => {
  const baseline = join(ROOT, 'tests/conformance/baseline-2025-11-25.yml')
  const { code, stdout } = await suite('--requirements', '2025-11-25', '--expected-failures', baseline)
  assert.equal(code, 0, stdout)
})
