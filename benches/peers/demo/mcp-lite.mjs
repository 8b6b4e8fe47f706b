// mcp-lite, with and without sessions.

import { InMemoryClientRequestAdapter, InMemorySessionAdapter, McpServer, StreamableHttpTransport } from 'mcp-lite'
import * as z from 'zod'

import {
  answered, contentsOf, FAIL, FORM, greetingOf, INFO, promptOf, QUESTION, RESOURCE, resultOf, TEMPLATE, TEXT, TOOLS,
} from './items.mjs'

function build(options) {
  const server = new McpServer({ ...INFO, schemaAdapter: (schema) => z.toJSONSchema(schema) })
  for (const [name, { description, input, output, handle }] of Object.entries(TOOLS)) {
    server.tool(name, {
      description,
      inputSchema: input,
      outputSchema: output,
      handler: async (args, { progress }) => resultOf(await handle(args, { progress })),
    })
  }
  server.tool('fail', { description: 'Fails.', handler: () => FAIL })
  const ask = async (_, { elicit }) => resultOf(answered(await elicit({ message: QUESTION, schema: FORM })))
  server.tool('ask', { description: 'Asks for a city.', handler: ask })
  server.resource(RESOURCE, { name: 'Text', mimeType: 'text/plain' }, () => contentsOf(RESOURCE, TEXT))
  server.resource(TEMPLATE, { name: 'Greetings', mimeType: 'text/plain' }, (uri, variables) => greetingOf(uri.href, variables))
  server.prompt('greet', { description: 'Greets.', arguments: z.object({ name: z.string() }), handler: promptOf })
  return new StreamableHttpTransport(options).bind(server)
}

export const liteWithSessions = build({
  sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 100 }),
  clientRequestAdapter: new InMemoryClientRequestAdapter(),
})
export const liteWithoutSessions = build()
