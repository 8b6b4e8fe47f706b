// Passes requests to the wasm module, and answers them if the wasm module breaks. After a panic, a stack overflow or out-of-memory, a
// wasm module is broken and cannot run again.

import { env } from 'cloudflare:workers'

/**
 * The maximum `Content-Length`, in bytes, of a body that JavaScript reads before it calls the wasm module, which then needs no promise. The
 * wasm module reads other bodies after it has checked the caller, within its own limits.
 */
const EARLY_BODY = 256 * 1024

/**
 * The maximum of the announced lengths of all these bodies, until they have arrived. Stalled bodies hold no more than this, and the checks
 * of the other requests do not wait for them.
 */
const EARLY_BODIES = 4 * 1024 * 1024

/** The time in milliseconds after which such a body has stalled. If others need its place, its call goes on without it. */
const STALLED = 30_000

/**
 * The time in milliseconds after which a call is removed from the list. A handler runs at most 300 s. The platform stops a call 30 s
 * after its client has disconnected, and does not run code of this call again.
 */
const CALL_LIFETIME = 600_000

let calls = 0

/**
 * The pending calls, oldest first, with the data for their answers if the wasm module breaks. The entries do not contain the bodies.
 *
 * @typedef {object} Call
 * @property {number} started the time at which it started, in milliseconds
 * @property {() => void} [stopReading] goes on without the body that is read early
 * @property {(outcome: object) => void} [end] ends the call, if it waits in the wasm module or is a stream that the wasm module writes
 * @property {[string, string][]} headers the additional headers of its answer
 * @property {Request} request its request
 * @property {number} early the announced length of its body, while it counts in `earlyBytes`
 * @property {Uint8Array} [lines] the beginning of its log line, followed by a line for each id
 * @property {boolean} isBatch whether its answer is an array
 *
 * @type {Map<number, Call>}
 */
const pendingCalls = new Map()

/** The sum of the announced lengths of the bodies that are read early. */
let earlyBytes = 0

/**
 * Whether each body so far had its announced length. HTTP ensures it, but a Worker that calls this one through a service binding can send
 * another body with the headers of its own caller. After the first such body, no body is read early.
 */
let lengthsAreTrue = true

/**
 * The readers of the bodies for which the wasm module waits, by their requests.
 *
 * @type {WeakMap<Request, ReadableStreamDefaultReader>}
 */
const readers = new WeakMap()

/** The number of times that the wasm module has broken, and the number of the call that broke it last. */
let breaks = 0
let brokenBy

/**
 * Answers a request.
 *
 * `answer` is a function of the wasm module. It returns a Response, or a promise of a Response if it has to wait.
 */
export async function receive(request, env, context, answer) {
  const number = ++calls
  const before = breaks
  const call = begin(number, request)
  let isStream = false
  try {
    let body = call.early > 0 ? await readEarly(request, call) : undefined
    const answered = answer(request, env, context, body, number)
    // The body can now be garbage-collected. The wasm module drops its copy when a handler waits.
    body = undefined
    if (answered instanceof Response) return answered
    const settled = answerOrOutcome(call, answered)
    // If the client disconnects, the platform stops a call and does not run its code again, unless `waitUntil` keeps the call alive.
    context.waitUntil(settled)
    const outcome = await settled
    if (!(outcome instanceof Response)) return crashAnswer(outcome, call)
    isStream = outcome.headers.get('content-type') === 'text/event-stream'
    return isStream ? relayStream(number, call, outcome) : outcome
  } catch (error) {
    // If another call has broken the wasm module in the meantime, this call did not cause the error: the new one does not have this call.
    const isOwn = number === brokenBy || breaks === before
    if (isOwn) console.error('Critical', error)
    if (breaks === before) reportBreak(error, number)
    return crashAnswer(isOwn ? BROKEN : INTERRUPTED, call)
  } finally {
    release(call)
    readers.get(request)?.cancel().catch(() => {})
    if (!isStream) pendingCalls.delete(number)
  }
}

