// Runs a built Worker under `wrangler dev`. Each Worker has its own port, its own empty database and its own secrets.
//
//   const worker = await startWorker({ vars: { MCP_AUTH: 'static' } })
//   await fetch(worker.url, …)          // http://127.0.0.1:PORT/mcp
//   await worker.stop()
//
// Only tests that need KV, a rate limit, a service binding to another Worker or wrangler itself use it. All others use workerd.mjs, because a
// start of `wrangler dev` takes 1.7 s of processor time. It runs as a child process, as developers run it: it reads the real wrangler.toml,
// and killing its process group ends all its processes. miniflare and unstable_startWorker run in the test process instead. They are
// unstable interfaces, and workerd keeps running when a test throws.

import { execFile, spawn } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import { cp, mkdir, mkdtemp, readFile, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { existsSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, relative } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { profileOf } from '../../scripts/lib/workers.mjs'

const run = promisify(execFile)

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..')

/** The folders of the Workers that are not examples. */
const HOMES = {
  app: ROOT,
  faults: join(ROOT, 'tests/faults'),
  'client-worker': join(ROOT, 'tests/client-worker'),
  'signed-in-auth': join(ROOT, 'examples/signed-in/auth'),
}
/** Returns the folder of a Worker that has its wrangler.toml. */
export const homeOf = (name) => HOMES[name] ?? join(ROOT, 'examples', name)

const WRANGLER = join(ROOT, 'node_modules/wrangler/bin/wrangler.js')
const ENVIRONMENT = {
  ...process.env,
  WRANGLER_SEND_METRICS: 'false',
  WRANGLER_SEND_ERROR_REPORTS: 'false',
  WRANGLER_HIDE_BANNER: 'true',
  WRANGLER_WRITE_LOGS: 'false',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  NO_COLOR: '1',
}

/** Creates a random bearer token in the format of scripts/dev. */
export const randomToken = () => randomBytes(32).toString('base64url')

/** Creates the default secrets of a Worker. `token` is the token in MCP_STATIC_TOKENS. */
export function defaultSecrets() {
  const token = randomToken()
  return {
    token,
    secrets: {
      MCP_STATIC_TOKENS: JSON.stringify([{ token, subject: 'tester', scopes: ['kb:read', 'kb:write'] }]),
      MCP_STATE_KEY: randomToken(),
    },
  }
}

/**
 * Starts a Worker and waits for its first response.
 *
 * @param {object} [options]
 * @param {string} [options.name] `app` (default), `faults`, `client-worker`, `signed-in-auth` or the name of an example
 * @param {number} [options.port] the port, for a Worker that must know its URL. By default, wrangler chooses one
 * @param {boolean} [options.unwind] whether the build survives a panic
 * @param {Record<string, string>} [options.vars] variables that override those of wrangler.toml
 * @param {Record<string, string | undefined>} [options.secrets] secrets that override the default ones; `undefined` removes a secret. The
 *   defaults are a random MCP_STATE_KEY, and MCP_STATIC_TOKENS with one entry: `worker.token`, with the scopes kb:read and kb:write
 * @param {boolean} [options.migrate] whether the database gets its tables
 * @param {(toml: string) => string} [options.config] changes the Worker's copy of wrangler.toml
 * @param {Record<string, Service>} [options.services] the Workers behind service bindings, by the name of the binding. They run in the
 *   same workerd, and have no URL. A binding that wrangler.toml does not have is added to it
 * @returns {Promise<Worker>}
 *
 * @typedef {{ name: string, secrets: Record<string, string>, config?: (toml: string) => string }} Service
 *
 * @typedef {object} Worker
 * @property {string} url the endpoint, http://127.0.0.1:PORT/mcp
 * @property {string} origin http://127.0.0.1:PORT
 * @property {string} token the token in the default MCP_STATIC_TOKENS
 * @property {number} group the id of the process group
 * @property {() => string} logs returns the output of wrangler and the Worker until now
 * @property {(pattern: RegExp) => Promise<string>} logged waits at most 5 s until the logs match, and returns the match. A log line can
 *   follow its response after a short delay
 * @property {(statement: string) => Promise<object[]>} sql runs SQL on the Worker's database, and returns the rows
 * @property {() => Promise<void>} stop kills the process group and removes the files
 */
export async function startWorker({
  name = 'app', port = 0, unwind = false, vars = {}, secrets = {}, migrate = true, config = (toml) => toml, services = {},
} = {}) {
  if (process.env.E2E_HOST) return (await import('./node.mjs')).startNode({ name, vars, secrets })
  await built(name, unwind)
  for (const service of Object.values(services)) await built(service.name, false)
  const folder = await mkdtemp(join(tmpdir(), 'edge-mcp-'))
  folders.add(folder)
  const state = join(folder, 'state')
  const { token, secrets: defaults } = defaultSecrets()
  const bindings = (toml) => Object.entries(services).filter(([binding]) => !toml.includes(`binding = "${binding}"`))
    .map(([binding, { name }]) => `\n[[services]]\nbinding = "${binding}"\nservice = "${name}"\n`)
  await writeConfig(folder, name, (toml) => config(toml) + bindings(toml).join(''))
  for (const [binding, service] of Object.entries(services)) await writeService(join(folder, binding), service)
  await writeSecrets(folder, { ...defaults, ...secrets })
  if (migrate && existsSync(join(folder, 'migrations'))) await cp(await migratedState(folder), state, { recursive: true })

  const child = spawn(process.execPath, [
    WRANGLER, 'dev', '--ip', '127.0.0.1', '--port', String(port), '--inspector-port', '0', '--persist-to', state,
    '--show-interactive-dev-session=false',
    ...['.', ...Object.keys(services)].flatMap((service) => ['--config', join(folder, service, 'wrangler.toml')]),
    ...Object.entries(vars).flatMap(([key, value]) => ['--var', `${key}:${value}`]),
  ], {
    cwd: folder,
    // The child gets its own process group. So one signal reaches wrangler, its child process, esbuild and workerd.
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...ENVIRONMENT, WRANGLER_REGISTRY_PATH: join(folder, 'registry') },
  })
  groups.add(child.pid)
  let output = ''
  child.stdout.on('data', (text) => { output += text })
  child.stderr.on('data', (text) => { output += text })
  const ended = new Promise((resolve) => child.once('exit', resolve))

  const stop = async () => {
    killGroup(child.pid)
    await ended
    groups.delete(child.pid)
    await rm(folder, { recursive: true, force: true, maxRetries: 5 })
    folders.delete(folder)
  }
  try {
    const origin = await ready(() => output, child)
    return {
      url: `${origin}/mcp`,
      origin,
      token,
      group: child.pid,
      logs: () => output,
      logged: (pattern) => logged(() => output, pattern),
      sql: (statement) => sql(folder, statement),
      stop,
    }
  } catch (error) {
    await stop()
    throw error
  }
}

