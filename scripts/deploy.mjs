// See scripts/deploy, which starts it in the folder of wrangler.toml.
//
// The id of the new database is written into wrangler.toml, as Cloudflare's own documentation has it:
// an id is no secret, and every later wrangler command (d1 execute, tail, rollback) then finds the
// database. Local data does not hang on it: `preview_database_id` keeps that where it is.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { unstable_readConfig as readConfig } from 'wrangler'
import { appendPrivately, makePrivate } from './lib/private-file.mjs'

const NOT_CREATED_YET = '00000000-0000-0000-0000-000000000000'
const KEPT = '.deploy.vars'

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
  if (makePrivate(KEPT)) console.error(`${KEPT} could be read by others; its mode is 600 now. Replace its secrets if someone else uses this machine.`)
  const config = readConfig({ config: 'wrangler.toml' })
  for (const database of config.d1_databases) {
    await ensureDatabase(database)
    console.error(`migrating ${database.database_name}`)
    await wrangler(['d1', 'migrations', 'apply', database.binding, '--remote'])
  }
  const url = await deploy(await missingSecrets(config))
  console.log(`\nDeployed: ${url}/mcp. Try it, with your token in MCP_TOKEN:\n
curl -s ${url}/mcp -H "Authorization: Bearer $MCP_TOKEN" -H 'Content-Type: application/json' -d '{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
MCP_TOKEN=… scripts/load DIR --url ${url}/mcp\n`)
}

async function ensureDatabase({ database_name: name, database_id: id }) {
  if (id && id !== NOT_CREATED_YET) return
  const find = async () => JSON.parse(await wrangler(['d1', 'list', '--json'], { capture: true })).find((one) => one.name === name)
  let found = await find()
  if (!found) {
    console.error(`creating the database ${name}`)
    await wrangler(['d1', 'create', name])
    found = await find()
    if (!found) throw new Error(`wrangler created the database ${name} and does not list it: run this again`)
  }
  const text = readFileSync('wrangler.toml', 'utf8')
  // Where several databases wait for an id, each has its own after its name.
  const place = text.indexOf(`"${NOT_CREATED_YET}"`, text.indexOf(`"${name}"`, text.indexOf('[[d1_databases]]')))
  if (place < 0) throw new Error(`wrangler.toml has no place for the id of ${name}: put database_id = "${found.uuid}" after its name`)
  writeFileSync('wrangler.toml', `${text.slice(0, place)}"${found.uuid}"${text.slice(place + NOT_CREATED_YET.length + 2)}`)
  console.error(`wrangler.toml: database_id of ${name} is ${found.uuid}; commit it`)
}

/** The required secrets that Cloudflare does not have yet, with the values to give them. */
async function missingSecrets(config) {
  const required = config.secrets?.required ?? []
  if (required.length === 0) return {}
  const existing = await secretNames()
  const values = {}
  const absent = []
  for (const name of required.filter((one) => !existing.has(one))) {
    const value = process.stdin.isTTY ? await ask(name) : process.env[name]
    if (value) values[name] = value
    else absent.push(name)
  }
  if (absent.length > 0) {
    throw new Error(`no value for the secret ${absent.join(', ')}: run this on a terminal, or set the environment variable of that name`)
  }
  return values
}

async function secretNames() {
  try {
    return new Set(JSON.parse(await wrangler(['secret', 'list', '--format', 'json'], { capture: true })).map(({ name }) => name))
  } catch (error) {
    // A Worker that was never deployed has none.
    if (/10007|not found|does not exist/i.test(error.message)) return new Set()
    throw error
  }
}

/** Asks without showing what is typed. */
async function ask(name) {
  const makes = name === 'MCP_STATIC_TOKENS'
  const silent = new Writable({ write: (_chunk, _encoding, done) => done() })
  const prompt = createInterface({ input: process.stdin, output: silent, terminal: true })
  process.stderr.write(`${name} is not set${makes ? ` (JSON as in .dev.vars.example; Enter alone makes a random token and keeps it in ${KEPT})` : ''}: `)
  const answer = (await prompt.question('')).trim()
  prompt.close()
  process.stderr.write('\n')
  return answer || (makes ? madeTokens() : '')
}

function madeTokens() {
  const token = randomBytes(32).toString('base64url')
  const value = JSON.stringify([{ token, subject: 'owner', scopes: ['kb:read', 'kb:write'] }])
  appendPrivately(KEPT, `MCP_STATIC_TOKENS='${value}'\n`)
  return value
}

/** Deploys, with the secrets in the same step: no version serves without them. Gives the Worker's address. */
async function deploy(secrets) {
  const args = ['deploy']
  if (Object.keys(secrets).length > 0) {
    const file = join(temporary, 'secrets.json')
    writeFileSync(file, JSON.stringify(secrets), { mode: 0o600 })
    args.push('--secrets-file', file)
  }
  // What wrangler did, in a form meant for programs.
  const record = join(temporary, 'output.ndjson')
  await wrangler(args, { environment: { WRANGLER_OUTPUT_FILE_PATH: record } })
  const done = readFileSync(record, 'utf8').trim().split('\n').map((line) => JSON.parse(line)).find(({ type }) => type === 'deploy')
  const target = done?.targets?.find((one) => !one.includes('*') && !/^schedule/.test(one))
  if (!target) throw new Error('it is deployed, but has no address: turn on workers_dev or add a route in wrangler.toml')
  return (/^https?:/.test(target) ? target : `https://${target}`).replace(/ .*$/, '').replace(/\/+$/, '')
}

/** Runs wrangler; what it says is shown, or given back with `capture`. */
function wrangler(args, { capture = false, environment = {} } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn('wrangler', args, {
      // Without an input it asks nothing: who runs this script has decided already.
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
