import { createMCPClient } from '@ai-sdk/mcp'
import { asSchema } from '@ai-sdk/provider-utils'

export async function use({ url, headers, tool, arguments: args, resource, prompt, promptArguments }) {
  const client = await createMCPClient({ transport: { type: 'http', url, headers } })
  const tools = await client.tools()
  for (const { inputSchema } of Object.values(tools)) await asSchema(inputSchema).jsonSchema
  return {
    tools: Object.keys(tools),
    call: await tools[tool].execute(args, { toolCallId: '1', messages: [] }),
    read: await client.readResource({ uri: resource }),
    prompt: await client.experimental_getPrompt({ name: prompt, arguments: promptArguments }),
  }
}
