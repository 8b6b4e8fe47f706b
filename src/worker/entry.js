// Passes requests to the module, and answers them if the module breaks.

import { env } from 'cloudflare:workers'
import { limited } from './fetch.js'

/**
 * Bytes. A body with at most this `Content-Length` is read before the module is called, which saves the module a promise. While many
 * calls are pending the bound is low, because the module limits the memory for bodies only when it reads them itself.
 */
const READ_FIRST = 256 * 1024
const READ_FIRST_OF_MANY = 64 * 1024
const MANY = 16

/**
 * Milliseconds after which a call is forgotten. No handler may run longer than 300 s. The platform stops a call 30 s after its client has
 * disconnected, without running any of its code again.
 */
const LAPSE = 600_000

let calls = 0

/**
 * The pending calls, oldest first, with the data for their answers if the module breaks. None holds a body.
 *
 * @typedef {object} Call
 * @property {number} started when it began, in milliseconds
 * @property {(outcome: object) => void} [end] ends it, if it waits in the module or is a stream that the module writes
 * @property {[string, string][]} headers the headers of its answer besides the usual ones
 * @property {Request} request its request
 * @property {Uint8Array} [lines] the beginning of its log line, and then a line for each id
 * @property {boolean} isBatch whether its answer is an array
 *
 * @type {Map<number, Call>}
 */
const underWay = new Map()

/** How often the module has broken, and the call at which it broke last. */
let breaks = 0
let broken

/**
 * Answers a request.
 *
 * `answer` is a function of the module. It returns a Response, or a promise of one if it has to wait.
 */
export async function receive(request, env, context, answer) {
  const number = ++calls
  const before = breaks
  const call = begin(number, request)
  let isStream = false
  try {
    // No variable holds the body. The module copies it, and drops the copy when a handler waits.
    const answered = answer(request, env, context, await readFirst(request), number)
    if (answered instanceof Response) return answered
    const settled = settling(call, answered)
    // If the client disconnects, the platform stops a call without running any of its code again, unless `waitUntil` keeps it.
    context.waitUntil(settled)
    const outcome = await settled
    if (!(outcome instanceof Response)) return crashAnswer(outcome, call)
    isStream = outcome.headers.get('content-type') === 'text/event-stream'
    return isStream ? relayed(number, call, outcome) : outcome
  } catch (error) {
    // If the module has broken meanwhile at another call, the new module does not know this call.
    const isOwn = number === broken || breaks === before
    if (isOwn) console.error('Critical', error)
    return crashAnswer(isOwn ? BROKEN : INTERRUPTED, call)
  } finally {
    if (!isStream) underWay.delete(number)
  }
}

function begin(number, request) {
  const started = Date.now()
  for (const [other, call] of underWay) {
    if (started - call.started < LAPSE) break
    underWay.delete(other)
  }
  const call = { started, request, end: undefined, headers: [], lines: undefined, isBatch: false }
  underWay.set(number, call)
  return call
}

let hasWarmedUp = false

