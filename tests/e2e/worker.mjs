// A built Worker under `wrangler dev`, for tests: own port, own empty database, own secrets.
//
//   const worker = await startWorker({ vars: { MCP_AUTH: 'static' } })
//   await fetch(worker.url, …)          // http://127.0.0.1:PORT/mcp
//   await worker.stop()
//
// Why a `wrangler dev` child and not miniflare or unstable_startWorker: it is what a developer runs,
// it reads the real wrangler.toml, it starts in under two seconds, and ending its process group
// is certain to end everything; the in-process ways are unstable interfaces and leave workerd
// behind when a test throws. Starting costs a test file once: share one worker among its tests.

import { execFile, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { existsSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const run = promisify(execFile)

export const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../..')

// Those that are no examples.
const HOMES = { app: ROOT, faults: join(ROOT, 'tests/faults') }
const homeOf = (name) => HOMES[name] ?? join(ROOT, 'examples', name)

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

/** A random bearer token, as scripts/dev makes them. */
export const randomToken = () => randomBytes(32).toString('base64url')

/**
 * Starts a Worker and waits until it answers.
 *
 * @param {object} [options]
 * @param {string} [options.name] `app` (default), `faults` or the name of an example
 * @param {boolean} [options.unwind] whether it is built so that it survives a panic
 * @param {Record<string, string>} [options.vars] over those of wrangler.toml
 * @param {Record<string, string | undefined>} [options.secrets] over the default, which is one
 *   MCP_STATIC_TOKENS entry for `worker.token` with kb:read and kb:write; undefined removes one
 * @param {boolean} [options.migrate] false leaves the database without its tables
 * @param {(toml: string) => string} [options.config] changes its copy of wrangler.toml
 * @returns {Promise<Worker>}
 *
 * @typedef {object} Worker
 * @property {string} url the endpoint, http://127.0.0.1:PORT/mcp
 * @property {string} origin http://127.0.0.1:PORT
 * @property {string} token a token that the default secret accepts
 * @property {number} group the process group of all its processes
 * @property {() => string} logs all that wrangler and the Worker have printed so far
 * @property {(pattern: RegExp) => Promise<string>} logged waits until the logs match (they come a moment
 *   after the answer), at most 5 s; gives the match
 * @property {(statement: string) => Promise<object[]>} sql runs SQL on the Worker's database, gives the rows
 * @property {() => Promise<void>} stop ends every process of it and removes its files
 */
export async function startWorker({ name = 'app', unwind = false, vars = {}, secrets = {}, migrate = true, config = (toml) => toml } = {}) {
  await built(name, unwind)
  const folder = await mkdtemp(join(tmpdir(), 'edge-mcp-'))
  folders.add(folder)
  const state = join(folder, 'state')
  const token = randomToken()
  await writeConfig(folder, name, config)
  await writeSecrets(folder, {
    MCP_STATIC_TOKENS: JSON.stringify([{ token, subject: 'tester', scopes: ['kb:read', 'kb:write'] }]),
    MCP_STATE_KEY: randomToken(),
    ...secrets,
  })
  if (migrate && existsSync(join(folder, 'migrations'))) await cp(await migratedState(folder, name), state, { recursive: true })

  const child = spawn(process.execPath, [
    WRANGLER, 'dev', '--ip', '127.0.0.1', '--port', '0', '--inspector-port', '0', '--persist-to', state,
    '--show-interactive-dev-session=false',
    ...Object.entries(vars).flatMap(([key, value]) => ['--var', `${key}:${value}`]),
  ], {
    cwd: folder,
    // Its own process group, so that one signal reaches wrangler, its second self, esbuild and workerd.
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

// Waits for wrangler's own word that it listens (it chose the port), then for the first answer,
// which is when the Worker itself is up.
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

/** Waits until the output matches, at most 5 s; gives the match. */
export async function logged(output, pattern) {
  const deadline = Date.now() + 5_000
  for (;;) {
    const match = pattern.exec(output())
    if (match) return match[0]
    if (Date.now() > deadline) throw new Error(`nothing like ${pattern} in the logs:\n${output()}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

// A copy of the Worker's own wrangler.toml, in a folder where a developer's .dev.vars and database
// are not, and without its build command: the test builds once, and does not watch.
async function writeConfig(folder, name, change) {
  const home = homeOf(name)
  const text = await readFile(join(home, 'wrangler.toml'), 'utf8')
  const main = /^main = "(.*)"$/m.exec(text)[1]
  await writeFile(join(folder, 'wrangler.toml'), change(text
    .replace(/^\[build\]\n(?:[^[\n].*\n|\n)*/m, '')
    .replace(/^main = .*$/m, `main = ${JSON.stringify(join(home, main))}`)))
  if (/^\[\[d1_databases\]\]/m.test(text)) await symlink(join(home, 'migrations'), join(folder, 'migrations'))
}

// In .dev.vars a value between single quotes is taken as it is.
async function writeSecrets(folder, secrets) {
  const lines = Object.entries(secrets).filter(([, value]) => value !== undefined)
  await writeFile(join(folder, '.dev.vars'), lines.map(([key, value]) => `${key}='${value}'\n`).join(''), { mode: 0o600 })
}

const builds = new Map()
function built(name, unwind) {
  const how = [name === 'app' ? join(ROOT, 'app') : homeOf(name), ...(unwind ? ['--unwind'] : [])]
  if (!builds.has(name)) builds.set(name, run(join(ROOT, 'scripts/build'), how, { maxBuffer: 1e8 }))
  return builds.get(name)
}

// Migrating takes as long as starting, so it is done once per test file, and copied.
const migrated = new Map()
function migratedState(folder, name) {
  if (!migrated.has(name)) {
    migrated.set(name, (async () => {
      const state = await mkdtemp(join(tmpdir(), 'edge-mcp-migrated-'))
      folders.add(state)
      await wrangler(folder, ['d1', 'migrations', 'apply', 'DB', '--local', '--persist-to', state])
      await mkdir(state, { recursive: true })
      return state
    })())
  }
  return migrated.get(name)
}

async function sql(folder, statement) {
  const { stdout } = await wrangler(folder,
    ['d1', 'execute', 'DB', '--local', '--persist-to', join(folder, 'state'), '--json', '--command', statement])
  return JSON.parse(stdout)[0].results
}

const wrangler = (folder, args) =>
  run(process.execPath, [WRANGLER, ...args], { cwd: folder, env: { ...ENVIRONMENT, CI: 'true' }, maxBuffer: 1e8 })

// Nothing outlives the test process, however it ends.
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
