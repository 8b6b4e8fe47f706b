// Tests crashes of the module. The call that crashes gets an error, other pending calls immediately get an error, and a new instance serves
// the next request.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import {
  CRASH_KINDS, PANICS, PROGRESS_META, ask, askBatch, assertAnswered, assertCrashed, assertInterrupted, assertServing, post, send, stream,
  tool,
} from './faults.mjs'
import { startWorkerd } from './workerd.mjs'

/** A wait in milliseconds that exceeds the time of a test. A call that waits this long can get a response only because of the crash. */
const LONG = 25_000

let worker
before(async () => { worker = await startWorkerd() })
after(() => worker?.stop())

/** A request for each place and kind of crash, with a name for the test. */
const CRASHES = [
  ...PANICS,
  ...CRASH_KINDS.filter((how) => how !== 'panic').flatMap((how) => [
    [`${how} at once`, tool('break', { how })],
    [`${how} after a wait`, tool('break_later', { how })],
  ]),
  ['overflow in the server function', { ...tool('echo', { text: 'x' }), headers: { Break: 'overflow' } }],
]

describe('a crash without other calls:', () => {
  for (const [name, request] of CRASHES) {
    test(name, async () => {
      assertCrashed(await ask(worker, request, `id of ${name}`), `id of ${name}`)
      await assertServing(worker)
    })
  }

  test('several crashes in a row, at once and after a wait', async () => {
    for (const how of ['panic', 'recursion', 'panic', 'overflow']) {
      assertCrashed(await ask(worker, tool('break', { how }), 1), 1)
      assertCrashed(await ask(worker, tool('break_later', { how }), 2), 2)
    }
    await assertServing(worker)
  })

  for (const how of CRASH_KINDS) {
    test(`after ${how} in a stream, the last event is an error`, async () => {
      const { id, error } = await (await stream(worker, tool('break_telling', { how }, PROGRESS_META), 'streamed')).last
      assert.deepEqual([id, error.code], ['streamed', -32603])
      await assertServing(worker)
    })
  }

  test('overflow in the first request of a process', async (t) => {
    const fresh = await startWorkerd()
    t.after(() => fresh.stop())
    assertCrashed(await ask(fresh, tool('break', { how: 'overflow' }), 1), 1)
    await assertServing(fresh)
  })
})

describe('after a crash, the error has the id of the request:', () => {
  for (const request of [tool('break', { how: 'panic' }), tool('break_later', { how: 'panic' })]) {
    for (const id of ['text', '', '1', 0, -7, 9007199254740991, 'ü"\\ 😀', 'x'.repeat(1000)]) {
      const text = JSON.stringify(id).slice(0, 40)
      test(`${text} (${request.params.name})`, async () => assertCrashed(await ask(worker, request, id), id))
    }

    test(`the id in a long body and in a chunked body (${request.params.name})`, async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 'far', ...request }).padEnd(100_000)
      for (const sent of [body, new Blob([body]).stream(), new Blob([body.trimEnd()]).stream()]) {
        assertCrashed(await ask(worker, request, 'far', sent), 'far')
      }
      await assertServing(worker)
    })

    test(`each id of a batch (${request.params.name})`, async () => {
      const { name, arguments: args } = request.params
      const answers = await askBatch(worker, [['a', 'echo', { text: 'x' }], ['b', name, args], [3, 'echo', { text: 'y' }]])
      assert.deepEqual(answers.map(({ id, error }) => [id, error.code]), [['a', -32603], ['b', -32603], [3, -32603]])
      await assertServing(worker)
    })
  }
})

