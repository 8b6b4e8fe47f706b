// `mcpAuthRouter` of @modelcontextprotocol/sdk, with the provider of its examples.
//
//   node mcp-auth-router.mjs PORT

import { DemoInMemoryAuthProvider } from '@modelcontextprotocol/sdk/examples/server/demoInMemoryOAuthProvider.js'
import { InvalidTokenError } from '@modelcontextprotocol/sdk/server/auth/errors.js'
import { requireBearerAuth } from '@modelcontextprotocol/sdk/server/auth/middleware/bearerAuth.js'
import { getOAuthProtectedResourceMetadataUrl, mcpAuthRouter } from '@modelcontextprotocol/sdk/server/auth/router.js'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import express from 'express'

const port = Number(process.argv[2])
const issuerUrl = new URL(`http://127.0.0.1:${port}`)
const resource = new URL('/mcp', issuerUrl)
const provider = new DemoInMemoryAuthProvider()
// The provider of the examples throws another error for an unknown token, which becomes a response with status 500.
const verifier = {
  verifyAccessToken: (token) => provider.verifyAccessToken(token).catch(({ message }) => { throw new InvalidTokenError(message) }),
}

const app = express()
app.use(express.json())
app.use(mcpAuthRouter({ provider, issuerUrl, scopesSupported: ['account'], resourceServerUrl: resource }))
app.all('/mcp', requireBearerAuth({ verifier, resourceMetadataUrl: getOAuthProtectedResourceMetadataUrl(resource) }), async (request, response) => {
  const server = new McpServer({ name: 'tracker', version: '1.0.0' })
  server.registerTool('get-user-data', { description: 'Returns the account.' }, () => ({ content: [{ type: 'text', text: 'the account' }] }))
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined })
  response.once('close', () => server.close())
  await server.connect(transport)
  await transport.handleRequest(request, response, request.body)
})
app.listen(port, '127.0.0.1')
