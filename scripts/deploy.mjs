// scripts/deploy starts this module in the folder of wrangler.toml, and documents it.
//
// The script writes the id of the new database to wrangler.toml, as Cloudflare's documentation recommends. An id is not a secret, and
// later wrangler commands (d1 execute, tail, rollback) find the database by its id. Local data does not depend on the id, because wrangler
// stores it under `preview_database_id`.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { unstable_readConfig as readConfig } from 'wrangler'
import { appendPrivately, makePrivate } from './lib/private-file.mjs'

const NOT_CREATED_YET = '00000000-0000-0000-0000-000000000000'
const TOKEN_FILE = '.deploy.vars'
/** The secrets that only the Worker needs to know. */
const KEYS = ['MCP_STATE_KEY', 'MCP_TOKEN_KEY']

/** The dimensions of the vectors of the models of Workers AI. The first model is the default. */
const DIMENSIONS = {
  '@cf/baai/bge-m3': 1024,
  '@cf/baai/bge-large-en-v1.5': 1024,
  '@cf/baai/bge-base-en-v1.5': 768,
  '@cf/baai/bge-small-en-v1.5': 384,
  '@cf/google/embeddinggemma-300m': 768,
  '@cf/qwen/qwen3-embedding-0.6b': 1024,
}

const temporary = mkdtempSync(join(tmpdir(), 'edge-mcp-deploy-'))
process.on('exit', () => rmSync(temporary, { recursive: true, force: true }))
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

try {
  await main()
} catch (error) {
  console.error(`deploy: ${error.message}`)
  process.exitCode = 1
}

async function main() {
  if (makePrivate(TOKEN_FILE)) {
    console.error(`other users had access to ${TOKEN_FILE}; its mode is 600 now. If someone else uses this machine, replace its secrets.`)
  }
  const config = readConfig({ config: 'wrangler.toml' })
  for (const index of config.vectorize) await ensureIndex(index, config)
  for (const database of config.d1_databases) {
    await ensureDatabase(database)
    console.error(`migrating ${database.database_name}`)
    await wrangler(['d1', 'migrations', 'apply', database.binding, '--remote'])
  }
  const url = await deploy(await missingSecrets(config))
  console.log(`\nDeployed: ${url}/mcp. Set MCP_TOKEN to your token, and run these commands:\n
curl -s ${url}/mcp -H "Authorization: Bearer $MCP_TOKEN" -H 'Content-Type: application/json' \\
  -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
MCP_TOKEN=… scripts/load DIR --url ${url}/mcp

D1 cannot export a database with FTS5 tables as a whole. "Export" in docs/knowledge-base.md has a command that exports the other tables.\n`)
}

async function ensureDatabase({ database_name: name, database_id: id }) {
  if (id && id !== NOT_CREATED_YET) return
  const find = async () => JSON.parse(await wrangler(['d1', 'list', '--json'], { capture: true })).find((one) => one.name === name)
  let found = await find()
  if (!found) {
    console.error(`creating the database ${name}`)
    await wrangler(['d1', 'create', name])
    found = await find()
    if (!found) throw new Error(`wrangler created the database ${name}, but does not list it: run scripts/deploy again`)
  }
  const text = readFileSync('wrangler.toml', 'utf8')
  // If several databases have no id, each placeholder follows the name of its database.
  const place = text.indexOf(`"${NOT_CREATED_YET}"`, text.indexOf(`"${name}"`, text.indexOf('[[d1_databases]]')))
  if (place < 0) throw new Error(`wrangler.toml has no database_id for ${name}: add database_id = "${found.uuid}" after its name`)
  writeFileSync('wrangler.toml', `${text.slice(0, place)}"${found.uuid}"${text.slice(place + NOT_CREATED_YET.length + 2)}`)
  console.error(`wrangler.toml: database_id of ${name} is ${found.uuid}; commit it`)
}

/** Creates an index of Vectorize if it is missing. Filters are applied in the database, so the index needs no metadata indexes. */
async function ensureIndex({ index_name: name }, { vars }) {
  const indexes = JSON.parse(await wrangler(['vectorize', 'list', '--json'], { capture: true }))
  if (indexes.some((one) => one.name === name)) return
  const model = vars.KB_EMBEDDING_MODEL ?? Object.keys(DIMENSIONS)[0]
  const dimensions = process.env.VECTORIZE_DIMENSIONS ?? DIMENSIONS[model]
  if (!/^[1-9][0-9]{0,3}$/.test(dimensions ?? '')) {
    throw new Error(`set VECTORIZE_DIMENSIONS to the number of dimensions of the vectors of ${model}: the index ${name} needs it`)
  }
  console.error(`creating the index ${name} with ${dimensions} dimensions`)
  await wrangler(['vectorize', 'create', name, '--dimensions', String(dimensions), '--metric', 'cosine'])
}

