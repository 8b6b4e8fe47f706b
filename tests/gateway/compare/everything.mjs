// Servers with every member that the specification has, built with the official libraries. They answer at `/sdk/mcp` and `/server/mcp`.

import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'

import { Server as SdkServer } from '@modelcontextprotocol/sdk/server/index.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import * as sdk from '@modelcontextprotocol/sdk/types.js'
import { createMcpHandler, Server } from '@modelcontextprotocol/server'

const ANNOTATIONS = { audience: ['user', 'assistant'], priority: 0.5, lastModified: '2026-07-28T12:00:00Z' }
const ICONS = [{ src: 'https://example.com/icon.png', mimeType: 'image/png', sizes: ['48x48'], theme: 'dark' }]
const _meta = { 'example.com/a': { b: [1, null, 'x'] } }
const LONG = `long_${'x'.repeat(60)}`

const TOOLS = [
  {
    name: 'all', title: 'All', description: 'Returns content of each type.', icons: ICONS, _meta,
    inputSchema: {
      $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'object', required: ['a'],
      properties: { a: { type: 'string', default: 'x' }, b: { anyOf: [{ type: 'integer' }, { type: 'null' }], default: null } },
    },
    outputSchema: { type: 'object', properties: { a: { type: 'string' }, n: {} }, required: ['a'], additionalProperties: false },
    annotations: { title: 'All of it', readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  },
  { name: 'bare', inputSchema: { type: 'object' } },
  { name: 'with space', description: 'Has a name that is changed.', inputSchema: { type: 'object', properties: {} } },
  { name: LONG, description: 'Has a name that is cut.', inputSchema: { type: 'object' } },
  { name: 'fails', description: 'Fails.', inputSchema: { type: 'object' } },
  { name: 'throws', description: 'Answers with an error.', inputSchema: { type: 'object' } },
]
const RESOURCES = [
  { uri: 'demo://all', name: 'all', title: 'All', description: 'D', mimeType: 'text/plain', size: 3, annotations: ANNOTATIONS, icons: ICONS, _meta },
  { uri: 'file:///C:/x y.txt', name: 'space' },
  { uri: 'https://example.com/ü?x=日本', name: 'script' },
  { uri: 'demo://empty', name: 'empty' },
]
const TEMPLATES = [
  { uriTemplate: 'path://{p*}', name: 'path', title: 'Path', description: 'D', mimeType: 'text/plain', annotations: ANNOTATIONS, icons: ICONS, _meta },
  { uriTemplate: 'mem://{+path}{?a,b*}', name: 'mem' },
]
const PROMPTS = [
  {
    name: 'all', title: 'All', description: 'D', icons: ICONS, _meta,
    arguments: [{ name: 'a', title: 'A', description: 'D', required: true }, { name: 'b' }],
  },
  { name: 'p one', description: 'Has a name that is changed.', arguments: [{ name: 'x', description: 'X' }] },
  { name: 'none' },
]
const BLOCKS = [
  { type: 'text', text: 'text', annotations: ANNOTATIONS, _meta },
  { type: 'image', data: 'iVBORw0KGgo=', mimeType: 'image/png', annotations: { priority: 1 } },
  { type: 'audio', data: 'AA==', mimeType: 'audio/wav', _meta },
  { type: 'resource', resource: { uri: 'demo://all', mimeType: 'text/plain', text: 'x', _meta }, annotations: ANNOTATIONS },
  { type: 'resource', resource: { uri: 'demo://blob', blob: 'AA==' } },
  { type: 'resource_link', uri: 'mem://a/b?x=ü#f', name: 'link', title: 'L', description: 'D', mimeType: 'text/plain', size: 7, icons: ICONS, annotations: ANNOTATIONS, _meta },
]

/** Answers a request. */
function answer(method, params = {}) {
  switch (method) {
    case 'tools/list': return { tools: TOOLS }
    case 'resources/list': return { resources: RESOURCES }
    case 'resources/templates/list': return { resourceTemplates: TEMPLATES }
    case 'prompts/list': return { prompts: PROMPTS }
    case 'tools/call':
      if (params.name === 'throws') throw Object.assign(new Error('Thrown.'), { code: -32000 })
      if (params.name === 'fails') return { content: [{ type: 'text', text: 'Failed.' }], isError: true, _meta }
      if (params.name !== 'all') return { content: [{ type: 'text', text: params.name }] }
      return { content: BLOCKS, structuredContent: { a: params.arguments.a, n: [1, 2.5, 9007199254740991, null] }, _meta }
    case 'resources/read':
      if (params.uri === 'demo://empty') return { contents: [] }
      return { contents: [{ uri: params.uri, text: params.uri, mimeType: 'text/plain', _meta }, { uri: `${params.uri}#2`, blob: 'AA==' }], _meta }
    case 'prompts/get':
      return { description: 'D', messages: BLOCKS.map((content, n) => ({ role: n % 2 ? 'user' : 'assistant', content })), _meta }
    default: return { completion: { values: [params.argument.value, 'b'], total: 1000, hasMore: true }, _meta }
  }
}

const INFO = { name: 'everything', version: '1.0.0' }
const CAPABILITIES = { capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} } }
const SCHEMAS = [
  sdk.ListToolsRequestSchema, sdk.CallToolRequestSchema, sdk.ListResourcesRequestSchema, sdk.ListResourceTemplatesRequestSchema,
  sdk.ReadResourceRequestSchema, sdk.ListPromptsRequestSchema, sdk.GetPromptRequestSchema, sdk.CompleteRequestSchema,
]
const METHODS = [
  'tools/list', 'tools/call', 'resources/list', 'resources/templates/list', 'resources/read', 'prompts/list', 'prompts/get', 'completion/complete',
]

