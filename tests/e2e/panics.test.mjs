// A module that breaks: who asked for it is told, who waits beside it is told at once, and the next is served.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { ENVELOPE, NEWEST } from './ask.mjs'
import { startWorker } from './worker.mjs'

/** Longer than a test may take: what waits as long was not answered because it was done. */
const LONG = 25_000
/** Within this everything is answered that is not left hanging. */
const LIMIT = 15_000

const KINDS = ['panic', 'overflow', 'recursion', 'exhaustion']

let worker
before(async () => { worker = await startWorker({ name: 'faults' }) })
after(() => worker?.stop())

const tool = (name, args = {}, meta = {}) => ({ method: 'tools/call', params: { name, arguments: args, _meta: { ...ENVELOPE, ...meta } } })

/** Everything that can be told to break, by what it is. */
const BREAKS = [
  ...KINDS.flatMap((how) => [
    [`${how} at once`, tool('break', { how })],
    [`${how} after a while`, tool('break_later', { how })],
  ]),
  ['panic of a resource', { method: 'resources/read', params: { uri: 'faults://break', _meta: ENVELOPE } }],
  ['panic of a prompt', { method: 'prompts/get', params: { name: 'break', _meta: ENVELOPE } }],
  ['panic of the server function', { ...tool('echo', { text: 'x' }), headers: { Break: 'panic' } }],
  ['overflow in the server function', { ...tool('echo', { text: 'x' }), headers: { Break: 'overflow' } }],
]

function open({ method, params, headers = {} }, id, body = JSON.stringify({ jsonrpc: '2.0', id, method, params }), to = worker) {
  return fetch(to.url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': NEWEST, 'Mcp-Method': method,
      ...(params.name || params.uri ? { 'Mcp-Name': params.name ?? params.uri } : {}), ...headers,
    },
    body,
    duplex: 'half',
    signal: AbortSignal.timeout(LIMIT),
  })
}

async function ask(request, id, body, to) {
  const response = await open(request, id, body, to)
  const text = await response.text()
  try {
    return { status: response.status, retryAfter: response.headers.get('retry-after'), body: JSON.parse(text) }
  } catch {
    assert.fail(`${response.status} ${text.slice(0, 500)}`)
  }
}

/** Begins a stream that goes on for long. `rest` gives what comes after its first event. */
async function stream(request, id, from) {
  const response = await open(request, id, undefined, from)
  assert.match(response.headers.get('content-type'), /^text\/event-stream/)
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader()
  const { value } = await reader.read()
  assert.match(value, /"began"/)
  const rest = (async () => {
    let text = ''
    for (;;) {
      const { done, value } = await reader.read()
      if (done) break
      text += value
    }
    return text.split('\n').filter((line) => line.startsWith('data: ')).map((line) => JSON.parse(line.slice(6)))
  })()
  rest.catch(() => {})
  return { rest }
}

function isBroken({ status, body }, id) {
  assert.deepEqual([status, body.jsonrpc, body.error?.code, body.id], [200, '2.0', -32603, id], JSON.stringify(body))
  assert.equal(body.error.message, 'The server failed for a reason that is not yours. Its log says why.')
}

function isInterrupted({ status, retryAfter, body }, id) {
  assert.deepEqual([status, retryAfter, body.error?.code, body.id], [503, '1', -32603, id], JSON.stringify(body))
  assert.match(body.error.message, /^The server has started anew/)
}

async function isServed(text = 'whole again') {
  const { status, body } = await ask(tool('echo', { text }), 'next')
  assert.deepEqual([status, body.id, body.result?.content[0].text], [200, 'next', text], JSON.stringify(body))
}

const progress = { progressToken: 'p' }

describe('alone', () => {
  for (const [name, request] of BREAKS) {
    test(name, async () => {
      isBroken(await ask(request, `id of ${name}`), `id of ${name}`)
      await isServed()
    })
  }

  test('two in a row, and what is between them', async () => {
    for (const how of ['panic', 'recursion', 'panic', 'overflow']) {
      isBroken(await ask(tool('break', { how }), 1), 1)
      isBroken(await ask(tool('break_later', { how }), 2), 2)
    }
    await isServed()
  })

  for (const how of KINDS) {
    test(`${how} in a stream: its last event says so`, async () => {
      const { rest } = await stream(tool('break_telling', { how }, progress), 'streamed')
      const last = (await rest).at(-1)
      assert.deepEqual([last?.id, last?.error?.code], ['streamed', -32603])
      await isServed()
    })
  }
})

describe('whose id', () => {
  for (const request of [tool('break', { how: 'panic' }), tool('break_later', { how: 'panic' })]) {
    for (const id of ['text', '', '1', 0, -7, 9007199254740991, 'ü"\\ 😀', 'x'.repeat(1000)]) {
      test(`${JSON.stringify(id).slice(0, 40)} of ${request.params.name}`, async () => isBroken(await ask(request, id), id))
    }

    test(`a body that is long, or comes in pieces, of ${request.params.name}`, async () => {
      const body = JSON.stringify({ jsonrpc: '2.0', id: 'far', ...request }).padEnd(100_000)
      isBroken(await ask(request, 'far', body), 'far')
      isBroken(await ask(request, 'far', new Blob([body]).stream()), 'far')
      isBroken(await ask(request, 'far', new Blob([body.trimEnd()]).stream()), 'far')
      await isServed()
    })

    test(`each of a batch with ${request.params.name}`, async () => {
      const { name, arguments: args } = request.params
      const batch = [['a', 'echo', { text: 'x' }], ['b', name, args], [3, 'echo', { text: 'y' }]]
        .map(([id, name, args]) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name, arguments: args } }))
      batch.push({ jsonrpc: '2.0', method: 'notifications/initialized' })
      const response = await fetch(worker.url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2025-03-26' },
        body: JSON.stringify(batch),
        signal: AbortSignal.timeout(LIMIT),
      })
      const answers = await response.json()
      assert.deepEqual(answers.map(({ id, error }) => [id, error.code]), [['a', -32603], ['b', -32603], [3, -32603]])
      await isServed()
    })
  }
})

