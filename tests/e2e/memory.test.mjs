// The memory of the module in workerd: what it holds after requests, and what one request makes it allocate at most.

import assert from 'node:assert/strict'
import { after, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'

import { COSTLY } from '../stress/costly.mjs'
import { HOSTILE } from '../stress/hostile.mjs'
import { NEWEST, legacy, post } from './requests.mjs'
import { ask, assertCrashed, tool } from './faults.mjs'
import { startWorkerd } from './workerd.mjs'

const MIB = 2 ** 20

/** The default limit of a body. */
const BODY = 4 * MIB

/** Milliseconds that a test waits: longer than the deadline of the tool `hold`, 3 s, and shorter than that of `linger`, 60 s. */
const WAIT_MS = 10_000

let worker
before(async () => { worker = await startWorkerd() })
after(() => worker?.stop())

/** A module without a past: the one before it breaks. */
beforeEach(async () => assertCrashed(await ask(worker, tool('break', { how: 'panic' }), 1), 1))

/** Bytes: `live` are allocated now, `peak` were at one time, `linear` is the module's memory. */
const memory = async () => (await legacy(worker, 'tools/call', { name: 'memory' })).body.result.structuredContent

/** Waits until `holds` of the memory, and gives that memory; after `WAIT_MS`, the last one. */
async function memoryOnce(holds) {
  const end = Date.now() + WAIT_MS
  for (;;) {
    const now = await memory()
    if (holds(now) || Date.now() > end) return now
    await sleep(50)
  }
}

const isWithin = (share, now, then) => Math.abs(now - then) <= then * share

describe('requests that are refused leave nothing behind', () => {
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

  test('a thousand of them, and a thousand again', async () => {
    await round(REFUSED.length)
    const warm = await memory()
    await round(1000)
    const first = await memory()
    assert.ok(isWithin(0.05, first.live, warm.live), `${warm.live} → ${first.live} bytes are live`)
    await round(1000)
    const second = await memory()
    assert.ok(isWithin(0.05, second.live, warm.live), `${warm.live} → ${second.live} bytes are live`)
    assert.equal(second.linear, first.linear)
  })
})

describe('calls that wait', () => {
  const CALLS = 100

  /** Bytes that a call holds at least while it waits. */
  const CALL = 4096

  /** Begins a call that waits until its deadline. */
  const begin = (name, args, signal, accept = 'application/json', meta = {}) => fetch(worker.url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json', Accept: accept, 'MCP-Protocol-Version': NEWEST, 'Mcp-Method': 'tools/call', 'Mcp-Name': name,
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 'held', ...tool(name, args, meta) }),
    signal,
  })

  /** Begins many calls, and has their clients go away once the module holds them. Gives what it holds when that is over. */
  const comeAndGo = async (open, start) => {
    const gone = new AbortController()
    const calls = Array.from({ length: CALLS }, () => open(gone.signal))
    for (const call of calls) call.catch(() => {})
    const held = await memoryOnce(({ live }) => live > start.live + CALLS * CALL)
    assert.ok(held.live > start.live + CALLS * CALL, 'calls that wait are seen')
    gone.abort()
    await Promise.allSettled(calls)
    return memoryOnce(({ live }) => isWithin(0.1, live, start.live))
  }

  /**
   * `open` begins a call that does not end. Lists in the module that grow with the number of calls keep their size; so as many calls come
   * before, `short` ones that end.
   */
  const leavesNothing = async (open, short) => {
    await Promise.all(Array.from({ length: CALLS }, async () => (await short()).text()))
    const start = await memory()
    const end = await comeAndGo(open, start)
    assert.ok(isWithin(0.1, end.live, start.live), `${start.live} → ${end.live} bytes are live`)
  }

  const interruptions = () => (worker.logs().match(/"status":503/g) ?? []).length

  /** A break ends all calls that JavaScript still knows of, and writes a log line for each. */
  const nothingWaits = async (id) => {
    const before = interruptions()
    assertCrashed(await ask(worker, tool('break', { how: 'panic' }), id), id)
    await worker.logged(new RegExp(`"id":"\\\\"${id}`))
    // Each call writes its own line. Nothing tells that none comes.
    await sleep(300)
    assert.equal(interruptions(), before)
  }

  test('leave nothing behind when their clients go away before a JSON answer', async () => {
    await leavesNothing((signal) => begin('hold', {}, signal), () => begin('wait', { ms: 500 }))
    await nothingWaits('after JSON')
  })

  test('leave nothing behind when their clients go away from a stream, long before the deadline', async () => {
    const stream = (name, args, signal) => begin(name, args, signal, 'application/json, text/event-stream', { progressToken: 1 })
    await leavesNothing(
      async (signal) => (await stream('linger', {}, signal)).body.getReader().read(),
      () => stream('tell', { ms: 500 }),
    )
    await nothingWaits('after streams')
  })

  test('do not hold their bodies', async () => {
    const bodies = 40
    const start = await memory()
    const calls = Array.from({ length: bodies }, () => begin('hold', { text: 'x'.repeat(MIB) }))
    const areHeld = ({ live }) => live > start.live + bodies * CALL && live < start.live + bodies * MIB / 10
    const held = await memoryOnce(areHeld)
    assert.ok(areHeld(held), `${bodies} calls of 1 MiB hold ${held.live - start.live} bytes`)
    for (const call of calls) assert.equal((await (await call).json()).result.isError, true)
    const end = await memoryOnce(({ live }) => isWithin(0.1, live, start.live))
    assert.ok(isWithin(0.1, end.live, start.live), `${start.live} → ${end.live} bytes are live`)
  })
})

describe('one request takes at most four times the limit of its body, and 16 MiB', () => {
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
      assert.ok(isWithin(0.05, after.live, live), `${live} → ${after.live} bytes are live`)
    })
  }
})
