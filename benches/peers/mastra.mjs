// @mastra/mcp without sessions. It accepts only Node's requests, so this code converts fetch requests to Node's requests.

import { createTool } from '@mastra/core/tools'
import { MCPServer } from '@mastra/mcp'
import { toFetchResponse, toReqRes } from 'fetch-to-node'
import { RESOURCE } from '../content.mjs'
import { megabyte, tools } from './tools.mjs'

const serve = (env) => new MCPServer({
  id: 'bench',
  name: 'bench',
  version: '1.0.0',
  tools: Object.fromEntries(tools(env).map(({ name, description, input, handle }) =>
    [name, createTool({ id: name, description, inputSchema: input, execute: async (args) => handle(args) })])),
  resources: {
    listResources: async () => [{ uri: RESOURCE, name: 'Megabyte', mimeType: 'text/plain' }],
    getResourceContent: async () => ({ text: megabyte() }),
  },
})

let server
export default {
  async fetch(request, env) {
    server ??= serve(env)
    const { req, res } = toReqRes(request)
    await server.startHTTP({ url: new URL(request.url), httpPath: '/mcp', req, res, options: { serverless: true } })
    return toFetchResponse(res)
  },
}
