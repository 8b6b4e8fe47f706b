import { createMcpClient } from '@genkit-ai/mcp'
import { genkit } from 'genkit'

export async function use({ url, headers, chosen, arguments: args }) {
  const ai = genkit({})
  const client = createMcpClient({ name: 'one', mcpServer: { url, requestInit: { headers } } })
  await client.ready()
  const tools = await client.getActiveTools(ai)
  const names = tools.map(({ __action }) => __action.name)
  return {
    tools: names,
    call: await tools[names.indexOf(chosen(names))](args),
  }
}