describe('the response after a crash', () => {
  const ID = '9007199254740993'
  /** Serializes a request, with `id` as JSON text. */
  const withId = ({ method, params }, id) => JSON.stringify({ jsonrpc: '2.0', method, params }).replace('{', `{"id":${id},`)
  const error = (id, message) => `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code: -32603, message })}}`
  const CRASHED = 'The server failed to answer this request. Its log says why.'
  const INTERRUPTED = 'The server restarted because another call crashed it. Send this call again.'
  const now = tool('break', { how: 'panic' })
  const later = tool('break_later', { how: 'panic' })

  for (const request of [now, later]) {
    for (const id of [ID, `-${ID}`, '"\\u0061\\/é"', '18446744073709551616000000000']) {
      test(`repeats the id ${id} exactly (${request.params.name})`, async () => {
        assert.equal(await (await send(worker, request, null, withId(request, id))).text(), error(id, CRASHED))
      })
    }

    test(`repeats each id of a batch exactly (${request.params.name})`, async () => {
      const ids = [ID, '"\\u0062"', '7']
      const plain = (name, args) => ({ method: 'tools/call', params: { name, arguments: args } })
      const { name, arguments: args } = request.params
      const calls = [plain('echo', { text: 'x' }), plain(name, args), plain('echo', { text: 'y' })].map((each, n) => withId(each, ids[n]))
      const body = `[${calls},{"jsonrpc":"2.0","method":"notifications/initialized"}]`
      assert.equal(await (await post(worker, { 'MCP-Protocol-Version': '2025-03-26' }, body)).text(), `[${ids.map((id) => error(id, CRASHED))}]`)
    })

    test(`has the same CORS headers as other responses if the origin is allowed (${request.params.name})`, async () => {
      const Origin = 'http://localhost:5173'
      const normal = await send(worker, { ...tool('echo', { text: 'x' }), headers: { Origin } }, 1)
      const crashed = await send(worker, { ...request, headers: { Origin } }, 1)
      assertCrashed({ status: crashed.status, body: await crashed.json() }, 1)
      const names = ['access-control-allow-origin', 'access-control-expose-headers', 'vary', 'cache-control', 'content-type']
      const headersOf = (response) => names.map((name) => response.headers.get(name))
      assert.deepEqual(headersOf(crashed), headersOf(normal))
      assert.deepEqual([crashed.headers.get('access-control-allow-origin'), crashed.headers.get('cache-control')], [Origin, 'no-store'])
    })

    test(`has no CORS headers if the request has no Origin header (${request.params.name})`, async () => {
      const { headers } = await send(worker, request, 1)
      assert.deepEqual([headers.get('access-control-allow-origin'), headers.get('vary'), headers.get('cache-control')], [null, null, 'no-store'])
    })

    test(`has a log line (${request.params.name})`, async () => {
      const id = `logged ${request.params.name}`
      await ask(worker, { ...request, headers: { 'cf-ray': '8f3b-AMS' } }, id)
      const [line] = /\{"event":"request".*/.exec(await worker.logged(new RegExp(`.*"id":"\\\\"${id}.*`)))
      const { ms, request_id: requestId, ...rest } = JSON.parse(line)
      assert.deepEqual(rest, {
        event: 'request', method: 'tools/call', target: request.params.name, era: 'modern', status: 200, error: -32603, id: `"${id}"`,
      })
      assert.ok(Number.isInteger(ms) && ms >= 0, line)
      assert.equal(typeof requestId, 'string')
    })
  }

  test('of another call has its exact id, its headers and its log line', async () => {
    const Origin = 'http://localhost:5173'
    const wait = tool('wait', { ms: LONG })
    const waiting = send(worker, { ...wait, headers: { Origin } }, null, withId(wait, ID))
    await sleep(300)
    assertCrashed(await ask(worker, now, 1), 1)
    const response = await waiting
    assert.equal(await response.text(), error(ID, INTERRUPTED))
    const { headers } = response
    assert.deepEqual(
      [response.status, headers.get('retry-after'), headers.get('access-control-allow-origin'), headers.get('cache-control')],
      [503, '1', Origin, 'no-store'])
    await worker.logged(new RegExp(`"target":"wait".*"id":"${ID}".*"status":503,"error":-32603`))
  })

  test('has no id if the id is longer than 16 KiB', async () => {
    const { status, body } = await ask(worker, later, 'x'.repeat(16 * 1024))
    assert.deepEqual([status, body.id, body.error.code], [200, undefined, -32603])
    assertCrashed(await ask(worker, later, 'x'.repeat(16 * 1024 - 2)), 'x'.repeat(16 * 1024 - 2))
  })
})

describe('a crash with other pending calls:', () => {
  const withPendingCalls = async (work) => {
    const waits = Array.from({ length: 10 }, (_, n) => ask(worker, tool('wait', { ms: LONG }), `wait ${n}`))
    // The loop below awaits each promise and reports its error. Without these handlers, an earlier rejection would end the process.
    for (const wait of waits) wait.catch(() => {})
    const streamed = await stream(worker, tool('tell', { ms: LONG }, PROGRESS_META), 'pending stream')
    // The module starts to work on a call soon after the test sends it. No event shows when, so wait.
    await sleep(300)
    await work()
    for (const [n, wait] of waits.entries()) assertInterrupted(await wait, `wait ${n}`)
    const { id, error } = await streamed.last
    assert.deepEqual([id, error.code], ['pending stream', -32603])
    assert.match(error.message, /^The server restarted/)
    await assertServing(worker)
  }

  for (const [name, request] of CRASHES) {
    test(name, () => withPendingCalls(async () => assertCrashed(await ask(worker, request, 'breaks'), 'breaks')))
  }

  for (const how of CRASH_KINDS) {
    test(`${how} in a stream`, () => withPendingCalls(async () => {
      const { last } = await stream(worker, tool('break_telling', { how }, PROGRESS_META), 'streamed')
      assert.match((await last).error.message, /failed to answer/)
    }))
  }

  test('requests with incomplete bodies are answered or get a 503', async () => {
    const slow = (id) => {
      const body = JSON.stringify({ jsonrpc: '2.0', id, ...tool('echo', { text: id }) })
      return new ReadableStream({
        async start(controller) {
          controller.enqueue(Buffer.from(body.slice(0, 20)))
          await sleep(600)
          controller.enqueue(Buffer.from(body.slice(20)))
          controller.close()
        },
      })
    }
    const ids = ['a', 'b', 'c']
    const sent = ids.map((id) => ask(worker, tool('echo'), id, slow(id)))
    await sleep(200)
    assertCrashed(await ask(worker, tool('break', { how: 'panic' }), 1), 1)
    for (const [n, id] of ids.entries()) {
      const answer = await sent[n]
      if (answer.status === 200) assertAnswered(answer, id, id)
      // The body was incomplete, so the server had not read the id.
      else assert.deepEqual([answer.status, answer.retryAfter, answer.body.error.code], [503, '1', -32603])
    }
    await assertServing(worker)
  })
})

test('timers of a crashed instance do not affect the next instance', async (t) => {
  const own = await startWorkerd()
  t.after(() => own.stop())
  // The timers of a stream outlive the stream, because the runtime gives it time for cleanup. The test lets the timers fire while the
  // server is idle, and while the next instance works.
  const crash = async (...times) => {
    const streams = await Promise.all(times.map((ms) => stream(own, tool('tell', { ms }, PROGRESS_META), ms)))
    assertCrashed(await ask(own, tool('break', { how: 'panic' }), 1), 1)
    for (const [n, { last }] of streams.entries()) assert.equal((await last).id, times[n])
  }
  await crash(500, 700)
  await sleep(1000)
  await crash(500, 700)
  const times = Array.from({ length: 20 }, (_, n) => n * 50)
  const next = await Promise.all(times.map((ms) => ask(own, tool('wait', { ms }), ms)))
  next.forEach((answer, n) => assertAnswered(answer, times[n], `waited ${times[n]}`))
  // A panic executes `unreachable`. Any other RuntimeError shows that code ran with values of another instance.
  assert.doesNotMatch(own.logs(), /RuntimeError: (?!unreachable)/)
})

test('if one call in fifty crashes, each other call gets its answer or a 503', async () => {
  const outcomes = { answered: 0, crashed: 0, interrupted: 0 }
  const one = async (n) => {
    const id = n % 2 ? n : `call ${n}`
    const period = Math.floor(n / 50)
    const isToCrash = n % 50 === 7
    const [request, text] = isToCrash
      ? [tool(period % 2 ? 'break' : 'break_later', { how: CRASH_KINDS[period % CRASH_KINDS.length] })]
      : [
        [tool('echo', { text: `said ${n}` }), `said ${n}`],
        [tool('wait', { ms: n % 40 }), `waited ${n % 40}`],
        [tool('tell', { ms: n % 30 }), `told and waited ${n % 30}`],
      ][n % 3]
    const answer = await ask(worker, request, id)
    // A call that is to crash can also get a 503, because another call can crash first. If the module has not read a call yet, the 503
    // has no id.
    if (answer.status === 503) assertInterrupted(answer, answer.body.id === undefined ? undefined : id)
    else if (isToCrash) assertCrashed(answer, id)
    else assertAnswered(answer, id, text)
    outcomes[answer.status === 503 ? 'interrupted' : isToCrash ? 'crashed' : 'answered'] += 1
  }
  let next = 0
  await Promise.all(Array.from({ length: 20 }, async () => {
    while (next < 1000) await one(next++)
  }))
  assert.ok(outcomes.crashed > 0 && outcomes.answered > 500, JSON.stringify(outcomes))
  await assertServing(worker)
})

test('the warm-up call writes no log line', () => {
  assert.doesNotMatch(worker.logs(), /"event":"warm-up"|"target":"repeat"/)
})

test('a server that crashes during the warm-up serves the first request', async (t) => {
  const own = await startWorkerd({ vars: { FRAGILE: 'yes' } })
  t.after(() => own.stop())
  assert.match(own.logs(), /panicked at/)
  assertAnswered(await ask(own, tool('echo', { text: 'alive' }), 1), 1, 'alive')
})
