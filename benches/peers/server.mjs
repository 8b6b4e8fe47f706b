// @modelcontextprotocol/server with its own handler, which builds a server for each request.

import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { register } from './register.mjs'

let handler
export default {
  fetch(request, env) {
    handler ??= createMcpHandler(() => register(new McpServer({ name: 'bench', version: '1.0.0' }), env))
    return handler.fetch(request)
  },
}