function randomKey(name) {
  console.error(`${name} is not set: creating a random one`)
  return randomBytes(32).toString('base64url')
}

/** Returns the required secrets that Cloudflare does not have, with their values. */
async function missingSecrets(config) {
  const required = config.secrets?.required ?? []
  if (required.length === 0) return {}
  const existing = await secretNames()
  const values = {}
  const missing = []
  for (const name of required.filter((one) => !existing.has(one))) {
    const value = process.env[name] ?? (KEYS.includes(name) ? randomKey(name) : process.stdin.isTTY ? await ask(name) : undefined)
    if (value) values[name] = value
    else missing.push(name)
  }
  if (missing.length > 0) {
    throw new Error(`no value for the secret ${missing.join(', ')}: run this on a terminal, or set the environment variable of that name`)
  }
  return values
}

async function secretNames() {
  try {
    return new Set(JSON.parse(await wrangler(['secret', 'list', '--format', 'json'], { capture: true })).map(({ name }) => name))
  } catch (error) {
    // A Worker that was never deployed has no secrets.
    if (/10007|not found|does not exist/i.test(error.message)) return new Set()
    throw error
  }
}

/** Asks for a secret, without showing the typed text. */
async function ask(name) {
  const canCreate = name === 'MCP_STATIC_TOKENS'
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const prompt = createInterface({ input: process.stdin, output: silent, terminal: true })
  const hint = canCreate ? ` (JSON as in .dev.vars.example; press Enter to create a random token and store it in ${TOKEN_FILE})` : ''
  process.stderr.write(`${name} is not set${hint}: `)
  const answer = (await prompt.question('')).trim()
  prompt.close()
  process.stderr.write('\n')
  return answer || (canCreate ? createTokens() : '')
}

function createTokens() {
  const token = randomBytes(32).toString('base64url')
  const value = JSON.stringify([{ token, subject: 'owner', scopes: ['kb:read', 'kb:write'] }])
  appendPrivately(TOKEN_FILE, `MCP_STATIC_TOKENS='${value}'\n`)
  return value
}

/** Deploys the Worker and its secrets in one step, so that every version has its secrets. Returns the URL of the Worker. */
async function deploy(secrets) {
  const args = ['deploy']
  if (Object.keys(secrets).length > 0) {
    const file = join(temporary, 'secrets.json')
    writeFileSync(file, JSON.stringify(secrets), { mode: 0o600 })
    args.push('--secrets-file', file)
  }
  // wrangler writes its results to this file as JSON lines.
  const record = join(temporary, 'output.ndjson')
  await wrangler(args, { environment: { WRANGLER_OUTPUT_FILE_PATH: record } })
  const done = readFileSync(record, 'utf8').trim().split('\n').map((line) => JSON.parse(line)).find(({ type }) => type === 'deploy')
  const target = done?.targets?.find((one) => !one.includes('*') && !/^schedule/.test(one))
  if (!target) throw new Error('the Worker is deployed, but has no URL: set workers_dev = true or add a route in wrangler.toml')
  return (/^https?:/.test(target) ? target : `https://${target}`).replace(/ .*$/, '').replace(/\/+$/, '')
}

/** Runs wrangler and shows its output. With `capture`, returns the output instead. */
function wrangler(args, { capture = false, environment = {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn('wrangler', args, {
      // wrangler does not ask for confirmation if it has no input. A user who runs this script has already decided.
      stdio: ['ignore', capture ? 'pipe' : 'inherit', capture ? 'pipe' : 'inherit'],
      env: { ...process.env, ...environment },
    })
    let output = ''
    let errors = ''
    child.stdout?.on('data', (text) => { output += text })
    child.stderr?.on('data', (text) => { errors += text })
    child.once('error', reject)
    child.once('close', (code) => {
      if (code === 0) resolve(output)
      else reject(new Error(`wrangler ${args.slice(0, 3).join(' ')} failed${capture ? `:\n${(errors + output).trim()}` : ''}`))
    })
  })
}
