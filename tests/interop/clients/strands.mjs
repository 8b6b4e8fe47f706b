import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { McpClient } from '@strands-agents/sdk'

export async function use({ url, headers, chosen, arguments: args }) {
  const client = new McpClient({ transport: new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }) })
  const tools = await client.listTools()
  const names = tools.map(({ name }) => name)
  return { tools: names, call: await client.callTool(tools[names.indexOf(chosen(names))], args) }
}
