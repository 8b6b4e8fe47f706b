// @cloudflare/workers-oauth-provider in `wrangler dev`, in front of @modelcontextprotocol/server.
//
//   node workers-oauth-provider.mjs PORT

import { spawn } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const origin = `http://127.0.0.1:${process.argv[2]}`
const WORKER = `
import { OAuthProvider } from '@cloudflare/workers-oauth-provider'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'tracker', version: '1.0.0' })
  server.registerTool('get-user-data', { description: 'Returns the account.' }, () => ({ content: [{ type: 'text', text: 'the account' }] }))
  return server
})
export default new OAuthProvider({
  apiRoute: '/mcp',
  apiHandler: { fetch: (request) => handler.fetch(request) },
  // It asks nobody: each person is one person who allows everything.
  defaultHandler: {
    async fetch(request, env) {
      if (new URL(request.url).pathname !== '/authorize') return new Response('Not found', { status: 404 })
      const asked = await env.OAUTH_PROVIDER.parseAuthRequest(request)
      const { redirectTo } = await env.OAUTH_PROVIDER.completeAuthorization({
        request: asked, userId: 'ada', metadata: {}, scope: asked.scope, props: {},
      })
      return Response.redirect(redirectTo, 302)
    },
  },
  authorizeEndpoint: '/authorize',
  tokenEndpoint: '/token',
  clientRegistrationEndpoint: '/register',
  scopesSupported: ['account'],
  resourceMetadata: { resource: '${origin}/mcp', authorization_servers: ['${origin}'] },
})
`
const CONFIGURATION = `
name = "tracker"
main = "worker.mjs"
compatibility_date = "2026-11-01"
compatibility_flags = ["nodejs_compat"]
kv_namespaces = [{ binding = "OAUTH_KV", id = "kv" }]
`
const folder = dirname(fileURLToPath(import.meta.url))
await writeFile(join(folder, 'worker.mjs'), WORKER)
await writeFile(join(folder, 'wrangler.toml'), CONFIGURATION)
const args = ['dev', '--ip', '127.0.0.1', '--port', process.argv[2], '--inspector-port', '0', '--show-interactive-dev-session=false']
// The wrangler of this repository is the first one on PATH. `--persist-to` is the working directory, which is empty.
spawn('wrangler', [...args, '--config', join(folder, 'wrangler.toml'), '--persist-to', process.cwd()], { cwd: folder, stdio: 'inherit' })
