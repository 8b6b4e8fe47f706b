// Requests in revision 2026-07-28: each is a single POST, without initialization.

import { setTimeout } from 'node:timers/promises'

const REVISION = '2026-07-28'
let requests = 0

/** Returns whether a token can be sent to the URL without exposing it to other machines: the URL is HTTPS, or is on this machine. */
export function isConfidential({ protocol, hostname }) {
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback)
}

/** The error for a 429 or a 503 with Retry-After. `seconds` is the time to wait. */
export class RetryLater extends Error {
  constructor(message, seconds) {
    super(message)
    this.seconds = seconds
  }
}

/** The error if the server cannot be reached, or does not answer in time. */
export class NoAnswer extends Error {}

/**
 * Calls a tool and returns its result. If the server or the tool rejects the call, throws an Error with the message of the server.
 *
 * @param {{ url: string, token?: string, name: string, arguments: object }} call
 */
export async function callTool({ url, token, name, arguments: args }) {
  const result = await request({ url, token, method: 'tools/call', params: { name, arguments: args } })
  if (result.isError) throw new Error(textOf(result) || 'the tool failed without a message')
  return result
}

/** Returns the names of the tools that the caller can see. */
export async function toolNames({ url, token }) {
  const { tools } = await request({ url, token, method: 'tools/list' })
  return tools.map(({ name }) => name)
}

async function request({ url, token, method, params = {} }) {
  requests += 1
  let response, text
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': REVISION,
        'Mcp-Method': method,
        ...(params.name && { 'Mcp-Name': params.name }),
        ...(token && { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: requests,
        method,
        params: {
          _meta: {
            'io.modelcontextprotocol/protocolVersion': REVISION,
            'io.modelcontextprotocol/clientCapabilities': {},
          },
          ...params,
        },
      }),
      // A redirect would send the token to another URL.
      redirect: 'manual',
      signal: AbortSignal.timeout(60_000),
    })
    text = await response.text()
  } catch (error) {
    throw new NoAnswer(`no answer from ${url}: ${error.cause?.message || error.cause?.code || error.message}`)
  }

  const message = parse(text)
  if (message?.error || !response.ok) {
    const problem = message?.error?.message ?? `HTTP ${response.status}: ${firstLine(text) || response.statusText}`
    const seconds = secondsToWait(response)
    throw seconds === undefined ? new Error(problem) : new RetryLater(problem, seconds)
  }
  if (message?.result === undefined) throw new Error(`the answer is not an MCP response: ${firstLine(text)}`)
  return message.result
}

/** The waits in seconds before an attempt that got no answer is repeated. */
const NO_ANSWER = [0.5, 1, 2]

/**
 * Repeats an attempt that fails with RetryLater, at most five times, and an attempt without an answer, at most three times. A rate limit
 * admits the caller again soon, so further failures have another cause. Reports the reason with `say` before each wait. The server may
 * have completed an attempt without an answer, so the calls must be idempotent.
 *
 * @param {() => Promise<T>} attempt
 * @param {{ say: (message: string) => void, sleep?: (seconds: number) => Promise<void> }} how
 * @returns {Promise<T>}
 * @template T
 */
export async function withRetries(attempt, { say, sleep = (seconds) => setTimeout(seconds * 1000) }) {
  for (let later = 0, unanswered = 0; ;) {
    try {
      return await attempt()
    } catch (error) {
      let seconds
      if (error instanceof RetryLater && later++ < 5) {
        // A shorter wait would repeat the request at once, and a longer wait would look like a hang.
        seconds = Math.min(Math.max(error.seconds, 1), 120)
      } else if (error instanceof NoAnswer && unanswered < NO_ANSWER.length) {
        seconds = NO_ANSWER[unanswered++]
      } else {
        throw error
      }
      say(`waiting ${seconds} s: ${error.message}`)
      await sleep(seconds)
    }
  }
}

// Retry-After may also be a date. It is ignored, because the clocks of client and server may differ.
const secondsToWait = ({ status, headers }) => {
  const value = headers.get('retry-after') ?? ''
  return (status === 429 || status === 503) && /^\d+$/.test(value) ? Number(value) : undefined
}

const parse = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const firstLine = (text) => text.trim().split('\n')[0].slice(0, 200)

/** Returns the texts of the result of a tool. */
export const textOf = (result) => (result.content ?? []).filter(({ type }) => type === 'text').map(({ text }) => text).join('\n')