/** Lets the module answer a warm-up call, once per isolate. A module that starts after a break has real calls to answer. */
export function warmUp(work, headers, body) {
  if (hasWarmedUp) return
  hasWarmedUp = true
  // An error here must not stop the module from starting. A Request cannot be constructed yet.
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
 * Returns the body, unless it may be too long to be read before the module is called. The module also reads a body whose connection
 * failed, and reports that failure itself.
 */
function readFirst(request) {
  const most = underWay.size < MANY ? READ_FIRST : READ_FIRST_OF_MANY
  if (!(announced(request) <= most)) return undefined
  return request.arrayBuffer().then((body) => new Uint8Array(body), () => undefined)
}

/** Returns the `Content-Length`, or NaN without one. */
function announced(request) {
  const length = request.headers.get('content-length')
  return length === null ? NaN : Number(length)
}

/** Resolves with the answer to the call, or with an outcome if the module breaks: its own promise would stay pending then. */
function settling(call, answered) {
  return new Promise((resolve) => {
    call.end = resolve
    answered.then(resolve, (error) => {
      console.error('Critical', error)
      resolve(BROKEN)
    })
  })
}

/** Returns the same stream, which ends with an error if the module breaks. */
function relayed(number, call, response) {
  const source = response.body.getReader()
  // Another call may end this stream, and the runtime does not let it read this request.
  const requestId = requestIdOf(call)
  const events = new ReadableStream({
    start(stream) {
      call.end = (outcome) => {
        const [begun, ...ids] = linesOf(call)
        log(outcome, begun, call, requestId)
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

/** Returns the body of a request if it has at most `limit` bytes, or else the number of bytes that were read. */
export async function read(request, limit) {
  const isShort = request.body === null || announced(request) <= limit
  return isShort ? new Uint8Array(await request.arrayBuffer()) : limited(request.body, limit)
}

/** Keeps the additional headers of the answer to a call if the module breaks. */
export function keepHeaders(number, headers) {
  const call = underWay.get(number)
  if (call) call.headers = headers
}

/** Keeps the beginning of the log line of a call, and its ids, a line for each. */
export function keepAnswer(number, lines, isBatch) {
  const call = underWay.get(number)
  if (!call) return
  // The bytes are memory of the module, which changes when it runs again.
  call.lines = lines.slice()
  call.isBatch = isBatch
}

const INTERNAL_ERROR = -32603
const INTERRUPTED = {
  status: 503,
  message: 'The server restarted because another call crashed it. Send this call again.',
  headers: [['retry-after', '1']],
}
const BROKEN = { status: 200, message: 'The server failed to answer this request. Its log says why.', headers: [] }

/** Reports that the module has broken at the call `number`. All waiting calls are answered at once. */
export function broke(number) {
  breaks++
  broken = number
  // The next request creates a new instance. Timers of this instance must not run in it.
  globalThis.__worker_init_state.criticalError = true
  for (const [other, { end }] of [...underWay]) end?.(other === number ? BROKEN : INTERRUPTED)
}

/** Returns the answer to a call that the module cannot answer any more. */
function crashAnswer(outcome, call) {
  const [begun, ...ids] = linesOf(call)
  log(outcome, begun, call, requestIdOf(call))
  const headers = new Headers(JSON_HEADERS)
  for (const [name, value] of [...call.headers, ...outcome.headers]) headers.append(name, value)
  return new Response(errors(outcome, ids, call), { status: outcome.status, headers })
}

/** Returns the beginning of the log line, and the ids as they were sent. The module provides both once it has parsed the message. */
function linesOf({ lines }) {
  return lines ? new TextDecoder().decode(lines).split('\n') : ['{"event":"request"']
}

/** Returns an error for each id, or one without an id, as JSON. */
function errors({ message }, ids, { isBatch }) {
  const error = JSON.stringify({ code: INTERNAL_ERROR, message })
  // Ids are copied as text, since parsing would round long numbers.
  const all = ids.map((id) => `{"jsonrpc":"2.0","id":${id},"error":${error}}`)
  if (isBatch && all.length > 0) return `[${all.join()}]`
  return all[0] ?? `{"jsonrpc":"2.0","error":${error}}`
}

/** Returns the id of a call in the logs of the platform. */
function requestIdOf({ request }) {
  return request.headers.get('cf-ray') ?? undefined
}

/** Writes the log line of a call in the format of the module. */
function log({ status }, begun, { started }, requestId) {
  const rest = { status, error: INTERNAL_ERROR, request_id: requestId, ms: Date.now() - started }
  const line = `${begun},${JSON.stringify(rest).slice(1)}`
  if (status < 500) console.log(line)
  else console.error(line)
}

// Copying a Headers object is faster than making one from an object.
const JSON_HEADERS = new Headers({ 'content-type': 'application/json', 'cache-control': 'no-store' })

/** Returns a response with these bytes. Without `headers` it is JSON. */
export function respond(status, bytes, headers = JSON_HEADERS) {
  // The bytes are memory of the module, which changes when it runs again.
  return new Response(bytes.length === 0 ? null : bytes.slice(), { status, headers })
}
