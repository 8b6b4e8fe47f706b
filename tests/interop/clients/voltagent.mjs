import { MCPConfiguration } from '@voltagent/core'

export async function use({ url, headers, chosen, arguments: args }) {
  const configuration = new MCPConfiguration({ servers: { one: { type: 'streamable-http', url, requestInit: { headers } } } })
  const tools = await configuration.getTools()
  const names = tools.map(({ name }) => name)
  return { tools: names, call: await tools[names.indexOf(chosen(names))].execute(args) }
}
