// scripts/token starts this module and documents it. src/auth/static_tokens.rs defines the format of an entry.

import { createHash, randomBytes } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { parseArgs } from 'node:util'

const SECONDS = { d: 86_400, h: 3_600, m: 60 }

const { subject, scopes, clientId, seconds, file } = readArguments()
const list = file === undefined ? [] : await readList(file)

const token = randomBytes(32).toString('base64url')
const expires = seconds && Math.floor(Date.now() / 1000) + seconds
list.push({
  sha256: createHash('sha256').update(token).digest('hex'),
  subject,
  ...(clientId && { client_id: clientId }),
  scopes,
  ...(expires && { expires }),
})

const end = expires ? `, and it expires at ${new Date(expires * 1000).toISOString()}` : ''
console.error(`The token (it is shown only once${end}):`)
console.log(token)
console.error('\nThe list for MCP_STATIC_TOKENS:')
// The list goes between single quotes in .dev.vars and in shells, so it must not contain a single quote.
console.log(JSON.stringify(list).replaceAll("'", '\\u0027'))
console.error(`
For a deployed Worker: run npx wrangler secret put MCP_STATIC_TOKENS, and paste the list. It replaces the old list.
For scripts/dev: write the list to .dev.vars as MCP_STATIC_TOKENS='…', and remove the old line. The list contains only the
SHA-256 of the token, so set MCP_TOKEN to the token for scripts/load.
Store the list in a file: Cloudflare does not show a secret again, and --list FILE adds the next token to the list.`)

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { 'client-id': { type: 'string' }, expires: { type: 'string' }, list: { type: 'string' } },
    })
    const [subject, ...scopes] = positionals
    if (subject === undefined) throw new Error('SUBJECT is missing: scripts/token SUBJECT [SCOPE…] (see --help)')
    if (!subject.trim()) throw new Error('SUBJECT must not be empty')
    for (const scope of scopes) checkScope(scope)
    if (values['client-id']?.trim() === '') throw new Error('--client-id must not be empty')
    return { subject, scopes, clientId: values['client-id'], seconds: secondsOf(values.expires), file: values.list }
  } catch (error) {
    // The messages of parseArgs have several lines. Only the first sentence describes the problem.
    fail(error.code?.startsWith('ERR_PARSE_ARGS') ? error.message.split(/\.\s/)[0] : error.message)
  }
}

// src/auth/scopes.rs defines the valid scopes. A Worker whose list contains another scope rejects every request.
function checkScope(scope) {
  if (scope === 'offline_access') throw new Error('SCOPE must not be offline_access, which is not a scope of a resource server')
  if (scope === '') throw new Error('SCOPE must not be empty')
  if (!/^[!#-[\]-~]+$/.test(scope)) {
    throw new Error(`SCOPE must contain only printable ASCII characters, without space, " and \\ (got ${JSON.stringify(scope)})`)
  }
}

function secondsOf(duration) {
  if (duration === undefined) return undefined
  const [, number, unit] = /^([1-9]\d{0,5})([dhm])$/.exec(duration) ?? []
  if (!unit) throw new Error(`--expires must be a duration in days, hours or minutes: 30d, 12h or 90m (got ${JSON.stringify(duration)})`)
  return Number(number) * SECONDS[unit]
}

async function readList(file) {
  const text = await readFile(file, 'utf8').catch((error) => fail(`--list ${file} cannot be read (${error.code})`))
  let list
  try {
    list = JSON.parse(text)
  } catch {
    // Do not print the message of JSON.parse: it quotes the text, which may contain secrets.
  }
  if (!Array.isArray(list)) fail(`--list ${file} must contain a JSON array`)
  const wrong = list.findIndex((entry) => !isEntry(entry))
  if (wrong >= 0) fail(`--list ${file}: entry ${wrong + 1} must have \`subject\`, \`scopes\`, and either \`token\` or \`sha256\``)
  return list
}

function isEntry(entry) {
  const tokens = [entry?.token, entry?.sha256].filter((one) => typeof one === 'string')
  return typeof entry?.subject === 'string' && Array.isArray(entry.scopes) && tokens.length === 1
}

function fail(message) {
  console.error(`token: ${message}`)
  process.exit(1)
}
