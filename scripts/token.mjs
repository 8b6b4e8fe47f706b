// See scripts/token, which starts it. The form of an entry is that of src/auth/static_tokens.rs.

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

const end = expires ? `; it is good until ${new Date(expires * 1000).toISOString()}` : ''
console.error(`The token, shown this once${end}:`)
console.log(token)
console.error('\nThe list for MCP_STATIC_TOKENS:')
// Between single quotes, as .dev.vars and shells have it, there can be no other.
console.log(JSON.stringify(list).replaceAll("'", '\\u0027'))
console.error(`
For a deployed Worker: npx wrangler secret put MCP_STATIC_TOKENS, and paste the list. It replaces the one before.
For scripts/dev: put it into .dev.vars as MCP_STATIC_TOKENS='…', in place of such a line. As the list has no more than
the token's SHA-256, scripts/load then needs the token in MCP_TOKEN.
Keep the list in a file: Cloudflare shows no secret again, and --list FILE adds the next token to it.`)

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { 'client-id': { type: 'string' }, expires: { type: 'string' }, list: { type: 'string' } },
    })
    const [subject, ...scopes] = positionals
    if (subject === undefined) throw new Error('name who calls: scripts/token SUBJECT [SCOPE…] (see --help)')
    if (!subject.trim()) throw new Error('SUBJECT is empty')
    for (const scope of scopes) checkScope(scope)
    if (values['client-id']?.trim() === '') throw new Error('--client-id is empty')
    return { subject, scopes, clientId: values['client-id'], seconds: secondsOf(values.expires), file: values.list }
  } catch (error) {
    // Of parseArgs, the first sentence: its advice after that takes some lines.
    fail(error.code?.startsWith('ERR_PARSE_ARGS') ? error.message.split(/\.\s/)[0] : error.message)
  }
}

// What a scope may be is said in src/auth/scopes.rs: a Worker with another one in its list serves nothing.
function checkScope(scope) {
  if (scope === 'offline_access') throw new Error('offline_access is no scope of a resource server')
  if (scope === '') throw new Error('a SCOPE is empty')
  if (!/^[!#-[\]-~]+$/.test(scope)) {
    throw new Error(`SCOPE ${JSON.stringify(scope)}: it has a space, a quote, a backslash, or what is not ASCII`)
  }
}

function secondsOf(duration) {
  if (duration === undefined) return undefined
  const [, number, unit] = /^([1-9]\d{0,5})([dhm])$/.exec(duration) ?? []
  if (!unit) throw new Error(`--expires ${JSON.stringify(duration)}: a number of days, hours or minutes, as 30d, 12h or 90m`)
  return Number(number) * SECONDS[unit]
}

async function readList(file) {
  const text = await readFile(file, 'utf8').catch((error) => fail(`--list ${file}: it cannot be read (${error.code})`))
  let list
  try {
    list = JSON.parse(text)
  } catch {
    // What JSON.parse says quotes the text, and the text may hold secrets.
  }
  if (!Array.isArray(list)) fail(`--list ${file}: it is not a JSON array`)
  const wrong = list.findIndex((entry) => !isEntry(entry))
  if (wrong >= 0) fail(`--list ${file}: entry ${wrong + 1} must have subject, scopes, and either token or sha256`)
  return list
}

function isEntry(entry) {
  const known = [entry?.token, entry?.sha256].filter((one) => typeof one === 'string')
  return typeof entry?.subject === 'string' && Array.isArray(entry.scopes) && known.length === 1
}

function fail(message) {
  console.error(`token: ${message}`)
  process.exit(1)
}
