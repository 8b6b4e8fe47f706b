// The way of a request into the module, and the answers that JavaScript gives if the module breaks.

import { env } from 'cloudflare:workers'
import { limited } from './fetch.js'

/** Bytes. A body whose announced length is at most this has come with its head, so it is read before the module is called. */
const SMALL = 64 * 1024

/**
 * Milliseconds after which a call is no longer under way, whatever has become of it. No handler may run longer than 300 s. The platform
 * stops a call 30 s after its client has gone, without running any of its code again.
 */
const LAPSE = 600_000

let calls = 0

/**
 * The calls that are under way, oldest first: what the answer to each is made of if the module breaks. None holds a body.
 *
 * @typedef {object} Call
 * @property {number} started when it began, in milliseconds
 * @property {(outcome: object) => void} [end] ends it, once it waits in the module or is a stream that the module writes
 * @property {[string, string][]} headers what its answer has beside the usual headers
 * @property {Uint8Array} [lines] the beginning of its log line, and then a line for each id
 * @property {boolean} isBatch whether its answer is an array
 *
 * @type {Map<number, Call>}
 */
const underWay = new Map()

/** How often the module has broken, and at which call it last did. */
let breaks = 0
let broken

/**
 * Answers a request.
 *
 * `answer` is the module's own function: it gives a Response, or the promise of one if it has to wait.
 */
export async function receive(request, env, context, answer) {
  const number = ++calls
  const before = breaks
  const call = begin(number)
  let isStream = false
  try {
    // No variable holds the body: the module copies it, and drops the copy when a handler waits.
    const answered = answer(request, env, context, await small(request), number)
    if (answered instanceof Response) return answered
    const settled = settling(call, answered)
    // If its client goes away, the platform stops a call without running any of its code again, unless it is told to wait for it.
    context.waitUntil(settled)
    const outcome = await settled
    if (!(outcome instanceof Response)) return told(outcome, call, request)
    isStream = outcome.headers.get('content-type') === 'text/event-stream'
    return isStream ? relayed(number, call, outcome) : outcome
  } catch (error) {
    // If the module has broken meanwhile, at another call, the next one knows nothing of this one.
    const isOwn = number === broken || breaks === before
    if (isOwn) console.error('Critical', error)
    return told(isOwn ? BROKEN : INTERRUPTED, call, request)
  } finally {
    if (!isStream) underWay.delete(number)
  }
}

function begin(number) {
  const started = Date.now()
  for (const [other, call] of underWay) {
    if (started - call.started < LAPSE) break
    underWay.delete(other)
  }
  const call = { started, end: undefined, headers: [], lines: undefined, isBatch: false }
  underWay.set(number, call)
  return call
}

let hasWarmedUp = false

