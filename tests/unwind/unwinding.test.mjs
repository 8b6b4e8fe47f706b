// Tests of a module that is built with --unwind: a panic ends only the call that panicked. scripts/test does not run these tests, because
// they need a nightly compiler. Run scripts/setup --unwind, and then node --test tests/unwind/*.test.mjs

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import {
  CRASH_KINDS, PANICS, PROGRESS_META, ask, askBatch, assertAnswered, assertCrashed, assertServing, stream, tool,
} from '../e2e/faults.mjs'
import { startWorker } from '../e2e/worker.mjs'

let worker
before(async () => { worker = await startWorker({ name: 'faults', unwind: true }) })
after(() => worker?.stop())

describe('other calls continue after', () => {
  const besideOthers = async (panic) => {
    const waits = Array.from({ length: 10 }, (_, n) => ask(worker, tool('wait', { ms: 1000 + n }), n))
    const streamed = await stream(worker, tool('tell', { ms: 1000 }, PROGRESS_META), 'streamed')
    await panic()
    for (const [n, wait] of waits.entries()) assertAnswered(await wait, n, `waited ${1000 + n}`)
    assert.equal((await streamed.last).result.content[0].text, 'told and waited 1000')
    await assertServing(worker)
  }

  for (const [name, request] of PANICS) {
    test(name, () => besideOthers(async () => assertCrashed(await ask(worker, request, 'breaks'), 'breaks')))
  }

  test('a panic in a stream', () => besideOthers(async () => {
    const { id, error } = await (await stream(worker, tool('break_telling', { how: 'panic' }, PROGRESS_META), 's')).last
    assert.deepEqual([id, error.code], ['s', -32603])
  }))

  test('a panic in a batch', () => besideOthers(async () => {
    const calls = [['a', 'echo', { text: 'x' }], ['b', 'break_later', { how: 'panic' }], [3, 'echo', { text: 'y' }]]
    const answers = (await askBatch(worker, calls)).map(({ id, result, error }) => [id, result?.content[0].text ?? error.code])
    assert.deepEqual(answers, [['a', 'x'], ['b', -32603], [3, 'y']])
  }))
})

test('if one call in fifty panics, every other call gets the correct answer', async () => {
  const one = async (n) => {
    if (n % 50 === 7) return assertCrashed(await ask(worker, PANICS[Math.floor(n / 50) % PANICS.length][1], n), n)
    const [request, text] = n % 2 ? [tool('echo', { text: `said ${n}` }), `said ${n}`] : [tool('wait', { ms: n % 40 }), `waited ${n % 40}`]
    assertAnswered(await ask(worker, request, n), n, text)
  }
  let next = 0
  await Promise.all(Array.from({ length: 20 }, async () => {
    while (next < 1000) await one(next++)
  }))
})

for (const how of CRASH_KINDS.filter((how) => how !== 'panic')) {
  test(`after ${how}, which ends the module, the next call is served`, async () => {
    assertCrashed(await ask(worker, tool('break', { how }), 1), 1)
    await assertServing(worker)
  })
}
