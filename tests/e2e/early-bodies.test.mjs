// Tests the bodies that src/worker/entry.js reads: stalled, endless and wrong ones. The tests call the file itself, in the place of a wasm
// module that a function of the test replaces.

import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { test } from 'node:test'

const STUB = 'data:text/javascript,export const env = {}'
registerHooks({
  resolve: (name, context, next) => (name === 'cloudflare:workers' ? { url: STUB, shortCircuit: true } : next(name, context)),
})
globalThis.addEventListener ??= () => {}
const { read, receive } = await import('../../src/worker/entry.js')

const KIB = 1024
const MIB = 1024 * KIB
const LIMIT = 4 * MIB
const CONTEXT = { waitUntil() {} }

/**
 * Returns a request whose body is a stream of these chunks. `announced` is its `Content-Length`. After the chunks, the stream ends, stalls or
 * fails, or repeats the last chunk 1000 times.
 */
function request(announced, chunks, then = 'ends') {
  const sent = { pulls: 0, isCancelled: false }
  const body = new ReadableStream({
    start(stream) { sent.fail = () => stream.error(new Error('the connection has ended')) },
    pull(stream) {
      const chunk = chunks[sent.pulls++] ?? (then === 'repeats' && sent.pulls < 1000 ? chunks.at(-1) : undefined)
      if (chunk) return stream.enqueue(chunk)
      if (then === 'fails') return sent.fail()
      if (then === 'stalls') return new Promise(() => {})
      stream.close()
    },
    cancel() { sent.isCancelled = true },
  }, { highWaterMark: 0 })
  const headers = announced === undefined ? {} : { 'content-length': String(announced) }
  return { sent, request: new Request('http://localhost/mcp', { method: 'POST', headers, body, duplex: 'half' }) }
}

const bytes = (length) => new Uint8Array(length).fill(120)
const refusing = () => new Response(null, { status: 401 })

/** Answers with the length of the body: the early one, or the one that is read like in the wasm module. */
const lengthOf = (request, env, context, early) => {
  const answer = (body) => Response.json({ early: early !== undefined, length: body.length ?? `more than ${LIMIT}`, isCut: typeof body === 'number' })
  return early ? answer(early) : read(request, LIMIT).then(answer, () => new Response(null, { status: 400 }))
}

const lengths = async (request) => (await receive(request, {}, CONTEXT, lengthOf)).json()

test('a short body is passed to the first call of the wasm module', async () => {
  for (const chunks of [[bytes(100)], [bytes(40), bytes(60)], [bytes(100), bytes(0)]]) {
    assert.deepEqual(await lengths(request(100, chunks).request), { early: true, length: 100, isCut: false })
  }
  const long = await lengths(request(300 * KIB, [bytes(300 * KIB)]).request)
  assert.deepEqual(long, { early: false, length: 300 * KIB, isCut: false }, 'a long body waits for the checks')
  const unannounced = await lengths(request(undefined, [bytes(100)]).request)
  assert.deepEqual(unannounced, { early: false, length: 100, isCut: false })
})

test('stalled bodies hold at most 4 MiB, and do not delay the checks of others', async () => {
  const most = 4 * MIB / (256 * KIB)
  let calls = 0
  const refuse = (_, env, context, early) => {
    calls++
    assert.equal(early, undefined)
    return refusing()
  }
  const stalled = Array.from({ length: most }, () => request(256 * KIB, [bytes(1)], 'stalls'))
  const pending = stalled.map(({ request }) => receive(request, {}, CONTEXT, refuse))
  const { status } = await receive(request(1, [], 'stalls').request, {}, CONTEXT, refuse)
  assert.equal(status, 401)
  assert.equal(calls, 1, 'only the body beyond the sum gets to the wasm module before it arrives')
  for (const { sent } of stalled) sent.fail()
  await Promise.all(pending)
  assert.equal(calls, 1 + most)
  assert.equal((await lengths(request(1, [bytes(1)]).request)).early, true, 'the other bodies do not count any more')
})

test('a body that has stalled for 30 s gives its place to others', async (t) => {
  t.mock.timers.enable({ apis: ['Date'] })
  const refuse = () => refusing()
  const stalled = Array.from({ length: 4 * MIB / (256 * KIB) }, () => request(256 * KIB, [bytes(1)], 'stalls').request)
  const pending = stalled.map((request) => receive(request, {}, CONTEXT, refuse))
  t.mock.timers.tick(30_000)
  assert.equal((await lengths(request(1, [bytes(1)]).request)).early, false)
  t.mock.timers.tick(1)
  // The platform may not run the stalled calls again, so the place is free before they end.
  const next = await Promise.all([1, 2].map(() => lengths(request(1, [bytes(1)]).request)))
  assert.deepEqual(next.map(({ early }) => early), [false, true])
  assert.ok((await Promise.all(pending)).every(({ status }) => status === 401))
})

test('a body that has arrived does not count, even if its call waits', async () => {
  const most = 4 * MIB / (256 * KIB)
  const answers = []
  const waiting = Array.from({ length: most }, () => {
    const { request: arrived } = request(256 * KIB, [bytes(256 * KIB)])
    return receive(arrived, {}, CONTEXT, () => new Promise((resolve) => answers.push(resolve)))
  })
  while (answers.length < most) await new Promise(setImmediate)
  assert.equal((await lengths(request(1, [bytes(1)]).request)).early, true)
  for (const answer of answers) answer(refusing())
  await Promise.all(waiting)
})

test('the wasm module drops a body that it does not wait for', async () => {
  const stalled = request(300 * KIB, [bytes(64 * KIB)], 'stalls')
  const { status } = await receive(stalled.request, {}, CONTEXT, (request) => {
    const answer = refusing()
    read(request, LIMIT)
    return answer
  })
  assert.equal(status, 401)
  assert.ok(stalled.sent.isCancelled)
})

test('the wasm module reports the failure of a connection', async () => {
  const { status } = await receive(request(100, [bytes(40)], 'fails').request, {}, CONTEXT, lengthOf)
  assert.equal(status, 400)
})

test('a request without a body has an empty one', async () => {
  const empty = new Request('http://localhost/mcp', { method: 'POST' })
  assert.deepEqual(await lengths(empty), { early: false, length: 0, isCut: false })
})

// This test is the last one, because the module remembers the wrong length.
test('the length of a body is counted, and not taken from Content-Length', async () => {
  for (const announced of [300 * KIB, undefined]) {
    const endless = request(announced, [bytes(64 * KIB - 1)], 'repeats')
    assert.equal((await lengths(endless.request)).isCut, true)
    assert.ok(endless.sent.pulls * 64 * KIB <= LIMIT + 3 * 64 * KIB, `${endless.sent.pulls} chunks`)
    assert.ok(endless.sent.isCancelled)
  }
  const shorter = await lengths(request(10, [bytes(4)]).request)
  assert.deepEqual(shorter, { early: true, length: 4, isCut: false })
  const longer = await lengths(request(10, [bytes(15), bytes(5)]).request)
  assert.deepEqual(longer, { early: true, length: 20, isCut: false })
  const endless = request(10, [bytes(64 * KIB)], 'repeats')
  assert.equal((await lengths(endless.request)).isCut, true, 'after the first wrong length, no body is read early')
})
