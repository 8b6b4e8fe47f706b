// Runs load on many connections for a number of seconds, and compares every answer with its request.

import { readFile, readdir } from 'node:fs/promises'
import { residentKib } from '../../benches/proc.mjs'
import { hostile } from './hostile.mjs'
import { leave } from './leave.mjs'
import { Client } from './work.mjs'

/** Of 20 requests, one is hostile, and the client cancels one. */
const PERIOD = 20

/** The timeout of a request in milliseconds. No request takes as long under any load. */
const LIMIT = 60_000

/** The run stops after this number of failures. Otherwise a failure in every answer would be reported thousands of times. */
const MOST_FAILURES = 20

/**
 * Sends requests to a running worker.
 *
 * @param {import('../e2e/worker.mjs').Worker} worker
 * @param {{ connections: number, seconds: number }} options
 * @returns {Promise<{ right: number, hostile: number, left: number, failures: string[] }>} the numbers of correct answers, of answers to
 *   hostile requests and of cancelled requests, and a description of each wrong answer
 */
export async function run(worker, { connections, seconds }) {
  const end = Date.now() + seconds * 1000
  const counts = { right: 0, hostile: 0, left: 0, failures: [] }
  await Promise.all(Array.from({ length: connections }, async (_, number) => {
    const client = new Client(`${number}`, number)
    for (let n = number; Date.now() < end && counts.failures.length < MOST_FAILURES; n++) {
      if (n % PERIOD === 7) {
        await leave(worker, new Client(`${number}-gone`, n).next(), Math.floor(n / PERIOD) + number)
        counts.left += 1
        continue
      }
      const isHostile = n % PERIOD === 13
      const request = isHostile ? hostile(Math.floor(n / PERIOD) + number * 5) : client.next()
      const failure = await one(worker, request)
      if (failure) counts.failures.push(failure)
      else counts.right += 1
      if (isHostile) counts.hostile += 1
    }
  }))
  return counts
}

/** Sends a request. Returns a description of the problem if the answer is wrong or missing. */
async function one(worker, { body, headers, check }) {
  let answer
  try {
    const response = await fetch(worker.url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        Authorization: `Bearer ${worker.token}`,
        ...headers,
      },
      body,
      signal: AbortSignal.timeout(LIMIT),
    })
    answer = { status: response.status, text: await response.text() }
    check({ status: answer.status, body: messageOf(answer.text) })
  } catch (error) {
    const cause = error.cause ? ` (${error.cause.message ?? error.cause.code})` : ''
    const received = answer ? `${answer.status} ${answer.text.slice(0, 400)}` : 'no answer'
    return `${String(body).slice(0, 200)}\n  → ${received}\n  ${error.message}${cause}`
  }
}

/** Returns the JSON-RPC message of an answer. In an event stream, it is the last message. */
function messageOf(text) {
  if (!text.startsWith('event: ')) return JSON.parse(text)
  return JSON.parse(text.split('\n').findLast((line) => line.startsWith('data: ')).slice('data: '.length))
}

/** Returns the resident memory of all workerd processes in the worker's process group, in KiB. */
export async function memoryKib({ group }) {
  let sum = 0
  for (const pid of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
    const [, name, rest] = /^\d+ \((.*)\) (.*)$/s.exec(stat) ?? []
    if (name === 'workerd' && Number(rest.split(' ')[2]) === group) sum += await residentKib(pid)
  }
  return sum
}
