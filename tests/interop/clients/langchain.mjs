import { MultiServerMCPClient } from '@langchain/mcp-adapters'

export async function use({ url, headers, chosen, arguments: args }) {
  const client = new MultiServerMCPClient({ mcpServers: { one: { transport: 'http', url, headers } } })
  const tools = await client.getTools()
  const name = chosen(tools.map((tool) => tool.name))
  return { tools: tools.map((tool) => tool.name), call: await tools.find((tool) => tool.name === name).invoke(args) }
}
