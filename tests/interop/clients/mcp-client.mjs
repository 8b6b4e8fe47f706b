import { MCPClient } from 'mcp-client'

export async function use({ url, tool, arguments: args, resource, prompt, promptArguments }) {
  const client = new MCPClient({ name: 'interop', version: '1.0.0' })
  await client.connect({ type: 'httpStream', url })
  return {
    tools: (await client.getAllTools()).map(({ name }) => name),
    call: await client.callTool({ name: tool, arguments: args }),
    read: await client.getResource({ uri: resource }),
    prompt: await client.getPrompt({ name: prompt, arguments: promptArguments }),
  }
}
