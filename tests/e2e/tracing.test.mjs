// Tests telemetry in workerd: the spans that the runtime records, the data points of Analytics Engine, and a trace through two Workers.

import assert from 'node:assert/strict'
import { registerHooks } from 'node:module'
import { after, before, test } from 'node:test'

import { ENVELOPE, modern } from './requests.mjs'
import { randomToken } from './worker.mjs'
import { startWorkerds } from './workerd.mjs'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = `00-${TRACE}-00f067aa0ba902b7-00`

// A Worker in the place of Analytics Engine, which logs the data points.
const DATASET = `
  import { WorkerEntrypoint } from 'cloudflare:workers'
  export default class extends WorkerEntrypoint {
    writeDataPoint(point) { console.log('point ' + JSON.stringify(point)) }
  }
`

let caller, called
before(async () => {
  const worker = { name: 'client-worker', tail: true, services: { CALLS: DATASET }, secrets: { MCP_STATE_KEY: randomToken() } }
  ;[caller, called] = await startWorkerds([
    { ...worker, vars: ([, origin]) => ({ SERVERS: JSON.stringify({ other: { url: `${origin}/mcp`, revision: '2026-07-28' } }) }) },
    { ...worker, vars: { SERVERS: '{}' } },
  ])
})
after(() => caller?.stop())

/** Makes the first Worker call a tool of the second one. */
const call = (name, args, meta) => modern(caller, 'tools/call', {
  name: 'call', arguments: { server: 'other', name, arguments: args }, _meta: { ...ENVELOPE, ...meta },
})

/** Waits until a Worker has recorded `count` spans of this name, and returns them. */
async function spans(worker, name, count) {
  for (let tries = 0; ; tries++) {
    const all = await worker.spans()
    const found = all.filter((span) => span.name === name)
    if (found.length >= count) return found
    assert.ok(tries < 100, `${name} is not among ${JSON.stringify(all)}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

test('the runtime records the spans of a trace through two Workers', async () => {
  const { body } = await call('list', { kind: 'tools' }, { traceparent: PARENT })
  assert.ok(!body.result.isError, JSON.stringify(body))
  const [own] = await spans(caller, 'tools/call call', 1)
  const [sent] = (await spans(caller, 'tools/call list', 1)).filter(({ attributes }) => attributes['edge_mcp.upstream'] === 'other')
  const [received] = await spans(called, 'tools/call list', 1)
  const of = ({ attributes }) => ['trace_id', 'parent_span_id', 'span_id'].map((id) => attributes[`edge_mcp.${id}`])
  assert.deepEqual(of(own).slice(0, 2), [TRACE, '00f067aa0ba902b7'])
  assert.deepEqual(of(sent).slice(0, 2), [TRACE, of(own)[2]])
  assert.deepEqual(of(received).slice(0, 2), [TRACE, of(sent)[2]])
  // The runtime does not accept the trace of the caller as its own.
  assert.ok([own, sent, received].every(({ traceId }) => traceId !== TRACE))
  assert.deepEqual(received.attributes, {
    'mcp.method.name': 'tools/call',
    'mcp.protocol.version': '2026-07-28',
    'network.transport': 'tcp',
    'network.protocol.name': 'http',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'list',
    'edge_mcp.trace_id': TRACE,
    'edge_mcp.span_id': of(received)[2],
    'edge_mcp.parent_span_id': of(sent)[2],
  })
  for (const target of ['call', 'list']) {
    await caller.logged(new RegExp(`"target":"${target}".*"trace":"${TRACE}"`))
  }
})

test('a failure is an attribute of its spans, and a column of its data points', async () => {
  await call('about', { server: 'nowhere' }, {})
  const [received] = await spans(called, 'tools/call about', 1)
  assert.equal(received.attributes['error.type'], 'tool_error')
  const points = (await caller.logged(/point .*"tools\/call about".*"other","tool_error"/), caller.logs())
  const [point] = points.split('\n').filter((line) => line.includes('"other","tool_error"'))
  const { indexes, blobs, doubles } = JSON.parse(point.slice(point.indexOf('{')))
  assert.deepEqual(indexes, ['tools/call about'])
  assert.deepEqual(blobs, ['tools/call', 'about', '2026-07-28', 'other', 'tool_error'])
  assert.equal(doubles.length, 1)
})

test('an exception of the runtime does not fail a call, and only the first one is logged', async (t) => {
  // The module of the runtime, each of whose members fails.
  const failing = `
    const fail = () => { throw new Error('no tracing') }
    const span = { setAttributes: fail, setStatus: fail, end() { globalThis.ended = true; fail() }, get isTraced() { return fail() } }
    export const tracing = { startSpan: (name) => name === 'works' ? span : fail() }
  `
  const url = `data:text/javascript,${encodeURIComponent(failing)}`
  const resolve = (name, context, next) => name === 'cloudflare:workers' ? { url, shortCircuit: true } : next(name, context)
  const hooks = registerHooks({ resolve })
  t.after(() => hooks.deregister())
  const logged = t.mock.method(console, 'error', () => {})
  const { start, is_recorded: isRecorded, end } = await import('../../src/worker/tracing.js')
  for (const name of ['works', 'fails']) {
    const span = start(name, [['a', 'b']])
    assert.equal(isRecorded(span), false)
    end(span, [], true)
  }
  assert.ok(globalThis.ended, 'the span that began ended')
  assert.deepEqual(logged.mock.calls.map(({ arguments: [text] }) => text), ['spans are not recorded:'])
})
