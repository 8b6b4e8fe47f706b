// Reads .dev.vars, the file with the local secrets for wrangler dev, in the dotenv format.
//
//   node scripts/lib/dev-vars.mjs FILE      prints the first plain token of MCP_STATIC_TOKENS, or nothing

import { readFileSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { parseEnv } from 'node:util'

/** Returns the first token of MCP_STATIC_TOKENS that is stored in plain text, not as a hash, or undefined. */
export function firstToken(text) {
  const tokens = parseEnv(text).MCP_STATIC_TOKENS
  if (!tokens) return undefined
  let list
  try {
    list = JSON.parse(tokens)
  } catch {
    throw new Error('MCP_STATIC_TOKENS in .dev.vars is not JSON: see .dev.vars.example')
  }
  return Array.isArray(list) ? list.find((entry) => typeof entry?.token === 'string')?.token : undefined
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) {
  console.log(firstToken(readFileSync(process.argv[2], 'utf8')) ?? '')
}
