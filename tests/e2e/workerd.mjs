// Runs Workers directly in workerd, without wrangler: a start takes a tenth of the time of `wrangler dev`, and one process runs several
// Workers, each at its own port. Their databases fail unless a test asks for one, their KV namespaces fail, their Durable Objects are in
// memory, and they have no rate limit. Tests also use it to send thousands of requests or megabytes: `wrangler dev` needs 10 ms of CPU time
// to forward a request, and it detects late that a client has disconnected. Only here, Workers AI and Vectorize can be the real clients of workerd with a server of the test behind.

import { spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, readdir, rm, symlink, writeFile } from 'node:fs/promises'
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

/** Returns a binding to an object of the platform that sends its requests to a service. */
const wrapped = (name, api, service, values = []) => {
  const inner = [`(name = "fetcher", service = ${service})`, ...values.map(binding)]
  return `(name = "${name}", wrapped = (moduleName = "cloudflare-internal:${api}-api", innerBindings = [${inner.join(', ')}]))`
}

// A service that fails.
const NONE = '(name = "none", network = (allow = []))'

// By default, workerd does not send requests to this machine, on which the servers of the tests are.
const INTERNET = '(name = "internet", network = (allow = ["private"]))'

const worker = (modules, bindings, more = '') => `(
  modules = [${modules.map(([name, kind, path]) => `(name = "${name}", ${kind} = ${kind === 'bundled' ? '' : 'embed '}"${path}")`).join(', ')}],
  compatibilityDate = "2026-11-01",
  bindings = [${bindings.join(', ')}],${more}
)`

// workerd contains a Worker that implements D1, with the limits of SQLite. It stores each database in a folder, as a Durable Object.
const D1 = [
  '(name = "d1-disk", disk = (path = "d1", writable = true))',
  `(name = "d1", worker = ${worker([['d1.js', 'bundled', '/workerd/d1.js']],
    ['(name = "DATABASE", durableObjectNamespace = "D1Database")'], `
  durableObjectNamespaces = [(className = "D1Database", uniqueKey = "d1", enableSql = true)],
  durableObjectStorage = (localDisk = "d1-disk"),`)})`,
]
const d1Of = (n) => `(name = "d1", props = (json = ${quoted(JSON.stringify({ database: `worker${n}` }))}))`

/** Returns the Durable Objects of a Worker, which are in memory. */
const objectsOf = (n, objects) => (objects.length === 0 ? '' : `
  durableObjectNamespaces = [${objects.map(([, className]) => `(className = "${className}", uniqueKey = "${className}${n}", enableSql = true)`).join(', ')}],
  durableObjectStorage = (inMemory = void),`)

// Vectorize and Workers AI: the server of a test receives their requests.
const stubOf = (n, { address }) => `(name = "stub${n}", external = (address = "${address}", http = ()))`
const stubBindings = (n) => [
  wrapped('VECTORS', 'vectorize', `"stub${n}"`, Object.entries({ indexId: 'vectors', indexVersion: 'v2', useNdJson: true })),
  wrapped('AI', 'ai', `"stub${n}"`),
]

