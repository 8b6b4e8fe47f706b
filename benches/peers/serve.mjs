// Serves the peers with Node.js on one port, for the tests of the MCP client. Each peer has the same tools, resource and prompt.
//
//   node serve.mjs          prints http://127.0.0.1:PORT, and ends when its standard input ends
//
//   /NAME/mcp               the endpoint of a peer
//   /requests?peer=NAME     returns all requests to a peer, as JSON

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { createTool } from '@mastra/core/tools'
import { MCPServer } from '@mastra/mcp'
import { McpServer as OldServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import { createMcpHandler, McpServer as NewServer } from '@modelcontextprotocol/server'
import { InMemorySessionAdapter, McpServer as LiteServer, StreamableHttpTransport } from 'mcp-lite'
import * as z from 'zod'

const INFO = { name: 'peer', version: '1.0.0' }
const RESOURCE = 'demo://text'
const TEXT = 'A text: déjà vu, 🙂.'

/** The tools: a description, the input, and a function that returns the text of the result. */
const TOOLS = {
  add: ['Adds two numbers.', z.object({ a: z.number(), b: z.number() }), ({ a, b }) => String(a + b)],
  large: ['Returns a large text.', z.object({ bytes: z.number() }), ({ bytes }) => 'x'.repeat(bytes)],
  wait: ['Waits.', z.object({ ms: z.number() }), ({ ms }) => new Promise((resolve) => setTimeout(resolve, ms, 'waited'))],
}
const FAIL = { content: [{ type: 'text', text: 'This tool always fails.' }], isError: true }
const greeting = ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}.` } }] })
const contents = { contents: [{ uri: RESOURCE, mimeType: 'text/plain', text: TEXT }] }

/** Adds the tools, the resource and the prompt to a server of an official package. */
function register(server, argsSchema) {
  for (const [name, [description, inputSchema, handle]] of Object.entries(TOOLS)) {
    server.registerTool(name, { description, inputSchema }, async (args) => ({ content: [{ type: 'text', text: await handle(args) }] }))
  }
  server.registerTool('fail', { description: 'Fails.', inputSchema: z.object({}) }, () => FAIL)
  server.registerResource('Text', RESOURCE, { mimeType: 'text/plain' }, () => contents)
  server.registerPrompt('greet', { description: 'Greets.', argsSchema }, greeting)
  return server
}

const newServer = () => register(new NewServer(INFO), z.object({ name: z.string() }))
const oldServer = () => register(new OldServer(INFO), { name: z.string() })

/** A server of the old package for each session. */
function withSessions() {
  const transports = new Map()
  return async (request, response) => {
    const id = request.headers['mcp-session-id']
    if (id !== undefined && !transports.has(id)) return void response.writeHead(404).end()
    let transport = transports.get(id)
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => { transports.set(id, transport) },
        onsessionclosed: (id) => { transports.delete(id) },
      })
      await oldServer().connect(transport)
    }
    await transport.handleRequest(request, response)
  }
}

/** A server of the old package for each request. */
async function withoutSessions(request, response) {
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true })
  await oldServer().connect(transport)
  await transport.handleRequest(request, response)
}

function mastra(path, options) {
  const tool = (name, [description, inputSchema, handle]) =>
    [name, createTool({ id: name, description, inputSchema, execute: async (args) => handle(args) })]
  const server = new MCPServer({
    id: 'peer',
    ...INFO,
    tools: {
      ...Object.fromEntries(Object.entries(TOOLS).map(([name, definition]) => tool(name, definition))),
      fail: createTool({ id: 'fail', description: 'Fails.', inputSchema: z.object({}), execute: async () => { throw new Error('This tool always fails.') } }),
    },
    resources: {
      listResources: async () => [{ uri: RESOURCE, name: 'Text', mimeType: 'text/plain' }],
      getResourceContent: async () => ({ text: TEXT }),
    },
    prompts: {
      listPrompts: async () => [{ name: 'greet', description: 'Greets.', arguments: [{ name: 'name', required: true }] }],
      getPromptMessages: async ({ args }) => greeting(args).messages,
    },
  })
  return (req, res) => server.startHTTP({ url: new URL(req.url, 'http://127.0.0.1'), httpPath: path, req, res, options })
}

function lite(options) {
  const server = new LiteServer({ ...INFO, schemaAdapter: (schema) => z.toJSONSchema(schema) })
  for (const [name, [description, inputSchema, handle]] of Object.entries(TOOLS)) {
    server.tool(name, { description, inputSchema, handler: async (args) => ({ content: [{ type: 'text', text: await handle(args) }] }) })
  }
  server.tool('fail', { description: 'Fails.', handler: () => FAIL })
  server.resource(RESOURCE, { name: 'Text', mimeType: 'text/plain' }, () => contents)
  server.prompt('greet', { description: 'Greets.', arguments: z.object({ name: z.string() }), handler: greeting })
  return new StreamableHttpTransport(options).bind(server)
}

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

const handler = createMcpHandler(newServer)
const PEERS = {
  'server-2.4': ofFetch((request) => handler.fetch(request)),
  'sdk-1.32-sessions': withSessions(),
  'sdk-1.32-stateless': withoutSessions,
  'mastra-sessions': mastra('/mastra-sessions/mcp', undefined),
  'mastra-stateless': mastra('/mastra-stateless/mcp', { serverless: true }),
  'mcp-lite-sessions': ofFetch(lite({ sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 100 }) })),
  'mcp-lite-stateless': ofFetch(lite()),
}

/** The requests to each peer. */
const requests = new Map(Object.keys(PEERS).map((name) => [name, []]))

const server = createServer(async (req, res) => {
  const url = new URL(req.url, 'http://127.0.0.1')
  if (url.pathname === '/requests') {
    return void res.end(JSON.stringify(requests.get(url.searchParams.get('peer'))))
  }
  const name = /^\/([^/]+)\/mcp$/.exec(url.pathname)?.[1]
  if (!Object.hasOwn(PEERS, name)) return void res.writeHead(404).end()
  const entry = { method: req.method, headers: req.headers, isAborted: false }
  requests.get(name).push(entry)
  res.once('close', () => { entry.isAborted = !res.writableFinished })
  try {
    await PEERS[name](req, res)
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
