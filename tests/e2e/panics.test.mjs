// A module that breaks: who asked for it is told, who waits beside it is told at once, and the next is served.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { KINDS, PANICS, PROGRESS, ask, askBatch, isBroken, isInterrupted, isRight, isServed, send, stream, tool } from './breaking.mjs'
import { startWorker } from './worker.mjs'

/** Longer than a test may take: what waits as long was not answered because it was done. */
const LONG = 25_000

let worker
before(async () => { worker = await startWorker({ name: 'faults' }) })
after(() => worker?.stop())

const BREAKS = [
  ...PANICS,
  ...KINDS.filter((how) => how !== 'panic').flatMap((how) => [
    [`${how} at once`, tool('break', { how })],
    [`${how} after a while`, tool('break_later', { how })],
  ]),
  ['overflow in the server function', { ...tool('echo', { text: 'x' }), headers: { Break: 'overflow' } }],
]

describe('alone', () => {
  for (const [name, request] of BREAKS) {
    test(name, async () => {
      isBroken(await ask(worker, request, `id of ${name}`), `id of ${name}`)
      await isServed(worker)
    })
  }

  test('two in a row, and what is between them', async () => {
    for (const how of ['panic', 'recursion', 'panic', 'overflow']) {
      isBroken(await ask(worker, tool('break', { how }), 1), 1)
      isBroken(await ask(worker, tool('break_later', { how }), 2), 2)
    }
    await isServed(worker)
  })

  for (const how of KINDS) {
    test(`${how} in a stream: its last event says so`, async () => {
      const { id, error } = await (await stream(worker, tool('break_telling', { how }, PROGRESS), 'streamed')).last
      assert.deepEqual([id, error.code], ['streamed', -32603])
      await isServed(worker)
    })
  }

  test('in the first request of all', async (t) => {
    const fresh = await startWorker({ name: 'faults' })
    t.after(() => fresh.stop())
    isBroken(await ask(fresh, tool('break', { how: 'overflow' }), 1), 1)
    await isServed(fresh)
  })
})

describe('whose id', () => {
  for (const request of [tool('break', { how: 'panic' }), tool('break_later', { how: 'panic' })]) {
    for (const id of ['text', '', '1', 0, -7, 9007199254740991, 'ü"\\ 😀', 'x'.repeat(1000)]) {
      test(`${JSON.stringify(id).slice(0, 40)} of ${request.params.name}`, async () => isBroken(await ask(worker, request, id), id))
    }

    test(`a body that is long, or comes in pieces, of ${request.params.name}`, async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 'far', ...request }).padEnd(100_000)
      for (const sent of [body, new Blob([body]).stream(), new Blob([body.trimEnd()]).stream()]) {
        isBroken(await ask(worker, request, 'far', sent), 'far')
      }
      await isServed(worker)
    })

    test(`each of a batch with ${request.params.name}`, async () => {
      const { name, arguments: args } = request.params
      const answers = await askBatch(worker, [['a', 'echo', { text: 'x' }], ['b', name, args], [3, 'echo', { text: 'y' }]])
      assert.deepEqual(answers.map(({ id, error }) => [id, error.code]), [['a', -32603], ['b', -32603], [3, -32603]])
      await isServed(worker)
    })
  }
})

