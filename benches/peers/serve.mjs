// Serves the peers with Node.js on one port, for the tests of the MCP client. Each peer has the tools, resources and prompts of
// demo/items.mjs, and each library is in its own file in demo/.
//
//   node serve.mjs          prints http://127.0.0.1:PORT, and ends when its standard input ends
//
//   /NAME/mcp               the endpoint of a peer
//   /requests?peer=NAME     returns all requests to a peer, as JSON

import { once } from 'node:events'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { Events, exchange } from './demo/items.mjs'
import { mastra } from './demo/mastra.mjs'
import { liteWithoutSessions, liteWithSessions } from './demo/mcp-lite.mjs'
import { sdkWithoutSessions, sdkWithSessions } from './demo/sdk.mjs'
import { server as newServer } from './demo/server.mjs'

/** Converts a handler of fetch requests to a handler of Node.js requests. */
const ofFetch = (handle) => async (req, res) => {
  const aborted = new AbortController()
  res.once('close', () => aborted.abort())
  const hasBody = req.method === 'POST'
  const response = await handle(new Request(new URL(req.url, `http://${req.headers.host}`), {
    method: req.method,
    headers: req.headers,
    signal: aborted.signal,
    ...(hasBody ? { body: Readable.toWeb(req), duplex: 'half' } : {}),
  }))
  res.writeHead(response.status, Object.fromEntries(response.headers))
  if (response.body) await pipeline(Readable.fromWeb(response.body), res)
  else res.end()
}

const PEERS = {
  'server-2.4': ofFetch(newServer),
  'sdk-1.32-sessions': sdkWithSessions(),
  'sdk-1.32-stateless': sdkWithoutSessions,
  'mastra': mastra('/mastra/mcp', undefined, '2026-07-28'),
  'mastra-sessions': mastra('/mastra-sessions/mcp', { eventStore: new Events(), retryInterval: 20 }),
  'mastra-stateless': mastra('/mastra-stateless/mcp', { serverless: true, serverlessStreaming: true }),
  'mcp-lite-sessions': ofFetch(liteWithSessions),
  'mcp-lite-stateless': ofFetch(liteWithoutSessions),
}

/** The requests to each peer. `isCancelled` says whether a tool noticed that the client cancelled the request. */
const requests = new Map(Object.keys(PEERS).map((name) => [name, []]))

const server = createServer(async (req, res) => {
  const url = new URL(req.url, 'http://127.0.0.1')
  if (url.pathname === '/requests') {
    return void res.end(JSON.stringify(requests.get(url.searchParams.get('peer'))))
  }
  const name = /^\/([^/]+)\/mcp$/.exec(url.pathname)?.[1]
  if (!Object.hasOwn(PEERS, name)) return void res.writeHead(404).end()
  const entry = { method: req.method, headers: req.headers, isAborted: false, isCancelled: false }
  requests.get(name).push(entry)
  res.once('close', () => { entry.isAborted = !res.writableFinished })
  try {
    await exchange.run({ entry, response: res }, () => PEERS[name](req, res))
  } catch (error) {
    if (!entry.isAborted) console.error(name, error)
    if (!res.headersSent) res.writeHead(500)
    res.end()
  }
})
server.listen(0, '127.0.0.1')
await once(server, 'listening')
console.log(`http://127.0.0.1:${server.address().port}`)
process.stdin.resume().once('end', () => process.exit())
