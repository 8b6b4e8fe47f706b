// The handler of the package agents for servers without sessions.

import { McpServer } from '@modelcontextprotocol/server'
import { createMcpHandler } from 'agents/mcp/server'
import { register } from './register.mjs'

let handler
export default {
  fetch(request, env, context) {
    handler ??= createMcpHandler(() => register(new McpServer({ name: 'bench', version: '1.0.0' }), env))
    return handler(request, env, context)
  },
}
