import { mcp } from '@llamaindex/tools'

export async function use({ url, headers, chosen, arguments: args }) {
  const tools = await mcp({ url, requestInit: { headers } }).tools()
  const names = tools.map(({ metadata }) => metadata.name)
  return { tools: names, call: await tools[names.indexOf(chosen(names))].call(args) }
}
