// A server of mcp-handler, the adapter of Vercel.
//
//   node handler-server.mjs PORT

import { createMcpHandler } from 'mcp-handler'
import { serve } from '@hono/node-server'
import * as z from 'zod'

const handler = createMcpHandler((server) => {
  server.registerTool('add', { description: 'Adds two numbers.', inputSchema: { a: z.number(), b: z.number() } },
    async ({ a, b }) => ({ content: [{ type: 'text', text: String(a + b) }] }))
}, {}, { basePath: '' })
serve({ fetch: handler, port: Number(process.argv[2]), hostname: '127.0.0.1' })
