// mcp-lite. As in its documentation, one server serves all requests of the isolate.

import { McpServer, StreamableHttpTransport } from 'mcp-lite'
import * as z from 'zod'
import { megabyte, tools } from './tools.mjs'
import { RESOURCE } from '../content.mjs'

function serve(env) {
  const server = new McpServer({ name: 'bench', version: '1.0.0', schemaAdapter: (schema) => z.toJSONSchema(schema) })
  if (env.LOG) server.use(logged)
  for (const { name, description, input, handle } of tools(env)) {
    server.tool(name, { description, inputSchema: input, handler: (args) => ({ content: [{ type: 'text', text: handle(args) }] }) })
  }
  server.resource(RESOURCE, { name: 'Megabyte', mimeType: 'text/plain' },
    (uri) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: megabyte() }] }))
  return new StreamableHttpTransport().bind(server)
}

async function logged({ request: { method, params, id } }, next) {
  const begun = Date.now()
  await next()
  console.log(JSON.stringify({ event: 'request', method, target: params?.name, id, status: 200, ms: Date.now() - begun }))
}

let handler
export default { fetch: (request, env) => (handler ??= serve(env))(request) }