/** Has the module answer a call of its own, once it has started: after a break, there are others to answer. */
export function warmUp(work, headers, body) {
  if (hasWarmedUp) return
  hasWarmedUp = true
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

/**
 * The body, if its length is announced and small. Any other body is read by the module once it wants it; so is one that breaks off,
 * and the module then finds that out for itself.
 */
async function small(request) {
  if (!(announced(request) <= SMALL)) return undefined
  try {
    return new Uint8Array(await request.arrayBuffer())
  } catch {
    return undefined
  }
}

/** The announced length of the body, at which HTTP ends it; NaN without one. */
function announced(request) {
  const length = request.headers.get('content-length')
  return length === null ? NaN : Number(length)
}

/** Resolves with the answer to the call, or, when the module breaks, with an outcome: the module's own promise would stay pending. */
function settling(call, answered) {
  return new Promise((resolve) => {
    call.end = resolve
    answered.then(resolve, (error) => {
      console.error('Critical', error)
      resolve(BROKEN)
    })
  })
}

/** The same stream, which ends with an error if the module breaks. */
function relayed(number, call, response) {
  const source = response.body.getReader()
  const events = new ReadableStream({
    start(stream) {
      call.end = (outcome) => {
        const [begun, ...ids] = linesOf(call)
        log(outcome, begun, call)
        stream.enqueue(new TextEncoder().encode(`event: message\ndata: ${errors(outcome, ids, call)}\n\n`))
        stream.close()
        underWay.delete(number)
      }
    },
    async pull(stream) {
      try {
        const { done, value } = await source.read()
        if (!done) return stream.enqueue(value)
      } catch (error) {
        underWay.delete(number)
        throw error
      }
      underWay.delete(number)
      stream.close()
    },
    cancel(reason) {
      underWay.delete(number)
      return source.cancel(reason)
    },
  }, { highWaterMark: 0 })
  return new Response(events, response)
}

/** The body of a request, if it is at most `limit` bytes long; else the number of bytes after which it was given up. */
export async function read(request, limit) {
  const isShort = request.body === null || announced(request) <= limit
  return isShort ? new Uint8Array(await request.arrayBuffer()) : limited(request.body, limit)
}

/** Keeps the headers that the answer to a call has beside the usual ones if the module breaks. */
export function keepHeaders(number, headers) {
  const call = underWay.get(number)
  if (call) call.headers = headers
}

/** Keeps the beginning of the log line of a call, and its ids, a line for each. */
export function keepAnswer(number, lines, isBatch) {
  const call = underWay.get(number)
  if (!call) return
  // The bytes are the module's, and will be others when it goes on.
  call.lines = lines.slice()
  call.isBatch = isBatch
}

const INTERNAL_ERROR = -32603
const INTERRUPTED = {
  status: 503,
  message: 'The server has started anew while it answered another call. Nothing is wrong with this one: send it again.',
  headers: [['retry-after', '1']],
}
const BROKEN = { status: 200, message: 'The server failed to answer this request. Its log says why.', headers: [] }

/** The module has broken while it worked on the call of that number. All calls that wait are answered at once. */
export function broke(number) {
  breaks++
  broken = number
  // The next request gets a new instance; nothing else may, since what this one has left behind, such as a timer, would call into it.
  globalThis.__worker_init_state.criticalError = true
  for (const [other, { end }] of [...underWay]) end?.(other === number ? BROKEN : INTERRUPTED)
}

/** The answer to a call that the module does not answer any more. */
function told(outcome, call, request) {
  const [begun, ...ids] = linesOf(call, request.headers.get('cf-ray'))
  log(outcome, begun, call)
  const headers = new Headers(JSON_HEADERS)
  for (const [name, value] of [...call.headers, ...outcome.headers]) headers.append(name, value)
  return new Response(errors(outcome, ids, call), { status: outcome.status, headers })
}

/** The beginning of the log line, and the ids as they were sent. The module tells neither before it has read the message. */
function linesOf({ lines }, requestId) {
  if (lines) return new TextDecoder().decode(lines).split('\n')
  const line = JSON.stringify({ event: 'request', request_id: requestId ?? undefined })
  return [line.slice(0, -1)]
}

/** An error for each id, or one without an id, as JSON. */
function errors({ message }, ids, { isBatch }) {
  const error = JSON.stringify({ code: INTERNAL_ERROR, message })
  // An id is written as it was sent: parsed, a long number would be rounded.
  const all = ids.map((id) => `{"jsonrpc":"2.0","id":${id},"error":${error}}`)
  if (isBatch && all.length > 0) return `[${all.join()}]`
  return all[0] ?? `{"jsonrpc":"2.0","error":${error}}`
}

/** Writes the log line of a call as the module would have written it. */
function log({ status }, begun, { started }) {
  const line = `${begun},"status":${status},"error":${INTERNAL_ERROR},"ms":${Date.now() - started}}`
  if (status < 500) console.log(line)
  else console.error(line)
}

// Once made, they are copied faster than read from an object.
const JSON_HEADERS = new Headers({ 'content-type': 'application/json', 'cache-control': 'no-store' })

/** A response of these bytes; as JSON, if no headers are said. */
export function respond(status, bytes, headers = JSON_HEADERS) {
  // The bytes are the module's, and will be others when it goes on.
  return new Response(bytes.length === 0 ? null : bytes.slice(), { status, headers })
}
