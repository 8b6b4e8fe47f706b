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
 * fails, or repeats the last chunk for ever.
 */
function request(announced, chunks, then = 'ends') {
  const sent = { pulls: 0, isCancelled: false }
  const body = new ReadableStream({
    pull(stream) {
      const chunk = chunks[sent.pulls++] ?? (then === 'repeats' ? chunks.at(-1) : undefined)
      if (chunk) return stream.enqueue(chunk)
      if (then === 'ends') return stream.close()
      if (then === 'fails') return stream.error(new Error('the connection has ended'))
      return new Promise(() => {})
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

test('a stalled body does not delay the checks of the wasm module, and is dropped with the answer', async () => {
  const stalled = Array.from({ length: 100 }, () => request(64 * KIB, [bytes(64 * KIB - 1)], 'stalls'))
  const answers = await Promise.all(stalled.map(({ request }) => receive(request, {}, CONTEXT, (_, env, context, early) => {
    assert.equal(early, undefined)
    return refusing()
  })))
  assert.ok(answers.every(({ status }) => status === 401))
  assert.ok(stalled.every(({ sent }) => sent.isCancelled))
})

test('a body that arrives late is read on, from its first byte', async () => {
  let rest
  const body = new ReadableStream({ start(stream) {
    stream.enqueue(bytes(10))
    rest = () => { stream.enqueue(bytes(90)); stream.close() }
  } })
  const late = new Request('http://localhost/mcp', { method: 'POST', headers: { 'content-length': '100' }, body, duplex: 'half' })
  const answered = await receive(late, {}, CONTEXT, (...call) => {
    rest()
    return lengthOf(...call)
  })
  assert.deepEqual(await answered.json(), { early: false, length: 100, isCut: false })
})

test('the sum of the bodies that are read early is bounded', async () => {
  const most = 16 * MIB / (256 * KIB)
  const answers = []
  const stalled = Array.from({ length: most }, () => request(256 * KIB, [bytes(1)], 'stalls'))
  const pending = stalled.map(({ request }) => receive(request, {}, CONTEXT, () => new Promise((resolve) => answers.push(resolve))))
  const beyond = request(1, [bytes(1)])
  const { early } = await lengths(beyond.request)
  assert.equal(early, false, 'the wasm module decides whether this body is read')
  while (answers.length < most) await new Promise(setImmediate)
  for (const answer of answers) answer(refusing())
  await Promise.all(pending)
  assert.equal((await lengths(request(1, [bytes(1)]).request)).early, true, 'the other bodies do not count any more')
})

test('the length of a body is counted, and not taken from Content-Length', async () => {
  for (const announced of [10, 64 * KIB, undefined]) {
    const endless = request(announced, [bytes(64 * KIB - 1)], 'repeats')
    assert.equal((await lengths(endless.request)).isCut, true)
    assert.ok(endless.sent.pulls * 64 * KIB <= LIMIT + 3 * 64 * KIB, `${endless.sent.pulls} chunks`)
    assert.ok(endless.sent.isCancelled)
  }
  const longer = await lengths(request(10, [bytes(15), bytes(5)]).request)
  assert.deepEqual(longer, { early: false, length: 20, isCut: false }, 'a body within the limit is read whole')
  const shorter = await lengths(request(10, [bytes(4)]).request)
  assert.deepEqual(shorter, { early: true, length: 4, isCut: false })
})

test('the wasm module reports the failure of a connection', async () => {
  const { status } = await receive(request(100, [bytes(40)], 'fails').request, {}, CONTEXT, lengthOf)
  assert.equal(status, 400)
})

test('a request without a body has an empty one', async () => {
  const empty = new Request('http://localhost/mcp', { method: 'POST' })
  assert.deepEqual(await lengths(empty), { early: false, length: 0, isCut: false })
})
