// @modelcontextprotocol/sdk, with and without sessions.

import { randomUUID } from 'node:crypto'

import { completable } from '@modelcontextprotocol/sdk/server/completable.js'
import { McpServer, ResourceTemplate } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import * as z from 'zod'

import {
  answered, contentsOf, Events, FAIL, FORM, greetingOf, INFO, promptOf, QUESTION, RESOURCE, resultOf, suggest, TEMPLATE, TEXT,
  TOOLS,
} from './items.mjs'

const callOf = ({ signal, sendNotification, closeSSEStream, _meta }) => ({
  signal,
  closeStream: closeSSEStream,
  log: (level, data) => sendNotification({ method: 'notifications/message', params: { level, data } }),
  progress: async (progress) => {
    const progressToken = _meta?.progressToken
    if (progressToken !== undefined) await sendNotification({ method: 'notifications/progress', params: { progressToken, ...progress } })
  },
})

function build() {
  const server = new McpServer(INFO, { capabilities: { logging: {} } })
  for (const [name, { description, input, output, handle }] of Object.entries(TOOLS)) {
    server.registerTool(name, { description, inputSchema: input, outputSchema: output },
      async (args, extra) => resultOf(await handle(args, callOf(extra))))
  }
  server.registerTool('fail', { description: 'Fails.', inputSchema: z.object({}) }, () => FAIL)
  server.registerTool('ask', { description: 'Asks for a city.', inputSchema: z.object({}) }, async (_, { requestId }) =>
    resultOf(answered(await server.server.elicitInput({ message: QUESTION, requestedSchema: FORM }, { relatedRequestId: requestId }))))
  server.registerResource('Text', RESOURCE, { mimeType: 'text/plain' }, () => contentsOf(RESOURCE, TEXT))
  const template = new ResourceTemplate(TEMPLATE, { list: undefined, complete: { name: suggest } })
  server.registerResource('Greetings', template, { mimeType: 'text/plain' }, (uri, variables) => greetingOf(uri.href, variables))
  server.registerPrompt('greet', { description: 'Greets.', argsSchema: { name: completable(z.string(), suggest) } }, promptOf)
  return server
}

/** Creates a server for each session. A client can resume the streams. */
export function sdkWithSessions() {
  const transports = new Map()
  return async (request, response) => {
    const id = request.headers['mcp-session-id']
    if (id !== undefined && !transports.has(id)) return void response.writeHead(404).end()
    let transport = transports.get(id)
    if (!transport) {
      transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: randomUUID,
        eventStore: new Events(),
        retryInterval: 20,
        onsessioninitialized: (id) => { transports.set(id, transport) },
        onsessionclosed: (id) => { transports.delete(id) },
      })
      await build().connect(transport)
    }
    await transport.handleRequest(request, response)
  }
}

/** Creates a server for each request. The server ends with the connection, as in the examples of the package. */
export async function sdkWithoutSessions(request, response) {
  const server = build()
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
  response.once('close', () => server.close())
  await server.connect(transport)
  await transport.handleRequest(request, response)
}
