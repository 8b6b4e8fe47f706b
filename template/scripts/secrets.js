// Writes random secrets for development to .dev.vars, unless the file exists. `npm run dev` and scripts/new of edge-mcp run it.

import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'

const random = () => randomBytes(32).toString('base64url')
const tokens = [{ token: random(), subject: 'developer', scopes: [] }]
try {
  // The file is only for its owner, and an existing one is not overwritten.
  writeFileSync('.dev.vars', `MCP_STATIC_TOKENS='${JSON.stringify(tokens)}'\nMCP_STATE_KEY='${random()}'\n`, { flag: 'wx', mode: 0o600 })
} catch (error) {
  if (error.code !== 'EEXIST') throw error
}
