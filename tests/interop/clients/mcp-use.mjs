import { MCPClient } from '@mcp-use/client'

export async function use({ url, headers, tool, arguments: args, resource }) {
  const client = new MCPClient({ mcpServers: { one: { url, headers } } })
  const session = await client.createSession('one')
  return {
    tools: (await session.listTools()).map(({ name }) => name),
    call: await session.callTool(tool, args),
    read: await session.readResource(resource),
  }
}