/** Returns the variables, the names of the required secrets, and the bindings of storage in the wrangler.toml of a Worker. */
async function configured(name) {
  const toml = await readFile(join(homeOf(name), 'wrangler.toml'), 'utf8')
  const vars = /^\[vars\]\n(.*?)(?=^\[|$(?![^]))/ms.exec(toml)?.[1] ?? ''
  return {
    vars: Object.fromEntries([...vars.matchAll(/^(\w+) = "(.*)"$/gm)].map(([, key, value]) => [key, value])),
    required: [...(/^required = \[(.*)\]$/m.exec(toml)?.[1] ?? '').matchAll(/"(\w+)"/g)].map(([, key]) => key),
    databases: [...toml.matchAll(/^\[\[d1_databases\]\]\nbinding = "(\w+)"$/gm)].map(([, name]) => name),
    namespaces: [...toml.matchAll(/^\[\[kv_namespaces\]\]\nbinding = "(\w+)"$/gm)].map(([, name]) => name),
    objects: [...toml.matchAll(/^\[\[durable_objects\.bindings\]\]\nname = "(\w+)"\nclass_name = "(\w+)"$/gm)].map(([, ...object]) => object),
    migrationsFolder: join(homeOf(name), /^migrations_dir = "(.*)"$/m.exec(toml)?.[1] ?? 'migrations'),
  }
}

/** Returns a port that no server uses at the moment. */
export const freePort = () => new Promise((resolve, reject) => {
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
 * @returns {Promise<(Omit<import('./worker.mjs').Worker, 'group'> & { pid: number })[]>} `logs` are those of all Workers, `pid` is the process of
 *   all Workers, `stop` stops all of them, and only a Worker with a database has `sql`
 *
 * @typedef {object} Options
 * @property {string} [name] `faults` (default), or another name that `startWorker` of worker.mjs accepts
 * @property {Record<string, unknown> | ((origins: string[]) => Record<string, unknown>)} [vars] variables that override those of
 *   wrangler.toml, or a function that gets the origins of all Workers; `undefined` removes a variable
 * @property {Record<string, string | undefined>} [secrets] secrets that override the default ones; `undefined` removes a secret
 * @property {boolean} [database] whether its D1 bindings are a database with the tables of its migrations
 * @property {import('./cloudflare-stub.mjs').CloudflareStub} [cloudflare] the server behind the bindings `VECTORS` of Vectorize and `AI` of
 *   Workers AI. Without it, the Worker does not have these bindings
 * @property {Record<string, string>} [services] the JavaScript of the Workers behind service bindings, by the name of the binding
 * @property {string} [caller] the JavaScript of a Worker that receives all requests; its binding `FAULTS` is the server
 */
export async function startWorkerds(all) {
  const folder = await mkdtemp(join(tmpdir(), 'edge-mcp-'))
  const services = [NONE, INTERNET, ...D1]
  await mkdir(join(folder, 'd1'))
  const sockets = []
  const starting = []
  const migrations = []
  const written = async (name, source, bindings) => {
    await writeFile(join(folder, `${name}.js`), source)
    return `(name = "${name}", worker = ${worker([['main.js', 'esModule', `${name}.js`]], bindings)})`
  }
  const ports = await Promise.all(all.map(freePort))
  const origins = ports.map((port) => `http://127.0.0.1:${port}`)
  for (const [n, { name = 'faults', vars = {}, secrets = {}, database, cloudflare, services: behind = {}, caller }] of all.entries()) {
    await built(name, false)
    await symlink(join(name === 'app' ? join(ROOT, 'app') : homeOf(name), 'build'), join(folder, `build${n}`))
    const { vars: own, required, databases, namespaces, objects, migrationsFolder } = await configured(name)
    const { token, secrets: defaults } = defaultSecrets()
    const values = {
      ...own, ...Object.fromEntries(required.map((key) => [key, defaults[key]])), ...(typeof vars === 'function' ? vars(origins) : vars), ...secrets,
    }
    const modules = [['main.js', 'esModule'], ['index.js', 'esModule'], ['index_bg.wasm', 'wasm']]
      .map(([file, kind]) => [file, kind, `build${n}/${file}`])
    const bindings = [
      ...Object.entries(values).filter(([, value]) => value !== undefined).map(binding),
      ...databases.map((each) => wrapped(each, 'd1', database ? d1Of(n) : '"none"')),
      ...namespaces.map((each) => `(name = "${each}", kvNamespace = "none")`),
      ...objects.map(([each, className]) => `(name = "${each}", durableObjectNamespace = "${className}")`),
      ...(cloudflare ? stubBindings(n) : []),
      ...Object.keys(behind).map((each) => `(name = "${each}", service = "${each}${n}")`),
    ]
    if (cloudflare) services.push(stubOf(n, cloudflare))
    for (const [each, source] of Object.entries(behind)) services.push(await written(`${each}${n}`, source, []))
    services.push(`(name = "worker${n}", worker = ${worker(modules, bindings, objectsOf(n, objects))})`)
    if (caller) {
      services.push(await written(`caller${n}`, caller, [`(name = "FAULTS", service = "worker${n}")`]))
    }
    sockets.push(`(name = "http${n}", address = "127.0.0.1:${ports[n]}", http = (), service = "${caller ? 'caller' : 'worker'}${n}")`)
    const started = { origin: origins[n], url: `${origins[n]}/mcp`, token }
    if (database) {
      const port = await freePort()
      sockets.push(`(name = "d1${n}", address = "127.0.0.1:${port}", http = (), service = ${d1Of(n)})`)
      started.sql = sqlAt(port)
      migrations.push(() => migrate(started.sql, migrationsFolder))
    }
    starting.push(started)
  }
  await writeFile(join(folder, 'config.capnp'), `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [${services.join(', ')}], sockets = [${sockets.join(', ')}]);
`)
  const child = spawn(join(ROOT, 'node_modules/.bin/workerd'), ['serve', '--experimental', '--verbose', 'config.capnp'],
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
  await Promise.all(migrations.map((migrate) => migrate()))
  return starting.map((each) => ({ ...each, pid: child.pid, logs, logged: (pattern) => logged(logs, pattern), stop }))
}

/** Returns a function that runs SQL on the database behind a port, and returns the rows of the last statement. */
const sqlAt = (port) => async (sql) => {
  const response = await fetch(`http://127.0.0.1:${port}/query`, { method: 'POST', body: JSON.stringify({ sql }) })
  const answer = await response.json()
  if (answer.error) throw new Error(`${answer.error}: ${sql}`)
  return answer[0].results
}

/** Applies the migrations in the order of their names. */
async function migrate(sql, folder) {
  for (const file of (await readdir(folder)).sort()) await sql(await readFile(join(folder, file), 'utf8'))
}

/** Builds and starts one Worker. */
export const startWorkerd = async (options = {}) => (await startWorkerds([options]))[0]
