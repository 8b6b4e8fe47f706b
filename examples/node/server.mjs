// Serves a built Worker over HTTP with Node.js: `node server.mjs MAIN`, where MAIN is the entry module of the Worker.
// README.md describes the variables, and the parts of Cloudflare that do not exist here.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { pathToFileURL } from 'node:url'

import { load } from './worker.mjs'

/** The maximum size of all headers of a request in bytes, as in Workers. The library has a lower limit for each header. */
const HEADERS = 128 * 1024

/** The time in milliseconds for running requests after a signal to stop. `docker stop` waits 10 s before it kills a container. */
const GRACE = 9_000

function fail(error) {
  console.error(error)
  process.exit(1)
}

const [main] = process.argv.slice(2)
if (!main) fail('usage: node server.mjs MAIN, such as: node server.mjs build/index.js')
const worker = await load(pathToFileURL(resolve(main)).href).catch(fail)

/** Returns the request in the form of a Worker. Throws if a header or the method is invalid, or if the target is not a path. */
function requestOf(incoming, signal) {
  const { method, url, rawHeaders, socket } = incoming
  const { host } = incoming.headers
  // A host with other characters could change the path of the URL below.
  if (!/^[\w.:[\]-]+$/.test(host ?? '') || !url.startsWith('/')) throw new TypeError('the Host header is missing or invalid, or the target is not a path')
  const headers = new Headers()
  for (let n = 0; n < rawHeaders.length; n += 2) headers.append(rawHeaders[n], rawHeaders[n + 1])
  // Cloudflare overwrites these headers too. Otherwise, a client could choose the address that the library checks.
  headers.set('cf-connecting-ip', socket.remoteAddress)
  headers.set('cf-ray', randomUUID())
  // If the library stops reading the body early, the connection must live on for the answer.
  const body = method === 'GET' || method === 'HEAD' ? null : ReadableStream.from(incoming.iterator({ destroyOnReturn: false }))
  return new Request(`http://${host}${url}`, { method, headers, body, duplex: 'half', signal })
}

async function answer(incoming, outgoing) {
  const left = new AbortController()
  outgoing.once('close', () => {
    // Node.js parses the next request of a connection only after the rest of this body.
    if (outgoing.writableFinished) incoming.resume()
    else left.abort()
  })
  let request
  try {
    request = requestOf(incoming, left.signal)
  } catch {
    return outgoing.writeHead(400).end()
  }
  const { status, headers, body } = await worker.fetch(request)
  if (left.signal.aborted) return body?.cancel()
  outgoing.setHeaders(headers).writeHead(status)
  if (!body) return outgoing.end()
  // A stream may have its first event much later than its head.
  outgoing.flushHeaders()
  // If the client disconnects, this cancels the body, which cancels the handler.
  await pipeline(body, outgoing).catch((error) => left.signal.aborted || console.error('Uncaught', error))
}

const server = createServer({ maxHeaderSize: HEADERS }, (incoming, outgoing) => {
  answer(incoming, outgoing).catch((error) => {
    console.error('Uncaught', error)
    outgoing.destroy()
  })
})
server.listen(Number(process.env.PORT ?? 8787), process.env.HOST ?? '127.0.0.1')
await once(server, 'listening').catch(fail)
const { address, family, port } = server.address()
console.log(`Ready on http://${family === 'IPv6' ? `[${address}]` : address}:${port}`)

async function stop() {
  const closed = once(server, 'close')
  server.close()
  // A connection stays open after its last answer, until the client closes it or 5 s have passed.
  setInterval(() => server.closeIdleConnections(), 100)
  setTimeout(() => process.exit(1), GRACE)
  await closed
  await worker.idle()
  process.exit()
}
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, stop)
