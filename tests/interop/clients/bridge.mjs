// A bridge shows our server to a client with the stdio transport. The first of the packages is the bridge.

import { readFile } from 'node:fs/promises'

import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'

const COMMANDS = {
  'mcp-remote': ({ url, headers }) => [url, '--transport', 'http-only', '--allow-http', '--header', `Authorization:${headers.Authorization}`],
  supergateway: ({ url, headers }) => ['--streamableHttp', url, '--header', `Authorization: ${headers.Authorization}`],
}

export async function use({ tool, arguments: args, resource, prompt, promptArguments, ...task }) {
  const { dependencies } = JSON.parse(await readFile('package.json', 'utf8'))
  const program = Object.keys(COMMANDS).find((name) => name in dependencies)
  const client = new Client({ name: 'interop', version: '1.0.0' })
  await client.connect(new StdioClientTransport({ command: `node_modules/.bin/${program}`, args: COMMANDS[program](task), env: process.env }))
  return {
    tools: (await client.listTools()).tools.map(({ name }) => name),
    call: await client.callTool({ name: tool, arguments: args }),
    read: await client.readResource({ uri: resource }),
    prompt: await client.getPrompt({ name: prompt, arguments: promptArguments }),
  }
}