function begin(number, request) {
  const started = Date.now()
  for (const [other, call] of pendingCalls) {
    if (started - call.started < CALL_LIFETIME) break
    release(call)
    pendingCalls.delete(other)
  }
  const early = earlyLength(request, started)
  const call = { started, request, early, stopReading: undefined, end: undefined, headers: [], lines: undefined, isBatch: false }
  earlyBytes += early
  pendingCalls.set(number, call)
  return call
}

/** Stops counting the body of a call as one that is read early. */
function release(call) {
  earlyBytes -= call.early
  call.early = 0
}

let hasWarmedUp = false

/**
 * Passes the warm-up call to the wasm module, once per isolate. A wasm module that starts after a break does not get a warm-up, because
 * real calls are waiting for it.
 */
export function warmUp(work, headers, body) {
  if (hasWarmedUp) return
  hasWarmedUp = true
  // An error here must not prevent the start of the wasm module. A Request cannot be constructed at this time.
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

/** Returns the `Content-Length` of a body that is read early, or 0 if the body is not read early. */
function earlyLength(request, now) {
  const length = Number(request.headers.get('content-length'))
  if (!lengthsAreTrue || !(length > 0 && length <= EARLY_BODY)) return 0
  if (earlyBytes + length <= EARLY_BODIES) return length
  for (const call of pendingCalls.values()) {
    if (call.early === 0 || now - call.started <= STALLED) continue
    // If the client has disconnected, the platform does not run this call again.
    release(call)
    call.stopReading()
  }
  return 0
}

/**
 * Returns the body, or undefined if the connection fails or the body stalls: the wasm module then checks the caller, reads the body again,
 * and reports the failure.
 */
function readEarly(request, call) {
  const length = call.early
  return new Promise((resolve) => {
    call.stopReading = resolve
    request.arrayBuffer().then((body) => {
      if (body.byteLength > length) distrustLengths()
      release(call)
      resolve(new Uint8Array(body))
    }, () => resolve())
  })
}

function distrustLengths() {
  if (lengthsAreTrue) console.warn('A body is longer than its Content-Length. The Worker that sent it must set the length of the body that it sends.')
  lengthsAreTrue = false
}

/**
 * Returns a promise of the answer to the call. If the wasm module breaks, its promise `answered` stays pending, and the returned promise
 * resolves with an outcome.
 */
function answerOrOutcome(call, answered) {
  return new Promise((resolve) => {
    call.end = resolve
    answered.then(resolve, (error) => {
      console.error('Critical', error)
      resolve(BROKEN)
    })
  })
}

/** Returns a response with the same stream. If the wasm module breaks, the stream ends with an error. */
function relayStream(number, call, response) {
  const source = response.body.getReader()
  // Another call may end this stream. The runtime does not permit that call to read this request, so the id is read now.
  const requestId = requestIdOf(call)
  const events = new ReadableStream({
    start(stream) {
      call.end = (outcome) => {
        const [begun, ...ids] = linesOf(call)
        log(outcome, begun, call, requestId)
        stream.enqueue(new TextEncoder().encode(`event: message\ndata: ${errors(outcome, ids, call)}\n\n`))
        stream.close()
        pendingCalls.delete(number)
      }
    },
    async pull(stream) {
      try {
        const { done, value } = await source.read()
        if (!done) return stream.enqueue(value)
      } catch (error) {
        pendingCalls.delete(number)
        throw error
      }
      pendingCalls.delete(number)
      stream.close()
    },
    cancel(reason) {
      pendingCalls.delete(number)
      return source.cancel(reason)
    },
  }, { highWaterMark: 0 })
  return new Response(events, response)
}

/**
 * Returns the body of a request if it has at most `limit` bytes. If there are more, stops and returns the number of bytes read so far. It
 * counts the bytes that arrive, because a `Content-Length` may be wrong.
 */
export async function read(request, limit) {
  if (request.body === null) return new Uint8Array()
  const reader = request.body.getReader()
  readers.set(request, reader)
  const chunks = []
  let length = 0
  for (;;) {
    const { done, value } = await reader.read()
    if (done) return new Uint8Array(await new Blob(chunks).arrayBuffer())
    length += value.length
    if (length > limit) return length
    chunks.push(value)
  }
}

/** Stores the additional headers for the answer to a call, in case the wasm module breaks. */
export function keepHeaders(number, headers) {
  const call = pendingCalls.get(number)
  if (call) call.headers = headers
}

/** Stores the beginning of the log line of a call, followed by a line for each id. */
export function keepAnswer(number, lines, isBatch) {
  const call = pendingCalls.get(number)
  if (!call) return
  // The bytes are memory of the wasm module, which changes when it runs again.
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

/** Returns the number of a call that is not a request. */
export const newCall = () => ++calls

/** The functions that run if the wasm module breaks. */
const breakListeners = new Set()

/** Adds a function that gets the number of the call that breaks the wasm module. Returns a function that removes it. */
export function onBreak(listener) {
  breakListeners.add(listener)
  return () => breakListeners.delete(listener)
}

/** Records that the call `number` has broken the wasm module, and answers all waiting calls. */
export function broke(number) {
  breaks++
  brokenBy = number
  // With this flag, the next request creates a new instance. Timers of this instance must not run in the new one.
  globalThis.__worker_init_state.criticalError = true
  for (const [other, { end }] of [...pendingCalls]) end?.(other === number ? BROKEN : INTERRUPTED)
  for (const listener of [...breakListeners]) listener(number)
}

// A wasm module without optimization cannot report a stack overflow itself, because its report needs the stack.
addEventListener('error', ({ error }) => {
  if (!globalThis.__worker_init_state.criticalError) reportBreak(error)
})

/** Records that the wasm module has broken, if the error says so. The call is unknown if the module has broken after a wait. */
function reportBreak(error, number) {
  if (error instanceof WebAssembly.RuntimeError || error instanceof RangeError) broke(number)
}

/** Returns the answer to a call that the wasm module can no longer answer. */
function crashAnswer(outcome, call) {
  const [begun, ...ids] = linesOf(call)
  log(outcome, begun, call, requestIdOf(call))
  const headers = new Headers(JSON_HEADERS)
  for (const [name, value] of [...call.headers, ...outcome.headers]) headers.append(name, value)
  return new Response(errors(outcome, ids, call), { status: outcome.status, headers })
}

/** Returns the beginning of the log line, and the ids as JSON text. The wasm module provides both after it has parsed the message. */
function linesOf({ lines }) {
  return lines ? new TextDecoder().decode(lines).split('\n') : ['{"event":"request"']
}

/** Returns an error for each id as JSON. If there are no ids, returns one error without an id. */
function errors({ message }, ids, { isBatch }) {
  const error = JSON.stringify({ code: INTERNAL_ERROR, message })
  // Ids are copied as text, because parsing would round long numbers.
  const all = ids.map((id) => `{"jsonrpc":"2.0","id":${id},"error":${error}}`)
  if (isBatch && all.length > 0) return `[${all.join()}]`
  return all[0] ?? `{"jsonrpc":"2.0","error":${error}}`
}

/** Returns the id of a call in the logs of the platform. */
function requestIdOf({ request }) {
  return request.headers.get('cf-ray') ?? undefined
}

/** Writes the log line of a call in the format of the wasm module. */
function log({ status }, begun, { started }, requestId) {
  const rest = { status, error: INTERNAL_ERROR, request_id: requestId, ms: Date.now() - started }
  const line = `${begun},${JSON.stringify(rest).slice(1)}`
  if (status < 500) console.log(line)
  else console.error(line)
}

// Copying a Headers object is faster than creating one from a plain object.
const JSON_HEADERS = new Headers({ 'content-type': 'application/json', 'cache-control': 'no-store' })

/** Returns a response with these bytes. Without `headers`, the response is JSON. */
export function respond(status, bytes, headers = JSON_HEADERS) {
  // The bytes are memory of the wasm module, which changes when it runs again.
  return new Response(bytes.length === 0 ? null : bytes.slice(), { status, headers })
}
