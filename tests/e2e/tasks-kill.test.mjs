// Durable tasks survive kills of the process. scripts/chaos runs many more of them.

import assert from 'node:assert/strict'
import { test } from 'node:test'

import { killRun } from '../chaos/kills.mjs'

test('after 8 kills, each task has ended correctly, with one effect for each step', async () => {
  const { failures, logs, ...counts } = await killRun({ kills: 8, seed: 1 })
  assert.deepEqual(failures, [], `${JSON.stringify(counts)}\n${logs}`)
  assert.ok(counts.tasks >= 8 && counts.panics > 0, JSON.stringify(counts))
})