// Waits until wrangler prints its address, because wrangler chooses the port. Then waits for the first response, because the Worker starts
// after wrangler listens. Returns the origin.
async function ready(output, child) {
  const deadline = Date.now() + 60_000
  while (Date.now() < deadline) {
    if (child.exitCode !== null) break
    const origin = /Ready on (http:\/\/127\.0\.0\.1:\d+)/.exec(output())?.[1]
    if (origin) {
      const response = await fetch(origin, { signal: AbortSignal.timeout(30_000) })
      await response.arrayBuffer()
      return origin
    }
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`wrangler dev ${child.exitCode === null ? 'did not answer within 60 s' : 'ended'}:\n${output()}`)
}

/** Waits at most 5 s until the output matches, and returns the match. */
export async function logged(output, pattern) {
  const deadline = Date.now() + 5_000
  for (;;) {
    const match = pattern.exec(output())
    if (match) return match[0]
    if (Date.now() > deadline) throw new Error(`the logs do not match ${pattern}:\n${output()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

// Copies the Worker's wrangler.toml to `folder`, where wrangler does not find the .dev.vars and the database of a developer. The copy has
// no build command, because the test builds the Worker once and does not watch its files.
async function writeConfig(folder, name, change) {
  const home = homeOf(name)
  const text = await readFile(join(home, 'wrangler.toml'), 'utf8')
  const main = /^main = "(.*)"$/m.exec(text)[1]
  await writeFile(join(folder, 'wrangler.toml'), change(text
    .replace(/^\[build\]\n(?:[^[\n].*\n|\n)*/m, '')
    .replace(/^main = .*$/m, `main = ${JSON.stringify(join(home, main))}`)
    .replace(/^migrations_dir = .*\n/m, '')))
  const migrations = /^migrations_dir = "(.*)"$/m.exec(text)?.[1] ?? 'migrations'
  if (/^\[\[d1_databases\]\]/m.test(text)) await symlink(join(home, migrations), join(folder, 'migrations'))
}

async function writeService(folder, { name, secrets, config = (toml) => toml }) {
  await mkdir(folder)
  await writeConfig(folder, name, config)
  await writeSecrets(folder, secrets)
}

// In .dev.vars, wrangler does not interpret a value in single quotes.
async function writeSecrets(folder, secrets) {
  const lines = Object.entries(secrets).filter(([, value]) => value !== undefined)
  await writeFile(join(folder, '.dev.vars'), lines.map(([key, value]) => `${key}='${value}'\n`).join(''), { mode: 0o600 })
}

const builds = new Map()
/** Builds a Worker once. `scripts/test` builds all Workers before the tests, and sets WORKERS_ARE_BUILT. */
export function built(name, unwind) {
  if (process.env.WORKERS_ARE_BUILT && !unwind) return Promise.resolve()
  const home = name === 'app' ? join(ROOT, 'app') : homeOf(name)
  // wrangler bundles a Worker without Rust.
  if (!existsSync(join(home, 'Cargo.toml'))) return Promise.resolve()
  const how = [home, unwind ? '--unwind' : `--${profileOf(relative(ROOT, home))}`]
  if (!builds.has(name)) builds.set(name, run(join(ROOT, 'scripts/build'), how, { maxBuffer: 1e8 }))
  return builds.get(name)
}

// A migration takes as long as the start of a Worker. So the first test migrates a database, and each Worker gets a copy.
async function migratedState(folder) {
  const migrations = join(folder, 'migrations')
  const [database] = /^\[\[d1_databases\]\][^[]*/m.exec(await readFile(join(folder, 'wrangler.toml'), 'utf8'))
  const digest = createHash('sha256').update(database)
  for (const file of (await readdir(migrations)).sort()) digest.update(file).update(await readFile(join(migrations, file)))
  const state = join(ROOT, '.tools/migrated', digest.digest('hex').slice(0, 16))
  if (existsSync(state)) return state
  await mkdir(dirname(state), { recursive: true })
  const own = await mkdtemp(`${state}-`)
  folders.add(own)
  await wrangler(folder, ['d1', 'migrations', 'apply', 'DB', '--local', '--persist-to', own])
  // Another test file may migrate the same database at the same time. The first one that renames its folder wins.
  await rename(own, state).catch((error) => { if (!existsSync(state)) throw error })
  return state
}

// `wrangler d1 execute` takes seconds, so this opens the file of the database.
async function sql(folder, statement) {
  const databases = join(folder, 'state/v3/d1/miniflare-D1DatabaseObject')
  const [file] = (await readdir(databases)).filter((name) => name.endsWith('.sqlite') && name !== 'metadata.sqlite')
  const database = new DatabaseSync(join(databases, file), { timeout: 5_000 })
  try {
    if (/^SELECT /.test(statement)) return database.prepare(statement).all().map((row) => ({ ...row }))
    database.exec(statement)
    return []
  } finally {
    database.close()
  }
}

const wrangler = (folder, args) =>
  run(process.execPath, [WRANGLER, ...args], { cwd: folder, env: { ...ENVIRONMENT, CI: 'true' }, maxBuffer: 1e8 })

// When the test process ends for any reason, all Workers end and their files are removed.
const groups = new Set()
const folders = new Set()
function killGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}
process.on('exit', () => {
  for (const pid of groups) killGroup(pid)
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1))
