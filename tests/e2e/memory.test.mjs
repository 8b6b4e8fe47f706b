// Tests the memory of the module in workerd: the memory that it holds after requests, and the maximum that one request allocates.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { COSTLY } from '../stress/costly.mjs'
import { HOSTILE } from '../stress/hostile.mjs'
import { ask, assertCrashed, tool } from './faults.mjs'
import { NEWEST, legacy, post } from './requests.mjs'
import { startWorkerd } from './workerd.mjs'

const MIB = 2 ** 20

/** The default limit of a body in bytes. */
const BODY = 4 * MIB

/** The time in milliseconds for which a test waits: more than the deadline of `hold` (3 s), and less than that of `linger` (60 s). */
const WAIT_MS = 10_000

let worker
before(async () => { worker = await startWorkerd() })
after(() => worker?.stop())

/** Crashes the module, so that each test starts with a new instance. */
beforeEach(async () => assertCrashed(await ask(worker, tool('break', { how: 'panic' }), 1), 1))

/** Returns numbers of bytes: `live` is the allocated memory, `peak` its maximum, and `linear` the linear memory of the module. */
const memory = async () => (await legacy(worker, 'tools/call', { name: 'memory' })).body.result.structuredContent

/** Waits at most `WAIT_MS` until the memory satisfies `condition`. Returns the last memory. */
async function memoryWhen(condition) {
  const end = Date.now() + WAIT_MS
  for (;;) {
    const now = await memory()
    if (condition(now) || Date.now() > end) return now
    await sleep(50)
  }
}

/** Whether `now` differs from `then` by at most `share` of `then`. */
const isWithin = (share, now, then) => Math.abs(now - then) <= then * share

describe('rejected requests leave no memory allocated', () => {
  const call = (name, args, more = '') => ({
    body: `{"jsonrpc":"2.0","id":"hostile"${more},"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`,
    headers: { 'MCP-Protocol-Version': '2025-11-25' },
  })
  const REFUSED = [
    ...HOSTILE,
    call('paint', '{"pixels":["A","Z"]}'), call('paint', `{"pixels":[${Array(200).fill('7')}]}`), call('paint', '{"pixels":{}}'),
    call('calculate', '{"expression":{"op":"add","left":{"op":"lit","value":"x"},"right":{"op":"lit","value":1}}}'),
    call('calculate', '{"expression":{"op":"none"}}'), call('take_number', '{"value":0.001}'), call('take_number', `{"value":-${'7'.repeat(500)}}`),
    call('take_unique', `{"value":[${Array(100).fill('{"a":[1]}')}]}`), call('take', `{"value":"${'x'.repeat(50_000)}"`),
    call('take', `{"value":{${Array.from({ length: 100 }, (_, n) => `"k${n % 99}":0`)}}}`),
    call('echo', `{"text":["${'x'.repeat(20_000)}"]}`), call('echo', '{}', `,"${'k'.repeat(50_000)}":1`),
    call('nothing', `{"${'k'.repeat(50_000)}":1}`), call('echo', '{"text":7}', `,"params":{}`),
    { ...call('echo', '{"text":7}'), body: `{"jsonrpc":"2.0","id":"${'i'.repeat(50_000)}","method":"${'m'.repeat(50_000)}"}` },
    { ...call('echo', '{}'), body: Buffer.concat([Buffer.from('{"id":1,"x":"'), Buffer.alloc(50_000, 0xff), Buffer.from('"}')]) },
  ]

  const round = async (requests) => {
    let next = 0
    await Promise.all(Array.from({ length: 20 }, async () => {
      while (next < requests) {
        const { body, headers } = REFUSED[next++ % REFUSED.length]
        const { status, body: answer } = await post(worker, body, headers)
        const [first] = [answer].flat()
        assert.ok(status < 500 && (first === undefined || first.error || first.result), `${status} ${body.slice(0, 100)}`)
      }
    }))
  }

  test('after 1 000 requests, and after 1 000 more', async () => {
    await round(REFUSED.length)
    const warm = await memory()
    await round(1000)
    const first = await memory()
    assert.ok(isWithin(0.05, first.live, warm.live), `${warm.live} → ${first.live} bytes of live memory`)
    await round(1000)
    const second = await memory()
    assert.ok(isWithin(0.05, second.live, warm.live), `${warm.live} → ${second.live} bytes of live memory`)
    assert.equal(second.linear, first.linear)
  })
})

