// A server of the npm package fastmcp.
//
//   node fastmcp-server.mjs PORT

import { FastMCP } from 'fastmcp'
import * as z from 'zod'

const server = new FastMCP({ name: 'peer', version: '1.0.0' })
server.addTool({
  name: 'add',
  description: 'Adds two numbers.',
  parameters: z.object({ a: z.number(), b: z.number() }),
  execute: async ({ a, b }) => String(a + b),
})
server.addResource({ uri: 'demo://text', name: 'Text', mimeType: 'text/plain', load: async () => ({ text: 'A text: déjà vu, 🙂.' }) })
server.addPrompt({ name: 'greet', description: 'Greets.', arguments: [{ name: 'name', required: true }], load: async ({ name }) => `Greet ${name}.` })
await server.start({ transportType: 'httpStream', httpStream: { port: Number(process.argv[2]), host: '127.0.0.1' } })
