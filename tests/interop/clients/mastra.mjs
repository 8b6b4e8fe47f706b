import { MCPClient } from '@mastra/mcp'

export async function use({ url, headers, chosen, arguments: args, resource, prompt, promptArguments }) {
  const client = new MCPClient({ servers: { one: { url: new URL(url), requestInit: { headers } } } })
  const tools = await client.listTools()
  return {
    tools: Object.keys(tools),
    call: await tools[chosen(Object.keys(tools))].execute(args, {}),
    read: await client.resources.read('one', resource),
    prompt: await client.prompts.get({ serverName: 'one', name: prompt, args: promptArguments }),
  }
}
