// Tests durable tasks in workerd: the methods of the extension, the jobs of other clients, restarts, panics, deployments, and the
// official clients.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createTaskSessionFromClient } from '@modelcontextprotocol/ext-tasks/client'

import { startEffects } from '../chaos/effects.mjs'
import { TASKS, TASKS_ENVELOPE, callTool, cancelTask, getTask, result, send, startTask, until, updateTask } from '../chaos/tasks.mjs'
import { ask, assertInterrupted, assertServing, tool } from './faults.mjs'
import { ENVELOPE, NEWEST, legacy, modern } from './requests.mjs'
import { ROOT, randomToken } from './worker.mjs'
import { startWorkerd, startWorkerds } from './workerd.mjs'

const run = promisify(execFile)

const accept = (content) => ({ action: 'accept', content })
const textOf = ({ content: [{ text }] }) => text
/** Returns whether a task waits for answers. */
const asks = ({ status }) => status === 'input_required'

describe('examples/everything:', () => {
  let worker
  before(async () => { worker = await startWorkerd({ name: 'everything', objects: 'disk' }) })
  after(() => worker?.stop())

  test('a task works, and then has the result of its call', async () => {
    const { body } = await modern(worker, 'server/discover', {})
    assert.deepEqual(body.result.capabilities.extensions[TASKS], {})
    const created = await callTool(worker, 'slow_compute', { seconds: 1, label: 'a sum' })
    const { taskId, createdAt, lastUpdatedAt, pollIntervalMs, ttlMs, _meta, ...rest } = created
    assert.deepEqual(rest, { resultType: 'task', status: 'working' })
    assert.match(taskId, /^t1\.[\w-]{43}$/)
    assert.ok(Date.now() - Date.parse(createdAt) < 10_000 && lastUpdatedAt >= createdAt)
    assert.deepEqual([pollIntervalMs, ttlMs], [1000, 3_600_000])
    const working = await until(worker, taskId, ({ statusMessage }) => statusMessage)
    assert.deepEqual([working.resultType, working.status, working.statusMessage], ['complete', 'working', 'a sum runs'])
    const done = await until(worker, taskId)
    assert.deepEqual([done.status, textOf(done.result), done.createdAt], ['completed', 'a sum took 1 s', createdAt])
  })

  test('a task that fails has an error of the tool or of the protocol', async () => {
    const [tool, protocol] = await Promise.all(['failing_job', 'protocol_error_job'].map((name) => startTask(worker, name)))
    const failed = await until(worker, tool)
    assert.deepEqual([failed.status, failed.result.isError], ['completed', true])
    const stopped = await until(worker, protocol)
    assert.deepEqual([stopped.status, stopped.error.code, stopped.result], ['failed', -32603, undefined])
  })

  test('a task asks, and goes on with the answer', async () => {
    const taskId = await startTask(worker, 'confirm_delete', { filename: 'a.txt' })
    const { inputRequests } = await until(worker, taskId, asks)
    assert.deepEqual(Object.keys(inputRequests), ['confirm'])
    const { method, params } = inputRequests.confirm
    assert.deepEqual([method, params.message], ['elicitation/create', 'Delete a.txt?'])
    // An answer that does not fit is rejected, and the task still asks. An unknown key is ignored.
    const { status, body } = await send(worker, 'tasks/update', { taskId, inputResponses: { confirm: accept({ confirm: 'perhaps' }) } })
    assert.deepEqual([status, body.error.code], [200, -32602])
    await updateTask(worker, taskId, { other: accept({}) })
    assert.equal((await getTask(worker, taskId)).status, 'input_required')
    const { _meta, ...answer } = await updateTask(worker, taskId, { confirm: accept({ confirm: true }) })
    assert.deepEqual(answer, { resultType: 'complete' })
    assert.equal(textOf((await until(worker, taskId)).result), 'Deleted a.txt.')
  })

  test('answers can arrive one after the other', async () => {
    const taskId = await startTask(worker, 'multi_input')
    await until(worker, taskId, ({ inputRequests = {} }) => Object.keys(inputRequests).length === 2)
    await updateTask(worker, taskId, { name: accept({ name: 'Ada' }) })
    const { status, inputRequests } = await getTask(worker, taskId)
    assert.deepEqual([status, Object.keys(inputRequests)], ['input_required', ['confirm']])
    await updateTask(worker, taskId, { confirm: accept({ confirm: true }) })
    assert.equal(textOf((await until(worker, taskId)).result), 'Ada agrees.')
  })

  test('a tool asks before its task begins', async () => {
    const params = { name: 'test_tool_with_task', arguments: {} }
    const { resultType, inputRequests, requestState } = await result(worker, 'tools/call', params)
    assert.deepEqual([resultType, Object.keys(inputRequests)], ['input_required', ['user_name']])
    const inputResponses = { user_name: accept({ name: 'Ada' }) }
    const created = await result(worker, 'tools/call', { ...params, inputResponses, requestState })
    assert.deepEqual([created.resultType, created.requestState], ['task', undefined])
    assert.equal(textOf((await until(worker, created.taskId)).result), 'Hello, Ada!')
  })

  test('a cancelled task stays cancelled', async () => {
    const sleeping = await startTask(worker, 'slow_compute', { seconds: 600 })
    const asking = await startTask(worker, 'confirm_delete', { filename: 'b.txt' })
    await until(worker, asking, asks)
    for (const taskId of [sleeping, asking]) {
      const { _meta, ...answer } = await cancelTask(worker, taskId)
      assert.deepEqual(answer, { resultType: 'complete' })
      const { status, result, error } = await until(worker, taskId)
      assert.deepEqual([status, result, error], ['cancelled', undefined, undefined])
      await cancelTask(worker, taskId)
      assert.equal((await getTask(worker, taskId)).status, 'cancelled')
    }
    await updateTask(worker, asking, { confirm: accept({ confirm: true }) })
    assert.equal((await getTask(worker, asking)).status, 'cancelled')
  })

  test('an unknown id, a forged id and a wrong header are rejected', async () => {
    const taskId = await startTask(worker, 'slow_compute', { seconds: 600 })
    const forged = `${taskId.slice(0, -2)}${taskId.endsWith('AA') ? 'BB' : 'AA'}`
    const messages = new Set()
    for (const id of [forged, 't1.', 'none', 'x'.repeat(10_000), `t1.${'A'.repeat(43)}`]) {
      for (const method of ['tasks/get', 'tasks/cancel']) {
        const { status, body } = await send(worker, method, { taskId: id })
        assert.deepEqual([status, body.error.code], [200, -32602], id)
        messages.add(body.error.message)
      }
    }
    assert.equal(messages.size, 1)
    const wrong = await modern(worker, 'tasks/get', { _meta: TASKS_ENVELOPE, taskId }, 1, { 'Mcp-Name': forged })
    assert.deepEqual([wrong.status, wrong.body.error.code], [400, -32020])
    const undeclared = await send(worker, 'tasks/get', { taskId }, ENVELOPE)
    assert.deepEqual([undeclared.status, undeclared.body.error.code], [400, -32021])
    for (const method of ['tasks/list', 'tasks/result']) {
      assert.deepEqual((await send(worker, method, { taskId })).body.error.code, -32601)
    }
    await cancelTask(worker, taskId)
  })

  /** The calls of a client without tasks: of the newest revision, and of an older one. */
  const CLIENTS = [
    ['2026-07-28', async (name, args) => (await modern(worker, 'tools/call', { name, arguments: args })).body.result],
    ['2025-11-25', async (name, args) => (await legacy(worker, 'tools/call', { name, arguments: args })).body.result],
  ]
  for (const [revision, call] of CLIENTS) {
    test(`a client of ${revision} without tasks gets the result, or a job for it`, async () => {
      assert.equal(textOf(await call('slow_compute', { seconds: 0 })), 'the computation took 0 s')
      const running = await call('slow_compute', { seconds: 2, label: 'a product' })
      const job = running._meta['edge-mcp/job']
      assert.match(textOf(running), /^The job is still running\. Its state: a product runs\. Call `job-result`/)
      assert.ok(textOf(running).includes(job))
      assert.match(textOf(await call('job-result', { job, wait_seconds: 0 })), /^The job is still running/)
      assert.equal(textOf(await call('job-result', { job })), 'a product took 2 s')
      assert.equal(textOf(await call('job-result', { job, wait_seconds: 0 })), 'a product took 2 s')
      const long = (await call('slow_compute', { seconds: 600 }))._meta['edge-mcp/job']
      assert.match(textOf(await call('job-cancel', { job: long })), /cancelled|has ended/)
      const cancelled = await call('job-result', { job: long })
      assert.deepEqual([cancelled.isError, textOf(cancelled)], [true, 'The job was cancelled.'])
      const unknown = await call('job-result', { job: `t1.${'A'.repeat(43)}` })
      assert.equal(unknown.isError, true)
    })
  }

  test('a tool that only has tasks names the extension', async () => {
    const { status, body } = await modern(worker, 'tools/call', { name: 'failing_job', arguments: {} })
    assert.deepEqual([status, body.error.code], [400, -32021])
    assert.deepEqual(body.error.data.requiredCapabilities, { extensions: { [TASKS]: {} } })
  })

  test('the official client of tasks follows a task, answers it and cancels it', async () => {
    const info = { name: 'e2e', version: '1.0.0' }
    const capabilities = { elicitation: { form: {} }, extensions: { [TASKS]: {} } }
    const client = new Client(info, { versionNegotiation: { mode: { pin: NEWEST } }, capabilities })
    await client.connect(new StreamableHTTPClientTransport(new URL(worker.url)))
    const session = createTaskSessionFromClient(client, {
      endpointId: 'everything',
      v2RequestFraming: { protocolVersion: NEWEST, clientInfo: info, clientCapabilities: capabilities },
      rawDispatch: async ({ method, params }) => {
        const { body } = await send(worker, method, params, params._meta)
        return body.error ? { kind: 'error', error: body.error } : { kind: 'result', result: body.result }
      },
      onInputRequest: ({ params }) => {
        assert.equal(params.message, 'Delete c.txt?')
        return accept({ confirm: true })
      },
    })
    try {
      assert.deepEqual([session.capabilities.execution, session.capabilities.cancellation], [true, true])
      const immediate = await session.callTool('greet', { name: 'Ada' })
      assert.equal(immediate.kind, 'immediate')
      const deleted = await session.callTool('confirm_delete', { filename: 'c.txt' })
      assert.equal(deleted.kind, 'task')
      const { outcome } = await deleted.settle()
      assert.deepEqual([outcome.status, textOf(outcome.result)], ['completed', 'Deleted c.txt.'])
      const failed = await (await session.callTool('protocol_error_job')).settle()
      assert.deepEqual([failed.outcome.status, failed.outcome.error.code], ['failed', -32603])
      const long = await session.callTool('slow_compute', { seconds: 600 })
      await long.cancel()
      assert.equal((await long.settle()).outcome.status, 'cancelled')
    } finally {
      await session.close()
      await client.close()
    }
  })

  const INSPECTOR = join(ROOT, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js')
  for (const era of ['legacy', 'modern']) {
    test(`the Inspector calls a tool with tasks with the era ${era}`, async () => {
      const args = ['--cli', '--transport', 'http', '--server-url', worker.url, '--protocol-era', era, '--method', 'tools/call']
      const { stdout } = await run(process.execPath, [INSPECTOR, ...args, '--tool-name', 'slow_compute', '--tool-arg', 'seconds=0'], { timeout: 60_000 })
      assert.equal(textOf(JSON.parse(stdout)), 'the computation took 0 s')
    })
  }
})

test('two isolates serve the same tasks', async (t) => {
  // In workerd, the second service has its own isolate and uses the objects of the first one.
  const secrets = { MCP_STATE_KEY: randomToken() }
  const [one, two] = await startWorkerds([
    { name: 'everything', objects: 'disk', secrets }, { name: 'everything', objects: 0, secrets },
  ])
  t.after(() => one.stop())
  for (const [first, second] of [[one, two], [two, one]]) {
    const asking = await startTask(first, 'confirm_delete', { filename: 'd.txt' })
    await until(second, asking, asks)
    await updateTask(second, asking, { confirm: accept({ confirm: true }) })
    assert.equal(textOf((await until(first, asking)).result), 'Deleted d.txt.')
    const long = await startTask(first, 'slow_compute', { seconds: 600 })
    await cancelTask(second, long)
    assert.equal((await until(first, long)).status, 'cancelled')
    const running = (await modern(first, 'tools/call', { name: 'slow_compute', arguments: { seconds: 1 } })).body.result
    const job = running._meta['edge-mcp/job']
    assert.equal(textOf((await modern(second, 'tools/call', { name: 'job-result', arguments: { job } })).body.result), 'the computation took 1 s')
  }
})

test('if the isolate with the objects crashes, the requests of another isolate are answered', async (t) => {
  const secrets = { MCP_STATE_KEY: randomToken() }
  const [one, two] = await startWorkerds([{ objects: 'disk', secrets }, { objects: 0, secrets }])
  t.after(() => one.stop())
  const waiting = await startTask(two, 'job', { name: 'waiting', steps: 20, ms: 100 })
  const crashes = (async () => {
    for (let crash = 0; crash < 5; crash++) {
      await ask(one, tool('break_later', { how: 'panic' }), crash)
      await sleep(300)
    }
  })()
  for (let poll = 0; poll < 30; poll++) {
    await getTask(two, waiting)
    await startTask(two, 'job', { name: `other ${poll}`, steps: 0 })
  }
  await crashes
  assert.equal((await until(two, waiting)).status, 'completed')
})

describe('tests/faults:', () => {
  let worker, effects
  before(async () => {
    effects = await startEffects()
    worker = await startWorkerd({ objects: 'disk' })
  })
  after(async () => {
    await worker?.stop()
    effects?.stop()
  })

  /** Asserts that each step of a job has had its effect, and returns the largest number of repetitions of an effect. */
  const assertDone = (name, steps, task) => {
    const done = effects.of(name)
    assert.deepEqual(done.map(({ step }) => step).sort((a, b) => a - b), Array.from({ length: steps }, (_, nth) => nth))
    assert.deepEqual([task.status, textOf(task.result)], ['completed', done.sort((a, b) => a.step - b.step).map(({ receipt }) => receipt).join(' ')])
    return Math.max(...done.map(({ count }) => count))
  }

  for (const fault of ['after-begin', 'after-effect', 'after-result', 'before-reply']) {
    test(`a task that panics ${fault.replace('-', ' its ')} goes on`, async () => {
      const panics = effects.panics
      const taskId = await startTask(worker, 'job', { name: fault, effects: effects.url, steps: 3, fault })
      assert.ok(assertDone(fault, 3, await until(worker, taskId)) <= 2)
      assert.equal(effects.panics, panics + 1)
    })
  }

  test('a task that panics after each of eight steps goes on', async () => {
    // The runtime forgets an alarm after six failures in a row, unless its object sets it again.
    const taskId = await startTask(worker, 'job', { name: 'each', effects: effects.url, steps: 8, fault: 'after-each-result' })
    assert.equal(assertDone('each', 8, await until(worker, taskId, undefined, 60_000)), 1)
    assert.ok(effects.panics >= 8)
  })

  test('a panic in a task interrupts the others and ordinary calls, and they go on', async () => {
    const others = await Promise.all([1, 2, 3].map((nth) =>
      startTask(worker, 'job', { name: `neighbour-${nth}`, effects: effects.url, steps: 6, ms: 150 })))
    const waits = ask(worker, tool('wait', { ms: 10_000 }), 'waits')
    await sleep(200)
    const panicking = await startTask(worker, 'job', { name: 'panics', effects: effects.url, steps: 2, fault: 'after-effect' })
    assertInterrupted(await waits, 'waits')
    await assertServing(worker)
    assertDone('panics', 2, await until(worker, panicking))
    for (const [n, taskId] of others.entries()) {
      assert.ok(assertDone(`neighbour-${n + 1}`, 6, await until(worker, taskId)) <= 2, 'only a step that was interrupted runs again')
    }
  })

  // A panic undoes the writes since the last wait. Without a wait, it would undo the count of the attempt.
  test('a task that panics in each attempt is stopped, after each of its waits and before the first, and the others end', async () => {
    const cases = [0, 1, 2].flatMap((waits) => [false, true].map((has_step) => ({ name: `always ${waits} ${has_step}`, waits, has_step })))
    const other = await startTask(worker, 'job', { name: 'survivor', effects: effects.url, steps: 10, ms: 300 })
    const panicking = await Promise.all(cases.map(async (each) => {
      // A crash of another case can interrupt the call.
      for (let n = 0; n < 20; n += 1) {
        const { status, body } = await send(worker, 'tools/call', { name: 'panic_always', arguments: each })
        if (status !== 503) return body.result.taskId
      }
      assert.fail(`${each.name} was interrupted 20 times`)
    }))
    for (const [nth, taskId] of panicking.entries()) {
      const { status, error } = await until(worker, taskId, undefined, 120_000)
      assert.deepEqual([status, error?.code], ['failed', -32603], cases[nth].name)
    }
    assertDone('survivor', 10, await until(worker, other, undefined, 60_000))
    await worker.logged(/the task was stopped after 5 attempts without progress/)
  })

  test('a step that never ends blocks only its own task', async () => {
    const [stuck, cancelled] = await Promise.all(['stuck', 'cancelled'].map((name) => startTask(worker, 'hang', { name })))
    const other = await startTask(worker, 'job', { name: 'free', effects: effects.url, steps: 3 })
    assertDone('free', 3, await until(worker, other))
    assert.equal((await getTask(worker, stuck)).status, 'working')
    await cancelTask(worker, cancelled)
    assert.equal((await until(worker, cancelled)).status, 'cancelled')
    // The promise of the alarm stays pending when the module breaks. The object is restarted, and its alarm rings again.
    await ask(worker, tool('break', { how: 'panic' }), 1)
    const done = await until(worker, stuck)
    assert.equal(textOf(done.result), 'stuck ended in attempt 2')
  })

  test('without authentication, calls with the same key are two tasks', async () => {
    const args = { name: 'twice', steps: 0 }
    const [first, second] = [await startTask(worker, 'job', args), await startTask(worker, 'job', args)]
    assert.notEqual(first, second)
  })
})

test('a new version continues a task, unless the input of a finished step has changed', async (t) => {
  const effects = await startEffects()
  const build = (id) => ({ BUILD: id, CF_VERSION_METADATA: { id, tag: '', timestamp: '' } })
  const worker = await startWorkerd({ objects: 'disk', vars: build('A') })
  t.after(async () => {
    await worker.stop()
    effects.stop()
  })
  const charge = (name, tool, is_changed) => startTask(worker, tool, { name, effects: effects.url, pause_ms: 2500, is_changed })
  const [same, changed, tolerant] = await Promise.all([
    charge('same', 'charge', false), charge('changed', 'charge', true), charge('tolerant', 'charge_anyhow', true),
  ])
  const counts = (name) => effects.of(name).map(({ count }) => count)
  for (const name of ['same', 'changed', 'tolerant']) {
    while (counts(name).length === 0) await sleep(20)
  }
  // The result of the step is stored when its task sleeps.
  await sleep(500)
  await worker.kill()
  await worker.start(build('B'))
  const done = await until(worker, same)
  assert.match(textOf(done.result), /^r\d+ by B$/)
  const stopped = await until(worker, changed)
  assert.deepEqual([stopped.status, stopped.error.code], ['failed', -32603])
  assert.match(textOf((await until(worker, tolerant)).result), /^r\d+ by B$/)
  assert.deepEqual([counts('same'), counts('changed'), counts('tolerant')], [[1], [1], [1, 1]])
  await worker.logged(/an earlier version of the program began the step `charge` with a different input/)
})
