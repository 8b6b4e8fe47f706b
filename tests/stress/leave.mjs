// Clients that disconnect: while they send, before the answer, and during the answer.

import { connect } from 'node:net'

/** Sends a part of a request, or all of it, and disconnects. `n` determines how much is sent, and when the client disconnects. */
export function leave({ url, token }, { body, headers }, n) {
  const { hostname, port, pathname } = new URL(url)
  const bytes = Buffer.from(body)
  const sent = [bytes.subarray(0, bytes.length / 2), bytes][n % 2]
  const length = n % 4 < 2 ? [`Content-Length: ${bytes.length}`] : ['Transfer-Encoding: chunked']
  const piece = n % 4 < 2 ? sent : Buffer.concat([Buffer.from(`${sent.length.toString(16)}\r\n`), sent, Buffer.from('\r\n')])
  const head = [
    `POST ${pathname} HTTP/1.1`, `Host: ${hostname}:${port}`, `Authorization: Bearer ${token}`, 'Content-Type: application/json',
    'Accept: application/json, text/event-stream', ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`), ...length,
  ]
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname, () => {
      socket.write(`${head.join('\r\n')}\r\n\r\n`)
      socket.write(piece)
      if (n % 3 === 0) socket.once('data', () => socket.destroy())
      setTimeout(() => socket.destroy(), n % 30)
    })
    socket.on('error', () => {})
    socket.once('close', resolve)
  })
}