describe('the answers of a broken module are like those of a whole one', () => {
  const ID = '9007199254740993'
  const of = ({ method, params }, id) => JSON.stringify({ jsonrpc: '2.0', method, params }).replace('{', `{"id":${id},`)
  const error = (id, message) => `{"jsonrpc":"2.0","id":${id},"error":${JSON.stringify({ code: -32603, message })}}`
  const BROKEN = 'The server failed to answer this request. Its log says why.'
  const INTERRUPTED = 'The server restarted because another call crashed it. Send this call again.'
  const now = tool('break', { how: 'panic' })
  const later = tool('break_later', { how: 'panic' })

  for (const request of [now, later]) {
    for (const id of [ID, `-${ID}`, '"\\u0061\\/é"', '18446744073709551616000000000']) {
      test(`the id ${id} of ${request.params.name} is returned as it was sent`, async () => {
        assert.equal(await (await send(worker, request, null, of(request, id))).text(), error(id, BROKEN))
      })
    }

    test(`each id of a batch with ${request.params.name} is returned as it was sent`, async () => {
      const ids = [ID, '"\\u0062"', '7']
      const plain = (name, args) => ({ method: 'tools/call', params: { name, arguments: args } })
      const { name, arguments: args } = request.params
      const calls = [plain('echo', { text: 'x' }), plain(name, args), plain('echo', { text: 'y' })].map((each, n) => of(each, ids[n]))
      const batch = { ...request, headers: { 'MCP-Protocol-Version': '2025-03-26' } }
      const body = `[${calls},{"jsonrpc":"2.0","method":"notifications/initialized"}]`
      assert.equal(await (await send(worker, batch, null, body)).text(), `[${ids.map((id) => error(id, BROKEN))}]`)
    })

    test(`a page of an allowed origin can read the answer to ${request.params.name}`, async () => {
      const Origin = 'http://localhost:5173'
      const whole = await send(worker, { ...tool('echo', { text: 'x' }), headers: { Origin } }, 1)
      const broken = await send(worker, { ...request, headers: { Origin } }, 1)
      isBroken({ status: broken.status, body: await broken.json() }, 1)
      const names = ['access-control-allow-origin', 'access-control-expose-headers', 'vary', 'cache-control', 'content-type']
      const headersOf = (response) => names.map((name) => response.headers.get(name))
      assert.deepEqual(headersOf(broken), headersOf(whole))
      assert.deepEqual([broken.headers.get('access-control-allow-origin'), broken.headers.get('cache-control')], [Origin, 'no-store'])
    })

    test(`without an origin, the answer to ${request.params.name} has no CORS headers`, async () => {
      const { headers } = await send(worker, request, 1)
      assert.deepEqual([headers.get('access-control-allow-origin'), headers.get('vary'), headers.get('cache-control')], [null, null, 'no-store'])
    })

    test(`a log line is written for ${request.params.name}`, async () => {
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

  test('a call beside the one that breaks gets its exact id, its headers and its log line', async () => {
    const Origin = 'http://localhost:5173'
    const wait = tool('wait', { ms: LONG })
    const waiting = send(worker, { ...wait, headers: { Origin } }, null, of(wait, ID))
    await sleep(300)
    isBroken(await ask(worker, now, 1), 1)
    const response = await waiting
    assert.equal(await response.text(), error(ID, INTERRUPTED))
    const { headers } = response
    assert.deepEqual(
      [response.status, headers.get('retry-after'), headers.get('access-control-allow-origin'), headers.get('cache-control')],
      [503, '1', Origin, 'no-store'])
    await worker.logged(new RegExp(`"target":"wait".*"id":"${ID}".*"status":503,"error":-32603`))
  })

  test('an id that is too long to be kept is left out', async () => {
    const { status, body } = await ask(worker, later, 'x'.repeat(16 * 1024))
    assert.deepEqual([status, body.id, body.error.code], [200, undefined, -32603])
    isBroken(await ask(worker, later, 'x'.repeat(16 * 1024 - 2)), 'x'.repeat(16 * 1024 - 2))
  })
})

describe('beside others', () => {
  const beside = async (work) => {
    const waits = Array.from({ length: 10 }, (_, n) => ask(worker, tool('wait', { ms: LONG }), `wait ${n}`))
    // Whichever of them fails is told of below.
    for (const wait of waits) wait.catch(() => {})
    const told = await stream(worker, tool('tell', { ms: LONG }, PROGRESS), 'told')
    // A call is at work within the module soon after it is sent; nothing tells when.
    await sleep(300)
    await work()
    for (const [n, wait] of waits.entries()) isInterrupted(await wait, `wait ${n}`)
    const { id, error } = await told.last
    assert.deepEqual([id, error.code], ['told', -32603])
    assert.match(error.message, /^The server restarted/)
    await isServed(worker)
  }

  for (const [name, request] of BREAKS) {
    test(name, () => beside(async () => isBroken(await ask(worker, request, 'breaks'), 'breaks')))
  }

  for (const how of KINDS) {
    test(`${how} in a stream`, () => beside(async () => {
      const { last } = await stream(worker, tool('break_telling', { how }, PROGRESS), 'streamed')
      assert.match((await last).error.message, /failed to answer/)
    }))
  }

  test('bodies that are still being sent: they are served or told to come again', async () => {
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
    isBroken(await ask(worker, tool('break', { how: 'panic' }), 1), 1)
    for (const [n, id] of ids.entries()) {
      const answer = await sent[n]
      if (answer.status === 200) isRight(answer, id, id)
      // Its body was not there yet, and neither was its id.
      else assert.deepEqual([answer.status, answer.retryAfter, answer.body.error.code], [503, '1', -32603])
    }
    await isServed(worker)
  })
})

test('what an instance has left behind does not reach the next one', async (t) => {
  const own = await startWorker({ name: 'faults' })
  t.after(() => own.stop())
  // A stream's timers outlive it: the runtime gives it time to put things in order. They run out while nothing happens, and while the
  // next instance works.
  const broken = async (...times) => {
    const streams = await Promise.all(times.map((ms) => stream(own, tool('tell', { ms }, PROGRESS), ms)))
    isBroken(await ask(own, tool('break', { how: 'panic' }), 1), 1)
    for (const [n, { last }] of streams.entries()) assert.equal((await last).id, times[n])
  }
  await broken(500, 700)
  await sleep(1000)
  await broken(500, 700)
  const times = Array.from({ length: 20 }, (_, n) => n * 50)
  const next = await Promise.all(times.map((ms) => ask(own, tool('wait', { ms }), ms)))
  next.forEach((answer, n) => isRight(answer, times[n], `waited ${times[n]}`))
  // A panic ends in an `unreachable`. Any other error is of code that was called with what is not its own.
  assert.doesNotMatch(own.logs(), /RuntimeError: (?!unreachable)/)
})

test('one call in fifty breaks: every other is answered rightly, or told to come again', async () => {
  const outcomes = { right: 0, broken: 0, interrupted: 0 }
  const one = async (n) => {
    const id = n % 2 ? n : `call ${n}`
    const period = Math.floor(n / 50)
    const isToBreak = n % 50 === 7
    const [request, text] = isToBreak
      ? [tool(period % 2 ? 'break' : 'break_later', { how: KINDS[period % KINDS.length] })]
      : [
        [tool('echo', { text: `said ${n}` }), `said ${n}`],
        [tool('wait', { ms: n % 40 }), `waited ${n % 40}`],
        [tool('tell', { ms: n % 30 }), `told and waited ${n % 30}`],
      ][n % 3]
    const answer = await ask(worker, request, id)
    // Also to one that is to break: another may do so first. A call that the module has not read yet is answered without an id.
    if (answer.status === 503) isInterrupted(answer, answer.body.id === undefined ? undefined : id)
    else if (isToBreak) isBroken(answer, id)
    else isRight(answer, id, text)
    outcomes[answer.status === 503 ? 'interrupted' : isToBreak ? 'broken' : 'right'] += 1
  }
  let next = 0
  await Promise.all(Array.from({ length: 20 }, async () => {
    while (next < 1000) await one(next++)
  }))
  assert.ok(outcomes.broken > 0 && outcomes.right > 500, JSON.stringify(outcomes))
  await isServed(worker)
})

test('the warm-up call is answered, and not logged', () => {
  assert.doesNotMatch(worker.logs(), /"event":"warm-up"|"target":"repeat"/)
})

test('a server that breaks before its first request, in the warm-up, is served', async (t) => {
  const own = await startWorker({ name: 'faults', vars: { FRAGILE: 'yes' } })
  t.after(() => own.stop())
  assert.match(own.logs(), /panicked at/)
  isRight(await ask(own, tool('echo', { text: 'alive' }), 1), 1, 'alive')
})
