// Runs Workers directly in workerd, without wrangler: a start takes a tenth of the time of `wrangler dev`, and one process runs several
// Workers, each at its own port. Their databases fail, and they have no rate limit. Tests also use it to send thousands of requests or megabytes:
// `wrangler dev` needs 10 ms of CPU time to forward a request, and it detects late that a client has disconnected.

import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { ROOT, built, defaultSecrets, homeOf, logged } from './worker.mjs'

/** Returns text as a string of Cap'n Proto. */
const quoted = (text) => JSON.stringify(text)

// A variable of wrangler.toml that is not a string is a binding of JSON.
const binding = ([name, value]) =>
  `(name = ${quoted(name)}, ${typeof value === 'string' ? `text = ${quoted(value)}` : `json = ${quoted(JSON.stringify(value))}`})`

// A D1 database is an interface to a service. This service does not exist in the tests.
const database = ([, name]) =>
  `(name = "${name}", wrapped = (moduleName = "cloudflare-internal:d1-api", innerBindings = [(name = "fetcher", service = "none")]))`
const NONE = '(name = "none", network = (allow = []))'

const worker = (modules, bindings) => `(
  modules = [${modules.map(([name, kind, path]) => `(name = "${name}", ${kind} = embed "${path}")`).join(', ')}],
  compatibilityDate = "2026-11-01",
  bindings = [${bindings.join(', ')}],
)`

/** Returns the variables, the names of the required secrets, and the bindings of databases in the wrangler.toml of a Worker. */
async function configured(name) {
  const toml = await readFile(join(homeOf(name), 'wrangler.toml'), 'utf8')
  const vars = /^\[vars\]\n(.*?)(?=^\[|$(?![^]))/ms.exec(toml)?.[1] ?? ''
  return {
    vars: Object.fromEntries([...vars.matchAll(/^(\w+) = "(.*)"$/gm)].map(([, key, value]) => [key, value])),
    required: [...(/^required = \[(.*)\]$/m.exec(toml)?.[1] ?? '').matchAll(/"(\w+)"/g)].map(([, key]) => key),
    databases: [...toml.matchAll(/^\[\[d1_databases\]\]\nbinding = "(\w+)"$/gm)].map(database),
  }
}

const freePort = () => new Promise((resolve, reject) => {
  const server = createServer().once('error', reject).listen(0, '127.0.0.1', () => {
    const { port } = server.address()
    server.close(() => resolve(port))
  })
})

/** The running servers. When the test process ends, all of them end. */
const running = new Set()
process.on('exit', () => {
  for (const { child, folder } of running) {
    child.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
})

/**
 * Builds Workers and starts them in one workerd.
 *
 * @param {Options[]} all
 * @returns {Promise<Omit<import('./worker.mjs').Worker, 'group' | 'sql'>[]>} `logs` are those of all Workers, and `stop` stops all of them
 *
 * @typedef {object} Options
 * @property {string} [name] `faults` (default), or another name that `startWorker` of worker.mjs accepts
 * @property {Record<string, unknown>} [vars] variables that override those of wrangler.toml; `undefined` removes a variable
 * @property {Record<string, string | undefined>} [secrets] secrets that override the default ones; `undefined` removes a secret
 * @property {string} [caller] the JavaScript of a Worker that receives all requests; its binding `FAULTS` is the server
 */
export async function startWorkerds(all) {
  const folder = await mkdtemp(join(tmpdir(), 'edge-mcp-'))
  const services = [NONE]
  const sockets = []
  const starting = []
  for (const [n, { name = 'faults', vars = {}, secrets = {}, caller }] of all.entries()) {
    await built(name, false)
    await symlink(join(name === 'app' ? join(ROOT, 'app') : homeOf(name), 'build'), join(folder, `build${n}`))
    const { vars: own, required, databases } = await configured(name)
    const { token, secrets: defaults } = defaultSecrets()
    const values = { ...own, ...Object.fromEntries(required.map((key) => [key, defaults[key]])), ...vars, ...secrets }
    const modules = [['main.js', 'esModule'], ['index.js', 'esModule'], ['index_bg.wasm', 'wasm']]
      .map(([file, kind]) => [file, kind, `build${n}/${file}`])
    const bindings = Object.entries(values).filter(([, value]) => value !== undefined).map(binding).concat(databases)
    services.push(`(name = "worker${n}", worker = ${worker(modules, bindings)})`)
    if (caller) {
      await writeFile(join(folder, `caller${n}.js`), caller)
      services.push(`(name = "caller${n}", worker = ${
        worker([['caller.js', 'esModule', `caller${n}.js`]], [`(name = "FAULTS", service = "worker${n}")`])})`)
    }
    const port = await freePort()
    sockets.push(`(name = "http${n}", address = "127.0.0.1:${port}", http = (), service = "${caller ? 'caller' : 'worker'}${n}")`)
    starting.push({ origin: `http://127.0.0.1:${port}`, url: `http://127.0.0.1:${port}/mcp`, token })
  }
  await writeFile(join(folder, 'config.capnp'), `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [${services.join(', ')}], sockets = [${sockets.join(', ')}]);
`)
  const child = spawn(join(ROOT, 'node_modules/.bin/workerd'), ['serve', '--verbose', 'config.capnp'],
    { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
  const entry = { child, folder }
  running.add(entry)
  let output = ''
  child.stdout.on('data', (text) => { output += text })
  child.stderr.on('data', (text) => { output += text })
  const stop = async () => {
    child.kill('SIGKILL')
    running.delete(entry)
    await rm(folder, { recursive: true, force: true })
  }
  const logs = () => output
  for (const { url } of starting) {
    let answer
    for (let tries = 0; !answer && tries < 200 && child.exitCode === null; tries++) {
      answer = await fetch(url).catch(() => undefined)
      if (!answer) await sleep(50)
    }
    if (!answer) {
      await stop()
      throw new Error(`workerd does not answer:\n${output}`)
    }
  }
  return starting.map((each) => ({ ...each, logs, logged: (pattern) => logged(logs, pattern), stop }))
}

/** Builds and starts one Worker. */
export const startWorkerd = async (options = {}) => (await startWorkerds([options]))[0]
