// One tool call in the 2026-07-28 revision: a single POST, with nothing before it.

import { setTimeout } from 'node:timers/promises'

const REVISION = '2026-07-28'
let requests = 0

/** Whether a token cannot be read on its way there: HTTPS, or this machine itself. */
export function keepsTokens({ protocol, hostname }) {
  const isLoopback = hostname === 'localhost' || hostname === '[::1]' || /^127(\.\d+){3}$/.test(hostname)
  return protocol === 'https:' || (protocol === 'http:' && isLoopback)
}

/** The server is there and says when to call again: a 429 or 503 with Retry-After in seconds. */
export class TryLater extends Error {
  constructor(message, seconds) {
    super(message)
    this.seconds = seconds
  }
}

/**
 * Calls a tool and gives its result. Every kind of refusal is an Error with the server's own words.
 *
 * @param {{ url: string, token?: string, name: string, arguments: object }} call
 */
export async function callTool({ url, token, name, arguments: args }) {
  requests += 1
  let response, text
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': REVISION,
        'Mcp-Method': 'tools/call',
        'Mcp-Name': name,
        ...(token && { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: requests,
        method: 'tools/call',
        params: {
          _meta: {
            'io.modelcontextprotocol/protocolVersion': REVISION,
            'io.modelcontextprotocol/clientCapabilities': {},
          },
          name,
          arguments: args,
        },
      }),
      // A redirect would take the token to another place.
      redirect: 'manual',
      signal: AbortSignal.timeout(60_000),
    })
    text = await response.text()
  } catch (error) {
    throw new Error(`no answer from ${url}: ${error.cause?.message || error.cause?.code || error.message}`)
  }

  const message = parse(text)
  if (message?.error || !response.ok) {
    const words = message?.error?.message ?? `HTTP ${response.status}: ${firstLine(text) || response.statusText}`
    const seconds = secondsToWait(response)
    throw seconds === undefined ? new Error(words) : new TryLater(words, seconds)
  }
  if (message?.result === undefined) throw new Error(`not an MCP answer: ${firstLine(text)}`)
  if (message.result.isError) throw new Error(textOf(message.result) || 'the tool failed and did not say why')
  return message.result
}

/**
 * Does it again for as long as the server says when, five times at most: who is over a limit is soon
 * below it, and a server that still refuses has another trouble. What it waits for, it says before.
 *
 * @param {() => Promise<T>} attempt
 * @param {{ say: (message: string) => void, sleep?: (seconds: number) => Promise<void> }} how
 * @returns {Promise<T>}
 * @template T
 */
export async function patiently(attempt, { say, sleep = (seconds) => setTimeout(seconds * 1000) }) {
  for (let again = 0; ; again++) {
    try {
      return await attempt()
    } catch (error) {
      if (!(error instanceof TryLater) || again === 5) throw error
      // Neither at once, nor so late that it seems to hang.
      const seconds = Math.min(Math.max(error.seconds, 1), 120)
      say(`waiting ${seconds} s: ${error.message}`)
      await sleep(seconds)
    }
  }
}

// The other form of Retry-After is a date, and clocks differ: it counts as none.
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

const textOf = (result) => (result.content ?? []).filter(({ type }) => type === 'text').map(({ text }) => text).join('\n')
