// A server of @modelcontextprotocol/sdk with the transport of @hono/mcp.
//
//   node hono-server.mjs PORT

import { StreamableHTTPTransport } from '@hono/mcp'
import { serve } from '@hono/node-server'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { Hono } from 'hono'
import * as z from 'zod'

const server = new McpServer({ name: 'peer', version: '1.0.0' })
server.registerTool('add', { description: 'Adds two numbers.', inputSchema: { a: z.number(), b: z.number() } },
  ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }))
const transport = new StreamableHTTPTransport()
const app = new Hono()
app.all('/mcp', async (context) => {
  if (!server.isConnected()) await server.connect(transport)
  return transport.handleRequest(context)
})
serve({ fetch: app.fetch, port: Number(process.argv[2]), hostname: '127.0.0.1' })
