// A request's way into the module, and what its caller is told when the module breaks.

import { env } from 'cloudflare:workers'
import { limited } from './fetch.js'

/** A body that is announced to be this long at most has come with its head: it is read before the module is called. */
const SMALL = 64 * 1024

let calls = 0

/** The calls that wait within the module, and the streams that it writes to: how each is ended. */
const open = new Map()

/** The bodies that were read for calls that wait. */
const bodies = new Map()

/** How often the module has broken, and at which call it last did. */
let breaks = 0
let broken

/**
 * Answers a request.
 *
 * `answer` is the module's own: it gives a Response, or the promise of one if it has to wait.
 */
export async function receive(request, env, context, answer) {
  const call = ++calls
  const before = breaks
  let body
  try {
    // Without a length to rely on, and where there is much, it is for the module to say whether a body is wanted.
    if (announced(request) <= SMALL) body = await whole(request)
    const answered = answer(request, env, context, body, call)
    if (answered instanceof Response) return answered
    const settled = await settling(call, answered)
    const sent = body ?? bodies.get(call)
    if (!(settled instanceof Response)) return told(settled, sent)
    return settled.headers.get('content-type') === 'text/event-stream' ? relayed(call, settled, sent) : settled
  } catch (error) {
    // If the module has broken meanwhile, at another call, the next one knows nothing of this one.
    const isOwn = call === broken || breaks === before
    if (isOwn) console.error('Critical', error)
    return told(isOwn ? BROKEN : INTERRUPTED, body ?? bodies.get(call))
  } finally {
    if (bodies.size > 0) bodies.delete(call)
  }
}

let hasRehearsed = false

/** Has the module answer a call of its own, once it has started: after a break, there are others to answer. */
export function rehearse(work, headers, body) {
  if (hasRehearsed) return
  hasRehearsed = true
  // Whatever goes wrong here must not keep the module from starting, and a Request cannot be made yet.
  const request = { method: 'POST', url: 'http://localhost/mcp', headers: new Headers(headers) }
  const bytes = body.slice()
  queueMicrotask(() => {
    try {
      work(env, request, bytes)
    } catch (error) {
      console.error('Critical', error)
    }
  })
}

/** The body, if it comes whole: if not, the module finds that out for itself. */
async function whole(request) {
  try {
    return new Uint8Array(await request.arrayBuffer())
  } catch {
    return undefined
  }
}

/** How long the body is said to be, where it is: HTTP ends it there. */
function announced(request) {
  const length = request.headers.get('content-length')
  return length === null ? NaN : Number(length)
}

/** Settles with the call, or when the module breaks: whatever waits within it then would wait for ever. */
function settling(call, answered) {
  return new Promise((resolve, reject) => {
    const done = (settle) => (value) => {
      open.delete(call)
      settle(value)
    }
    open.set(call, resolve)
    answered.then(done(resolve), done(reject))
  })
}

/** The same stream, which ends with an error if the module breaks. */
function relayed(call, response, sent) {
  const source = response.body.getReader()
  const events = new ReadableStream({
    start(stream) {
      open.set(call, (outcome) => {
        stream.enqueue(new TextEncoder().encode(`event: message\ndata: ${JSON.stringify(errors(outcome, sent))}\n\n`))
        stream.close()
      })
    },
    async pull(stream) {
      const { done, value } = await source.read()
      if (!done) return stream.enqueue(value)
      open.delete(call)
      stream.close()
    },
    cancel(reason) {
      open.delete(call)
      return source.cancel(reason)
    },
  }, { highWaterMark: 0 })
  return new Response(events, response)
}

/** The body of a request, if it is at most `limit` bytes long; else the number of bytes after which it was given up. */
export async function read(request, limit, call) {
  const isShort = request.body === null || announced(request) <= limit
  const body = isShort ? new Uint8Array(await request.arrayBuffer()) : await limited(request.body, limit)
  if (call > 0) bodies.set(call, body)
  return body
}

const INTERRUPTED = {
  status: 503,
  message: 'The server has started anew while it answered another call. Nothing is wrong with this one: send it again.',
  headers: { 'retry-after': '1' },
}
const BROKEN = { status: 200, message: 'The server failed to answer this request. Its log says why.' }

/** The module has broken while it worked on `call`. Everybody else is told so at once. */
export function broke(call) {
  breaks++
  broken = call
  // The next request gets a new instance; nothing else may, since what this one has left behind, such as a timer, would call into it.
  globalThis.__worker_init_state.criticalError = true
  for (const [other, end] of open) end(other === call ? BROKEN : INTERRUPTED)
  open.clear()
}

function told(outcome, sent) {
  return Response.json(errors(outcome, sent), { status: outcome.status, headers: outcome.headers })
}

/** What is said of `outcome` to who sent this: an error, and for a batch one for each request. */
function errors({ message }, sent) {
  const error = (id) => ({ jsonrpc: '2.0', id, error: { code: -32603, message } })
  const body = parsed(sent)
  return Array.isArray(body) ? body.filter((each) => idOf(each) !== undefined).map((each) => error(idOf(each))) : error(idOf(body))
}

function parsed(sent) {
  try {
    return JSON.parse(new TextDecoder().decode(sent))
  } catch {
    return undefined
  }
}

function idOf(request) {
  const id = request?.id
  return typeof id === 'string' || typeof id === 'number' ? id : undefined
}

// Once made, they are copied faster than read from an object.
const JSON_HEADERS = new Headers({ 'content-type': 'application/json', 'cache-control': 'no-store' })

/** A response of these bytes; as JSON, if no headers are said. */
export function respond(status, bytes, headers = JSON_HEADERS) {
  // The bytes are the module's, and will be others when it goes on.
  return new Response(bytes.length === 0 ? null : bytes.slice(), { status, headers })
}
