// A server of @modelcontextprotocol/sdk with sessions.
//
//   node sdk-server.mjs PORT

import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'

import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import * as z from 'zod'

function build() {
  const server = new McpServer({ name: 'peer', version: '1.0.0' })
  const textOf = (text) => ({ content: [{ type: 'text', text }] })
  server.tool('add', 'Adds two numbers.', { a: z.number(), b: z.number() }, ({ a, b }) => textOf(String(a + b)))
  let remembered = 'nothing'
  server.tool('remember', 'Keeps a text in the session.', { text: z.string() }, ({ text }) => {
    remembered = text
    return textOf('kept')
  })
  server.tool('recall', 'Returns the text of the session.', () => textOf(remembered))
  server.resource('Text', 'demo://text', ({ href }) => ({ contents: [{ uri: href, text: 'A text: déjà vu, 🙂.' }] }))
  server.resource('Greetings', new ResourceTemplate('demo://greetings/{name}', { list: undefined }),
    ({ href }, { name }) => ({ contents: [{ uri: href, text: `Hello, ${name}.` }] }))
  server.prompt('greet', 'Greets.', { name: z.string() },
    ({ name }) => ({ messages: [{ role: 'user', content: { type: 'text', text: `Greet ${name}.` } }] }))
  return server
}

const transports = new Map()
createServer(async (request, response) => {
  const id = request.headers['mcp-session-id']
  if (id !== undefined && !transports.has(id)) return void response.writeHead(404).end()
  let transport = transports.get(id)
  if (!transport) {
    transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: randomUUID, onsessioninitialized: (id) => { transports.set(id, transport) },
    })
    await build().connect(transport)
  }
  await transport.handleRequest(request, response)
}).listen(Number(process.argv[2]), '127.0.0.1')
