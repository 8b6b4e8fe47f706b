// The tools, resources and prompts of the peers for the tests of the MCP client, in a form that does not depend on a library.

import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import * as z from 'zod'

export const INFO = { name: 'peer', version: '1.0.0' }

/**
 * The HTTP exchange whose request is being handled.
 *
 * @type {AsyncLocalStorage<{ entry: { isCancelled: boolean }, response: import('node:http').ServerResponse }>}
 */
export const exchange = new AsyncLocalStorage()

/**
 * The abilities that a library gives to a tool. A library without an ability leaves it out.
 *
 * @typedef {object} Call
 * @property {(progress: { progress: number, total?: number, message?: string }) => Promise<void>} [progress]
 * @property {(level: string, data: unknown) => Promise<void>} [log]
 * @property {AbortSignal} [signal] aborted when the client cancels the call
 * @property {() => void} [closeStream] ends the stream of the response, so that the client resumes it
 */

/** The tools: a description, the input, a function of the arguments and the {@link Call}, and the output of a structured result. */
export const TOOLS = {
  add: {
    description: 'Adds two numbers.',
    input: z.object({ a: z.number(), b: z.number() }),
    handle: ({ a, b }) => String(a + b),
  },
  total: {
    description: 'Adds two numbers, with a structured result.',
    input: z.object({ a: z.number(), b: z.number() }),
    output: z.object({ total: z.number() }),
    handle: ({ a, b }) => ({ total: a + b }),
  },
  large: {
    description: 'Returns a large text.',
    input: z.object({ bytes: z.number() }),
    handle: ({ bytes }) => 'x'.repeat(bytes),
  },
  locate: {
    description: 'Repeats a city, which the client repeats in a header too.',
    input: z.object({ city: z.string().meta({ 'x-mcp-header': 'City' }) }),
    handle: ({ city }) => `located ${city}`,
  },
  report: {
    description: 'Sends progress notifications and log messages.',
    input: z.object({}),
    handle: report,
  },
  wait: {
    description: 'Waits, and sends progress notifications meanwhile.',
    input: z.object({ ms: z.number() }),
    handle: wait,
  },
  interrupt: {
    description: 'Interrupts the stream of its response, either as the library does it or by closing the connection.',
    input: z.object({ how: z.enum(['close', 'break']) }),
    handle: interrupt,
  },
}

async function report(_, { progress, log }) {
  await log?.('debug', 'not asked for')
  for (const step of [1, 2, 3]) {
    await progress?.({ progress: step, total: 3, message: `step ${step}` })
    await log?.('info', { step })
  }
  return 'reported'
}

async function wait({ ms }, { progress, signal }) {
  const { entry } = exchange.getStore()
  for (let waited = 0; waited < ms; waited += 50) {
    await sleep(50)
    if (signal?.aborted) {
      entry.isCancelled = true
      break
    }
    // The connection may be closed.
    await progress?.({ progress: waited + 50, total: ms })?.catch(() => {})
  }
  return 'waited'
}

async function interrupt({ how }, { progress, closeStream }) {
  const { response } = exchange.getStore()
  await progress({ progress: 1, total: 2 })
  // The events arrive before the interruption.
  await sleep(50)
  if (how === 'close') closeStream()
  else response.destroy()
  await sleep(50)
  await progress({ progress: 2, total: 2 })
  return 'resumed'
}

export const FAIL = { content: [{ type: 'text', text: 'This tool always fails.' }], isError: true }

/** The result of a tool in the form of the protocol. */
export const resultOf = (value) => typeof value === 'string'
  ? { content: [{ type: 'text', text: value }] }
  : { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value }

/** The question of the tool `ask`, and the result for an answer. */
export const QUESTION = 'Which city?'
export const FORM = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] }
export const answered = (answer) => answer?.action === 'accept' ? `The city is ${answer.content.city}.` : 'No city.'

const NAMES = ['Ada', 'Alan', 'Grace']
export const suggest = (typed) => NAMES.filter((name) => name.startsWith(typed))

export const RESOURCE = 'demo://text'
export const TEXT = 'A text: déjà vu, 🙂.'
export const TEMPLATE = 'demo://greetings/{name}'
export const contentsOf = (uri, text) => ({ contents: [{ uri, mimeType: 'text/plain', text }] })
/** The contents of a resource of the template. */
export const greetingOf = (uri, { name }) => contentsOf(uri, `Hello, ${name}.`)
/** The messages of the prompt `greet`. */
export const promptOf = ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}.` } }] })

/** Keeps the events of streams in memory, so that a client can resume a stream. */
export class Events {
  #events = []

  async storeEvent(stream, message) {
    this.#events.push({ stream, message })
    return String(this.#events.length)
  }

  async getStreamIdForEventId(id) {
    return this.#events[id - 1]?.stream
  }

  async replayEventsAfter(id, { send }) {
    const stream = await this.getStreamIdForEventId(id)
    for (const [index, event] of this.#events.entries()) {
      if (index >= Number(id) && event.stream === stream) await send(String(index + 1), event.message)
    }
    return stream
  }
}
