// A client of durable tasks, without a client library.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

import { ENVELOPE, NEWEST } from '../e2e/requests.mjs'

export const TASKS = 'io.modelcontextprotocol/tasks'

/** The `_meta` members of a client with tasks that can be asked. */
export const TASKS_ENVELOPE = {
  ...ENVELOPE,
  'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} }, extensions: { [TASKS]: {} } },
}

const FINAL = ['completed', 'failed', 'cancelled']

/** Sends a request. Returns the status and the JSON-RPC message. */
export async function send({ url, token }, method, params, envelope = TASKS_ENVELOPE) {
  const target = params.taskId ?? params.name
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', Authorization: `Bearer ${token}`,
      'MCP-Protocol-Version': NEWEST, 'Mcp-Method': method, ...(target === undefined ? {} : { 'Mcp-Name': target }),
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { _meta: envelope, ...params } }),
    signal: AbortSignal.timeout(30_000),
  })
  return { status: response.status, body: JSON.parse(await response.text()) }
}

/** Sends a request, and returns its result. */
export async function result(worker, method, params, envelope) {
  const { status, body } = await send(worker, method, params, envelope)
  assert.ok(body.result, `${method}: ${status} ${JSON.stringify(body)}`)
  return body.result
}

export const callTool = (worker, name, args = {}, envelope = undefined) => result(worker, 'tools/call', { name, arguments: args }, envelope)
export const getTask = (worker, taskId) => result(worker, 'tasks/get', { taskId })
export const updateTask = (worker, taskId, inputResponses) => result(worker, 'tasks/update', { taskId, inputResponses })
export const cancelTask = (worker, taskId) => result(worker, 'tasks/cancel', { taskId })

/** Starts a task, and returns its id. */
export async function startTask(worker, name, args = {}) {
  const { resultType, taskId, ...rest } = await callTool(worker, name, args)
  assert.equal(resultType, 'task', JSON.stringify(rest))
  return taskId
}

/**
 * Polls a task until `isDone` returns true for it: by default, until it has ended. Returns the task. A crash of another call can interrupt a
 * poll.
 */
export async function until(worker, taskId, isDone = ({ status }) => FINAL.includes(status), ms = 20_000) {
  const deadline = Date.now() + ms
  for (;;) {
    const { status, body } = await send(worker, 'tasks/get', { taskId })
    assert.ok(body.result || status === 503, `${status} ${JSON.stringify(body)}`)
    if (body.result && isDone(body.result)) return body.result
    assert.ok(Date.now() < deadline, `the task does not get there: ${JSON.stringify(body)}`)
    await sleep(50)
  }
}
