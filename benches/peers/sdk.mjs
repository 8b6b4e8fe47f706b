// @modelcontextprotocol/sdk without sessions. It requires a server and a transport for each request.

import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js'
import { register } from './register.mjs'

export default {
  async fetch(request, env) {
    const server = register(new McpServer({ name: 'bench', version: '1.0.0' }), env)
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true })
    await server.connect(transport)
    return transport.handleRequest(request)
  },
}
