// A proxy that records all requests and answers. A test can change the server behind it.

import { once } from 'node:events'
import { createServer, request } from 'node:http'

/**
 * Starts a proxy on the loopback address.
 *
 * @returns {Promise<{ origin: string, target: string, exchanges: object[], stop: () => Promise<void> }>} `target` is the origin of the server
 *   behind the proxy
 */
export async function startRecordingProxy() {
  const server = createServer((incoming, outgoing) => {
    forward(incoming, outgoing).catch((error) => outgoing.writeHead(502).end(String(error)))
  })
  async function forward(incoming, outgoing) {
    const body = await bytes(incoming)
    const sent = request(`${proxy.target}${incoming.url}`, { method: incoming.method, headers: incoming.headers }).end(body)
    const [answer] = await once(sent, 'response')
    const answered = await bytes(answer)
    const { method, url, headers } = incoming
    proxy.exchanges.push({ method, url, headers, sent: String(body), status: answer.statusCode, answer: String(answered) })
    outgoing.writeHead(answer.statusCode, answer.rawHeaders).end(answered)
  }
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const proxy = {
    origin: `http://127.0.0.1:${server.address().port}`,
    target: undefined,
    exchanges: [],
    async stop() {
      server.close()
      server.closeAllConnections()
    },
  }
  return proxy
}

async function bytes(stream) {
  const parts = []
  for await (const part of stream) parts.push(part)
  return Buffer.concat(parts)
}
