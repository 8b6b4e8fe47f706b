// Durable tasks survive kills of the process. scripts/chaos runs many more of them.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { killRun } from './kills.mjs'
import { loadRun } from './load.mjs'
import { ROOT } from '../e2e/worker.mjs'

test('after 8 kills, each task has ended correctly, with one effect for each step', async () => {
  const { failures, logs, ...counts } = await killRun({ kills: 8, seed: 1 })
  assert.deepEqual(failures, [], `${JSON.stringify(counts)}\n${logs}`)
  assert.ok(counts.tasks >= 8 && counts.panics > 0, JSON.stringify(counts))
})

test('many tasks at once end correctly, and no step runs twice', async () => {
  const { failures, polls } = await loadRun({ tasks: 60, atOnce: 30 })
  assert.deepEqual(failures, [])
  assert.equal(polls, 300)
})

describe('scripts/chaos', () => {
  const chaos = (...args) => new Promise((resolve) =>
    execFile(join(ROOT, 'scripts/chaos'), args, (error, stdout, stderr) => resolve({ status: error ? error.code : 0, output: stdout + stderr })))

  test('lists its options with --help', async () => {
    const { status, output } = await chaos('--help')
    assert.equal(status, 0)
    for (const option of ['--kills', '--tasks', '--at-once', '--seed']) assert.ok(output.includes(option), option)
  })

  for (const args of [['--kills', '-1'], ['--tasks', '10001'], ['--seed', 'x'], ['--nothing']]) {
    test(`rejects ${args.join(' ')}`, async () => assert.equal((await chaos(...args)).status, 1))
  }
})
