// What the official packages, and those that build on them, are told of the tools and the resource.

import { RESOURCE } from '../content.mjs'
import { megabyte, tools } from './tools.mjs'

export function register(server, env) {
  for (const { name, description, input, does } of tools(env)) {
    server.registerTool(name, { description, inputSchema: input }, (args) => ({ content: [{ type: 'text', text: does(args) }] }))
  }
  server.registerResource('Megabyte', RESOURCE, { mimeType: 'text/plain' },
    (uri) => ({ contents: [{ uri: uri.href, mimeType: 'text/plain', text: megabyte() }] }))
  return server
}
