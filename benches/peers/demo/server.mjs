// @modelcontextprotocol/server with its own handler, which serves both eras and has no sessions.

import { completable, createMcpHandler, inputRequired, McpServer, ResourceTemplate } from '@modelcontextprotocol/server'
import * as z from 'zod'

import {
  answered, contentsOf, FAIL, FORM, greetingOf, INFO, promptOf, QUESTION, RESOURCE, resultOf, suggest, TEMPLATE, TEXT, TOOLS,
} from './items.mjs'

const callOf = ({ mcpReq }) => ({
  signal: mcpReq.signal,
  log: (level, data) => mcpReq.log(level, data),
  progress: async (progress) => {
    const { progressToken } = mcpReq._meta ?? {}
    if (progressToken !== undefined) await mcpReq.notify({ method: 'notifications/progress', params: { progressToken, ...progress } })
  },
})

function ask(_, { mcpReq }) {
  const answer = mcpReq.inputResponses?.city
  if (answer && mcpReq.requestState() === 'asked') return resultOf(answered(answer))
  const city = inputRequired.elicit({ message: QUESTION, requestedSchema: FORM })
  return inputRequired({ inputRequests: { city }, requestState: 'asked' })
}

function build() {
  const server = new McpServer(INFO, { capabilities: { logging: {} } })
  for (const [name, { description, input, output, handle }] of Object.entries(TOOLS)) {
    server.registerTool(name, { description, inputSchema: input, outputSchema: output },
      async (args, context) => resultOf(await handle(args, callOf(context))))
  }
  server.registerTool('fail', { description: 'Fails.', inputSchema: z.object({}) }, () => FAIL)
  server.registerTool('ask', { description: 'Asks for a city.', inputSchema: z.object({}) }, ask)
  server.registerResource('Text', RESOURCE, { mimeType: 'text/plain' }, () => contentsOf(RESOURCE, TEXT))
  const template = new ResourceTemplate(TEMPLATE, { list: undefined, complete: { name: suggest } })
  server.registerResource('Greetings', template, { mimeType: 'text/plain' }, (uri, variables) => greetingOf(uri.href, variables))
  const argsSchema = z.object({ name: completable(z.string(), suggest) })
  server.registerPrompt('greet', { description: 'Greets.', argsSchema }, promptOf)
  return server
}

const handler = createMcpHandler(build)
export const server = (request) => handler.fetch(request)