describe('pending calls', () => {
  const CALLS = 100

  /** The minimum number of bytes that a pending call holds. */
  const CALL = 4096

  /** Sends a call that waits until its deadline. */
  const begin = (name, args, signal, accept = 'application/json', meta = {}) => fetch(worker.url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json', Accept: accept, 'MCP-Protocol-Version': NEWEST, 'Mcp-Method': 'tools/call', 'Mcp-Name': name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 'held', ...tool(name, args, meta) }),
    signal,
  })

  /** Sends many calls, and disconnects their clients when the module holds the calls. Returns the memory after their release. */
  const callAndDisconnect = async (open, start) => {
    const disconnect = new AbortController()
    const calls = Array.from({ length: CALLS }, () => open(disconnect.signal))
    for (const call of calls) call.catch(() => {})
    const held = await memoryWhen(({ live }) => live > start.live + CALLS * CALL)
    assert.ok(held.live > start.live + CALLS * CALL, 'the pending calls hold memory')
    disconnect.abort()
    await Promise.allSettled(calls)
    return memoryWhen(({ live }) => isWithin(0.1, live, start.live))
  }

  /**
   * Asserts that calls release their memory when their clients disconnect. `open` sends a call that does not end. Lists in the module grow
   * with the number of calls and keep their capacity. So the test first makes the same number of `short` calls, which end.
   */
  const assertReleased = async (open, short) => {
    await Promise.all(Array.from({ length: CALLS }, async () => (await short()).text()))
    const start = await memory()
    const end = await callAndDisconnect(open, start)
    assert.ok(isWithin(0.1, end.live, start.live), `${start.live} → ${end.live} bytes of live memory`)
  }

  const countInterrupted = () => (worker.logs().match(/"status":503/g) ?? []).length

  /** Asserts that no call is pending. A crash ends all pending calls that JavaScript has stored, and writes a log line for each. */
  const assertNonePending = async (id) => {
    const before = countInterrupted()
    assertCrashed(await ask(worker, tool('break', { how: 'panic' }), id), id)
    await worker.logged(new RegExp(`"id":"\\\\"${id}`))
    // Each interrupted call would write its own log line. No event shows that there are no more lines, so wait.
    await sleep(300)
    assert.equal(countInterrupted(), before)
  }

  test('release their memory if their clients disconnect before a JSON response', async () => {
    await assertReleased((signal) => begin('hold', {}, signal), () => begin('wait', { ms: 500 }))
    await assertNonePending('after JSON')
  })

  test('release their memory long before the deadline if their clients disconnect from a stream', async () => {
    const stream = (name, args, signal) => begin(name, args, signal, 'application/json, text/event-stream', { progressToken: 1 })
    await assertReleased(
      async (signal) => (await stream('linger', {}, signal)).body.getReader().read(),
      () => stream('tell', { ms: 500 }),
    )
    await assertNonePending('after streams')
  })

  test('do not hold their bodies', async () => {
    const bodies = 40
    const start = await memory()
    const calls = Array.from({ length: bodies }, () => begin('hold', { text: 'x'.repeat(MIB) }))
    const areHeld = ({ live }) => live > start.live + bodies * CALL && live < start.live + bodies * MIB / 10
    const held = await memoryWhen(areHeld)
    assert.ok(areHeld(held), `${bodies} calls of 1 MiB hold ${held.live - start.live} bytes`)
    for (const call of calls) assert.equal((await (await call).json()).result.isError, true)
    const end = await memoryWhen(({ live }) => isWithin(0.1, live, start.live))
    assert.ok(isWithin(0.1, end.live, start.live), `${start.live} → ${end.live} bytes of live memory`)
  })
})

describe('one request needs at most four times the limit of a body, plus 16 MiB', () => {
  for (const { name, body, headers, says } of COSTLY) {
    test(name, async (t) => {
      const { live } = await memory()
      const { status, body: answer } = await post(worker, body(), headers)
      assert.ok(status < 500)
      const [{ result, error }] = [answer].flat()
      assert.match(error?.message ?? result.content[0].text, says)
      const after = await memory()
      t.diagnostic(`${(after.linear / MIB).toFixed(1)} MiB of linear memory`)
      assert.ok(after.linear <= 4 * BODY + 16 * MIB, `${(after.linear / MIB).toFixed(1)} MiB, of which ${(after.peak / MIB).toFixed(1)} were allocated`)
      assert.ok(isWithin(0.05, after.live, live), `${live} → ${after.live} bytes of live memory`)
    })
  }
})
