// Registers the tools and the resource with the official packages, and with packages that build on them.

import { RESOURCE } from '../content.mjs'
import { megabyte, tools } from './tools.mjs'

export function register(server, env) {
  for (const { name, description, input, handle } of tools(env)) {
    server.registerTool(name, { description, inputSchema: input }, (args) => ({ content: [{ type: 'text', text: handle(args) }] }))
  }
  server.registerResource('Megabyte', RESOURCE, { mimeType: 'text/plain' },
    (uri) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: megabyte() }] }))
  return server
}