describe('beside others', () => {
  const beside = async (work) => {
    const waits = Array.from({ length: 10 }, (_, n) => ask(tool('wait', { ms: LONG }), `wait ${n}`))
    // Whichever of them fails is told of below.
    for (const wait of waits) wait.catch(() => {})
    const { rest } = await stream(tool('tell', { ms: LONG }, progress), 'told')
    await areWaiting(10)
    await work()
    for (const [n, wait] of waits.entries()) isInterrupted(await wait, `wait ${n}`)
    const last = (await rest).at(-1)
    assert.deepEqual([last?.id, last?.error?.code], ['told', -32603])
    assert.match(last.error.message, /^The server has started anew/)
    await isServed()
  }
  // A call is at work within the module soon after it is sent; nothing tells when.
  const areWaiting = () => sleep(300)

  for (const [name, request] of BREAKS) {
    test(name, () => beside(async () => isBroken(await ask(request, 'breaks'), 'breaks')))
  }

  for (const how of KINDS) {
    test(`${how} in a stream`, () => beside(async () => {
      const { rest } = await stream(tool('break_telling', { how }, progress), 'streamed')
      assert.match((await rest).at(-1)?.error.message, /not yours/)
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
    const sent = ['a', 'b', 'c'].map((id) => ask(tool('echo'), id, slow(id)))
    await sleep(200)
    isBroken(await ask(tool('break', { how: 'panic' }), 1), 1)
    for (const [n, id] of ['a', 'b', 'c'].entries()) {
      const answer = await sent[n]
      if (answer.status === 200) assert.deepEqual([answer.body.id, answer.body.result.content[0].text], [id, id])
      // Its body was not there yet, and neither was its id.
      else assert.deepEqual([answer.status, answer.retryAfter, answer.body.error.code], [503, '1', -32603])
    }
    await isServed()
  })
})

test('what an instance has left behind does not reach the next one', async (t) => {
  const own = await startWorker({ name: 'faults' })
  t.after(() => own.stop())
  // A stream's timers outlive it: the runtime gives it time to put things in order. They run out while nothing happens, and while the
  // next instance works.
  const broken = async (...times) => {
    const streams = await Promise.all(times.map((ms) => stream(tool('tell', { ms }, progress), ms, own)))
    isBroken(await ask(tool('break', { how: 'panic' }), 1, undefined, own), 1)
    for (const [n, { rest }] of streams.entries()) assert.equal((await rest).at(-1).id, times[n])
  }
  await broken(500, 700)
  await sleep(1000)
  await broken(500, 700)
  const times = Array.from({ length: 20 }, (_, n) => n * 50)
  const next = await Promise.all(times.map((ms) => ask(tool('wait', { ms }), ms, undefined, own)))
  next.forEach(({ body }, n) => assert.deepEqual([body.id, body.result.content[0].text], [times[n], `waited ${times[n]}`]))
  // A panic ends in an `unreachable`. Any other error is of code that was called with what is not its own.
  assert.doesNotMatch(own.logs(), /RuntimeError: (?!unreachable)/)
})

test('one call in fifty breaks: every other is answered rightly, or told to come again', async () => {
  const outcomes = { right: 0, broken: 0, interrupted: 0 }
  const one = async (n) => {
    const id = n % 2 ? n : `call ${n}`
    if (n % 50 === 7) {
      const how = KINDS[(n / 50 | 0) % KINDS.length]
      const answer = await ask(tool((n / 50 | 0) % 2 ? 'break' : 'break_later', { how }), id)
      // Another may break first.
      if (answer.status === 503) isInterrupted(answer, id)
      else isBroken(answer, id)
      outcomes.broken += 1
      return
    }
    const [request, text] = [
      [tool('echo', { text: `said ${n}` }), `said ${n}`],
      [tool('wait', { ms: n % 40 }), `waited ${n % 40}`],
      [tool('tell', { ms: n % 30 }), `told and waited ${n % 30}`],
    ][n % 3]
    const answer = await ask(request, id)
    if (answer.status === 503) {
      isInterrupted(answer, id)
      outcomes.interrupted += 1
    } else {
      assert.deepEqual([answer.status, answer.body.id, answer.body.result?.content[0].text], [200, id, text], JSON.stringify(answer.body))
      outcomes.right += 1
    }
  }
  let next = 0
  await Promise.all(Array.from({ length: 20 }, async () => {
    while (next < 1000) await one(next++)
  }))
  assert.equal(outcomes.broken, 20)
  assert.ok(outcomes.right > 500, JSON.stringify(outcomes))
  await isServed()
})
