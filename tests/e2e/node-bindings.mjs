// Adds a binding to the environment of examples/node: objects of durable tasks that fail. Servers with durable tasks need the binding,
// because they reject every request without it.

import { env } from '../../examples/node/cloudflare-workers.mjs'

env.MCP_TASKS = {
  idFromName() {
    throw new Error('Durable Objects do not exist here')
  },
}
