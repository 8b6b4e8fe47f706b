// Tests how the JavaScript of durable tasks answers alarms and messages, without a wasm module: with a storage and work of the test.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { ROOT } from './worker.mjs'

const source = await readFile(join(ROOT, 'src/worker/tasks.js'), 'utf8')
const IMPORT = /^import \{ newCall, onBreak \} from '\.\/entry\.js'$/m
const STUB = 'let calls = 0; const newCall = () => ++calls; const onBreak = () => () => {}'
const { clear, put, receive, setAlarm } = await import(`data:text/javascript,${encodeURIComponent(source.replace(IMPORT, STUB))}`)

/** Returns the state of an object, whose alarms are in `delays`, in milliseconds from now. */
function object({ fails = false } = {}) {
  const rows = new Map()
  const delays = []
  const kv = { get: (key) => rows.get(key), put: (key, value) => void rows.set(key, value), delete: (key) => rows.delete(key) }
  const set = async (at) => {
    if (fails) throw new Error('the storage does not answer')
    delays.push(at - Date.now())
  }
  return { rows, delays, storage: { kv, setAlarm: set, deleteAlarm: async () => {}, deleteAll: async () => rows.clear() } }
}

const ring = (ctx, work) => receive(ctx, {}, undefined, work)
const failing = () => { throw new Error('the test asked for a failure') }

test('an alarm that fails rings again after 2 s, then 4 s and so on, up to an hour, and a success begins anew', async (t) => {
  t.mock.method(console, 'error', () => {})
  t.mock.timers.enable({ apis: ['Date'] })
  const ctx = object()
  for (let failure = 0; failure < 14; failure++) await ring(ctx, failing)
  assert.deepEqual(ctx.delays, [...Array.from({ length: 11 }, (_, n) => 2000 * 2 ** n), 3_600_000, 3_600_000, 3_600_000])
  await ring(ctx, () => undefined)
  assert.equal(ctx.rows.size, 0)
  ctx.delays.length = 0
  await ring(ctx, failing)
  assert.deepEqual(ctx.delays, [2000])
})

test('an alarm that cannot be set again is reported to the runtime, which repeats it', async (t) => {
  t.mock.method(console, 'error', () => {})
  await assert.rejects(ring(object({ fails: true }), failing), /does not answer/)
})

test('a call waits for its own writes, although another call of the object ends meanwhile', async () => {
  const ctx = object()
  const writes = []
  ctx.storage.setAlarm = (at) => new Promise((resolve, reject) => writes.push({ at, resolve, reject }))
  let end
  const attempt = ring(ctx, (_ctx, _env, name, call) => {
    setAlarm(ctx, name, 1, call)
    return new Promise((resolve) => { end = resolve })
  })
  const message = new Request('https://task/', { method: 'POST', body: 'message', headers: { 'x-object-name': 'one' } })
  const answer = receive(ctx, {}, message, () => 'answer')
  assert.equal(await (await answer).text(), 'answer')
  let isOver = false
  const over = attempt.then(() => { isOver = true })
  end()
  await new Promise((resolve) => setTimeout(resolve, 20))
  assert.equal(isOver, false, 'the alarm of the attempt is not set yet')
  writes[0].resolve()
  await over
})

test('a failed write of a message is its failure', async () => {
  const ctx = object({ fails: true })
  const message = () => new Request('https://task/', { method: 'POST', body: 'message', headers: { 'x-object-name': 'one' } })
  const work = (_ctx, _env, name, _text, call) => {
    put(ctx, 'row', new Uint8Array([1]))
    setAlarm(ctx, name, 1, call)
    return 'answer'
  }
  assert.equal((await receive(ctx, {}, message(), work)).status, 500)
  assert.equal((await receive(ctx, {}, message(), (_ctx, _env, _name, _text, call) => { clear(ctx, call); return 'cleared' })).status, 200)
})
