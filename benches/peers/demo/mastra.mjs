// @mastra/mcp.

import { createTool } from '@mastra/core/tools'
import { MCPServer } from '@mastra/mcp'
import * as z from 'zod'

import { answered, FAIL, FORM, INFO, promptOf, QUESTION, RESOURCE, TEMPLATE, TEXT, TOOLS } from './items.mjs'

const callOf = ({ extra, progress, log }) => ({
  signal: extra.signal,
  closeStream: extra.http?.closeSSE,
  progress,
  log: (level, data) => log(level, 'a log message', { data }),
})

function tools() {
  const all = Object.entries(TOOLS).map(([id, { description, input, output, handle }]) => [id, createTool({
    id,
    description,
    inputSchema: input,
    outputSchema: output,
    execute: async (args, { mcp }) => handle(args, callOf(mcp)),
  })])
  const none = z.object({})
  const fail = () => { throw new Error(FAIL.content[0].text) }
  const ask = async (_, { mcp }) => answered(await mcp.elicitation.sendRequest({ message: QUESTION, requestedSchema: FORM }))
  return {
    ...Object.fromEntries(all),
    fail: createTool({ id: 'fail', description: 'Fails.', inputSchema: none, execute: fail }),
    ask: createTool({ id: 'ask', description: 'Asks for a city.', inputSchema: none, execute: ask }),
  }
}

/**
 * Creates a handler of requests to `path`.
 *
 * @param {string} path
 * @param {object} [options] the options of `startHTTP`
 * @param {string} [protocolVersion] the revision, if it is not the default of the package
 */
export function mastra(path, options, protocolVersion) {
  const server = new MCPServer({
    id: 'peer',
    ...INFO,
    protocolVersion,
    tools: tools(),
    resources: {
      listResources: async () => [{ uri: RESOURCE, name: 'Text', mimeType: 'text/plain' }],
      resourceTemplates: async () => [{ uriTemplate: TEMPLATE, name: 'Greetings', mimeType: 'text/plain' }],
      getResourceContent: async () => ({ text: TEXT }),
    },
    prompts: {
      listPrompts: async () => [{ name: 'greet', description: 'Greets.', arguments: [{ name: 'name', required: true }] }],
      getPromptMessages: async ({ args }) => promptOf(args).messages,
    },
  })
  return (req, res) => server.startHTTP({ url: new URL(req.url, 'http://127.0.0.1'), httpPath: path, req, res, options })
}
