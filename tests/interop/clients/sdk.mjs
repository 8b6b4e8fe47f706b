import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

export async function use({ url, headers, tool, arguments: args, resource, prompt, promptArguments }) {
  const client = new Client({ name: 'interop', version: '1.0.0' })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  return {
    tools: (await client.listTools()).tools.map(({ name }) => name),
    call: await client.callTool({ name: tool, arguments: args }),
    read: await client.readResource({ uri: resource }),
    prompt: await client.getPrompt({ name: prompt, arguments: promptArguments }),
  }
}