/** Handles requests with @modelcontextprotocol/sdk and sessions. */
function ofSdk() {
  const transports = new Map()
  return async (request, response) => {
    let transport = transports.get(request.headers['mcp-session-id'])
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        onsessioninitialized: (id) => { transports.set(id, transport) },
        onsessionclosed: (id) => { transports.delete(id) },
      })
      const server = new SdkServer(INFO, CAPABILITIES)
      for (const schema of SCHEMAS) server.setRequestHandler(schema, ({ method, params }) => answer(method, params))
      await server.connect(transport)
    }
    await transport.handleRequest(request, response)
  }
}

/** Handles requests with @modelcontextprotocol/server, in both eras. */
function ofServer() {
  const handler = createMcpHandler(() => {
    const server = new Server(INFO, CAPABILITIES)
    for (const method of METHODS) server.setRequestHandler(method, ({ params }) => answer(method, params))
    return server
  })
  return async (request, response) => {
    const answered = await handler.fetch(new Request(new URL(request.url, `http://${request.headers.host}`), {
      method: request.method, headers: request.headers,
      ...(request.method === 'POST' ? { body: Readable.toWeb(request), duplex: 'half' } : {}),
    }))
    response.writeHead(answered.status, Object.fromEntries(answered.headers))
    if (answered.body) await pipeline(Readable.fromWeb(answered.body), response)
    else response.end()
  }
}

/**
 * Starts both servers.
 *
 * @returns {Promise<{ urls: Record<'sdk' | 'server', string>, stop: () => Promise<void> }>}
 */
export async function startEverything() {
  const handlers = { '/sdk/mcp': ofSdk(), '/server/mcp': ofServer() }
  const http = createServer((request, response) => {
    const handle = handlers[request.url]
    if (!handle) return void response.writeHead(404).end()
    handle(request, response).catch((error) => {
      console.error(error)
      response.destroy()
    })
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const origin = `http://127.0.0.1:${http.address().port}`
  const stop = async () => {
    http.closeAllConnections()
    http.close()
    await once(http, 'close')
  }
  return { urls: { sdk: `${origin}/sdk/mcp`, server: `${origin}/server/mcp` }, stop }
}
