import { MCPToolset } from '@google/adk'

export async function use({ url, headers, chosen, arguments: args }) {
  const toolset = new MCPToolset({ type: 'StreamableHTTPConnectionParams', url, header: headers, transportOptions: { requestInit: { headers } } })
  const tools = await toolset.getTools()
  for (const tool of tools) tool._getDeclaration()
  const names = tools.map(({ name }) => name)
  return { tools: names, call: await tools[names.indexOf(chosen(names))].runAsync({ args, toolContext: {} }) }
}
