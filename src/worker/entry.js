// A request's way into the module, and what its caller is told when the module breaks.

import { limited } from './fetch.js'

/** A body that is announced to be this long at most has come with its head: it is read before the module is called. */
const SMALL = 64 * 1024

let calls = 0

/** The calls that wait within the module: how each is ended. */
const waiting = new Map()

/** The bodies that were read for them. */
const bodies = new Map()

/**
 * Answers a request.
 *
 * `answer` is the module's own: it gives a Response, or the promise of one if it has to wait.
 */
export async function receive(request, env, context, answer) {
  const call = ++calls
  let body
  try {
    // Without a length to rely on, and where there is much, it is for the module to say whether a body is wanted.
    if (announced(request) <= SMALL) body = new Uint8Array(await request.arrayBuffer())
    const answered = answer(request, env, context, body, call)
    if (answered instanceof Response) return answered
    const settled = await settling(call, answered)
    return settled instanceof Response ? settled : told(settled, body ?? bodies.get(call))
  } catch (error) {
    const isOurs = error instanceof WebAssembly.RuntimeError || error instanceof RangeError
    // Else it is of a module that has broken since, and was replaced.
    return told(isOurs ? BROKEN : INTERRUPTED, body ?? bodies.get(call))
  } finally {
    if (bodies.size > 0) bodies.delete(call)
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
    waiting.set(call, resolve)
    answered.then(resolve, reject).finally(() => waiting.delete(call))
  })
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
const BROKEN = { status: 200, message: 'The server failed for a reason that is not yours. Its log says why.' }

/** The module has broken while it worked on `call`. Everybody else is told so at once. */
export function broke(call) {
  for (const [other, resolve] of waiting) resolve(other === call ? BROKEN : INTERRUPTED)
  waiting.clear()
}

function told({ status, message, headers }, body) {
  const error = { code: -32603, message }
  return Response.json({ jsonrpc: '2.0', id: idOf(body), error }, { status, headers })
}

/** The id of the request in a body, if it can be read. */
function idOf(body) {
  try {
    const { id } = JSON.parse(new TextDecoder().decode(body))
    return typeof id === 'string' || typeof id === 'number' ? id : undefined
  } catch {
    return undefined
  }
}

const JSON_HEADERS = { 'content-type': 'application/json', 'cache-control': 'no-store' }

/** A response of these bytes; as JSON, if no headers are said. */
export function respond(status, bytes, headers = JSON_HEADERS) {
  // The bytes are the module's, and will be others when it goes on.
  return new Response(bytes.length === 0 ? null : bytes.slice(), { status, headers })
}
