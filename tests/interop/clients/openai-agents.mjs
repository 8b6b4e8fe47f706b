import { MCPServerStreamableHttp, getAllMcpTools } from '@openai/agents'

export async function use({ url, headers, tool, arguments: args, resource }) {
  const server = new MCPServerStreamableHttp({ url, requestInit: { headers } })
  await server.connect()
  const tools = await getAllMcpTools({ mcpServers: [server], convertSchemasToStrict: true })
  return { tools: tools.map(({ name }) => name), call: await server.callTool(tool, args), read: await server.readResource?.(resource) ?? [] }
}
