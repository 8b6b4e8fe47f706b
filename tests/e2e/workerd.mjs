// Runs Workers directly in workerd, without wrangler: a start takes a tenth of the time of `wrangler dev`, and one process runs several
// Workers, each at its own port. Their databases fail unless a test asks for one, their KV namespaces fail, their Durable Objects are in
// memory unless a test asks for a disk, and they have no rate limit unless a test asks for it. Tests also use it to send thousands of requests or megabytes:
// `wrangler dev` needs 10 ms of CPU time to forward a request, and it detects late that a client has disconnected. Only here, Workers AI and
// Vectorize can be the real clients of workerd with a server of the test behind, and only here a test can kill the process and start it
// again on the same disk.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
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

/** Returns the Durable Objects of a Worker. They are in memory or on the disk. */
const objectsOf = (n, objects, storage) => (objects.length === 0 ? '' : `
  durableObjectNamespaces = [${objects.map(([, className]) => `(className = "${className}", uniqueKey = "${className}${n}", enableSql = true)`).join(', ')}],
  durableObjectStorage = (${storage === 'disk' ? 'localDisk = "objects-disk"' : 'inMemory = void'}),`)

const OBJECTS_DISK = '(name = "objects-disk", disk = (path = "objects", writable = true))'

// The address of the client, which workerd itself does not tell.
const LOCAL = 'injectRequestHeaders = [(name = "CF-Connecting-IP", value = "127.0.0.1")]'

// Vectorize and Workers AI: the server of a test receives their requests.
const stubOf = (n, { address }) => `(name = "stub${n}", external = (address = "${address}", http = ()))`
const stubBindings = (n) => [
  wrapped('VECTORS', 'vectorize', `"stub${n}"`, Object.entries({ indexId: 'vectors', indexVersion: 'v2', useNdJson: true })),
  wrapped('AI', 'ai', `"stub${n}"`),
]

// A rate limit has the method of a binding of Cloudflare. It counts the requests of each key since the start.
const RATE_LIMIT = `export default ({ most }) => {
  const counts = {}
  return { limit: async ({ key }) => ({ success: (counts[key] = (counts[key] ?? 0) + 1) <= most }) }
}`
const EXTENSIONS = [`(modules = [(name = "edge-mcp:rate-limit", internal = true, esModule = ${quoted(RATE_LIMIT)})])`]
const rateLimitOf = ([name, most]) =>
  `(name = "${name}", wrapped = (moduleName = "edge-mcp:rate-limit", innerBindings = [(name = "most", json = "${most}")]))`

// A Worker that receives the events of another one, and returns them.
const TAIL = `
  const events = []
  const keep = (event) => { events.push(event) }
  export default {
    tailStream(event) { keep(event); return keep },
    // A number of an attribute is a BigInt.
    fetch: () => new Response(JSON.stringify(events, (_, value) => (typeof value === "bigint" ? Number(value) : value))),
  }
`

/** Returns the spans that the events of a tail describe and that have ended, without those of whole invocations. */
function spansOf(events) {
  const spans = new Map()
  for (const { spanContext: { traceId, spanId }, event } of events) {
    if (event.type === 'spanOpen') spans.set(event.spanId, { name: event.name, traceId, attributes: {} })
    const span = spans.get(spanId)
    if (!span) continue
    if (event.type === 'attributes') for (const { name, value } of event.info) span.attributes[name] = value
    if (event.type === 'spanClose') span.hasEnded = true
  }
  return [...spans.values()].filter(({ hasEnded }) => hasEnded)
}

/** Returns the variables, the names of the required secrets, and the bindings of storage in the wrangler.toml of a Worker. */
export async function configured(name) {
  const toml = await readFile(join(homeOf(name), 'wrangler.toml'), 'utf8')
  const vars = /^\[vars\]\n(.*?)(?=^\[|$(?![^]))/ms.exec(toml)?.[1] ?? ''
  return {
    vars: Object.fromEntries([...vars.matchAll(/^(\w+) = "(.*)"$/gm)].map(([, key, value]) => [key, value])),
    required: [...(/^required = \[(.*)\]$/m.exec(toml)?.[1] ?? '').matchAll(/"(\w+)"/g)].map(([, key]) => key),
    databases: [...toml.matchAll(/^\[\[d1_databases\]\]\nbinding = "(\w+)"$/gm)].map(([, name]) => name),
    rateLimits: [...toml.matchAll(/^\[\[ratelimits\]\]\nname = "(\w+)"\n(?:.+\n)*simple = \{ limit = (\d+)/gm)].map(([, ...limit]) => limit),
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
 *   all Workers, `stop` stops all of them, and only a Worker with a database has `sql`. `kill` ends the process with SIGKILL, and `start`
 *   starts it again on the same disk, with variables that override those of all Workers
 *
 * @typedef {object} Options
 * @property {string} [name] `faults` (default), or another name that `startWorker` of worker.mjs accepts
 * @property {Record<string, unknown> | ((origins: string[]) => Record<string, unknown>)} [vars] variables that override those of
 *   wrangler.toml, or a function that gets the origins of all Workers; `undefined` removes a variable
 * @property {Record<string, string | undefined>} [secrets] secrets that override the default ones; `undefined` removes a secret
 * @property {'memory' | 'disk' | number} [objects] the storage of the Durable Objects, which is in memory by default, or the number of the
 *   Worker that has the objects instead
 * @property {boolean} [database] whether its D1 bindings are a database with the tables of its migrations
 * @property {boolean} [rateLimit] whether it has the rate limits of wrangler.toml
 * @property {import('./cloudflare-stub.mjs').CloudflareStub} [cloudflare] the server behind the bindings `VECTORS` of Vectorize and `AI` of
 *   Workers AI. Without it, the Worker does not have these bindings
 * @property {boolean} [tail] whether `spans` returns the spans of the Worker
 * @property {Record<string, string>} [services] the JavaScript of the Workers behind service bindings, by the name of the binding
 * @property {string} [caller] the JavaScript of a Worker that receives all requests; its binding `FAULTS` is the server
 */
export async function startWorkerds(all) {
  if (process.env.E2E_HOST) return Promise.all(all.map((await import('./node.mjs')).startNode))
  const folder = await mkdtemp(join(tmpdir(), 'edge-mcp-'))
  const services = [NONE, INTERNET, OBJECTS_DISK, ...D1]
  await mkdir(join(folder, 'd1'))
  await mkdir(join(folder, 'objects'))
  const sockets = []
  const starting = []
  const migrations = []
  const written = async (name, source, bindings, more) => {
    await writeFile(join(folder, `${name}.js`), source)
    return `(name = "${name}", worker = ${worker([['main.js', 'esModule', `${name}.js`]], bindings, more)})`
  }
  const ports = await Promise.all(all.map(freePort))
  const origins = ports.map((port) => `http://127.0.0.1:${port}`)
  /** Functions that return a service, for variables that override those of a Worker. */
  const workers = []
  for (const [n, options] of all.entries()) {
    const { name = 'faults', vars = {}, secrets = {}, objects: storage = 'memory', database, rateLimit, cloudflare, tail, services: behind = {}, caller } = options
    await built(name, false)
    await symlink(join(name === 'app' ? join(ROOT, 'app') : homeOf(name), 'build'), join(folder, `build${n}`))
    const { vars: usual, required, databases, rateLimits, namespaces, objects, migrationsFolder } = await configured(name)
    const { token, secrets: defaults } = defaultSecrets()
    const values = {
      ...usual, ...Object.fromEntries(required.map((key) => [key, defaults[key]])),
      ...(typeof vars === 'function' ? vars(origins) : vars), ...secrets,
    }
    const modules = [['index.js', 'esModule'], ['index_bg.wasm', 'wasm']]
      .map(([file, kind]) => [file, kind, `build${n}/${file}`])
    const bindings = [
      ...databases.map((each) => wrapped(each, 'd1', database ? d1Of(n) : '"none"')),
      ...namespaces.map((each) => `(name = "${each}", kvNamespace = "none")`),
      ...objects.map(([each, className]) => `(name = "${each}", durableObjectNamespace = ${
        typeof storage === 'number' ? `(className = "${className}", serviceName = "worker${storage}")` : `"${className}"`})`),
      ...(rateLimit ? rateLimits.map(rateLimitOf) : []),
      ...(cloudflare ? stubBindings(n) : []),
      ...Object.keys(behind).map((each) => `(name = "${each}", service = "${each}${n}")`),
    ]
    if (cloudflare) services.push(stubOf(n, cloudflare))
    for (const [each, source] of Object.entries(behind)) services.push(await written(`${each}${n}`, source, []))
    const objectSettings = typeof storage === 'number' ? '' : objectsOf(n, objects, storage)
    const own = `${objectSettings}${tail ? ` streamingTails = ["tail${n}"],` : ''}`
    const variables = (changed) => Object.entries({ ...values, ...changed }).filter(([, value]) => value !== undefined).map(binding)
    workers.push((changed) => `(name = "worker${n}", worker = ${worker(modules, [...variables(changed), ...bindings], own)})`)
    if (caller) {
      services.push(await written(`caller${n}`, caller, [`(name = "FAULTS", service = "worker${n}")`]))
    }
    sockets.push(`(name = "http${n}", address = "127.0.0.1:${ports[n]}", http = (${LOCAL}), service = "${caller ? 'caller' : 'worker'}${n}")`)
    const started = { origin: origins[n], url: `${origins[n]}/mcp`, token }
    if (database) {
      const port = await freePort()
      sockets.push(`(name = "d1${n}", address = "127.0.0.1:${port}", http = (), service = ${d1Of(n)})`)
      started.sql = sqlAt(port)
      migrations.push(() => migrate(started.sql, migrationsFolder))
    }
    if (tail) {
      const port = await freePort()
      services.push(await written(`tail${n}`, TAIL, [], 'compatibilityFlags = ["experimental", "streaming_tail_worker"],'))
      sockets.push(`(name = "tail${n}", address = "127.0.0.1:${port}", http = (), service = "tail${n}")`)
      started.spans = async () => spansOf(await (await fetch(`http://127.0.0.1:${port}`)).json())
    }
    starting.push(started)
  }
  let entry
  let output = ''
  const logs = () => output
  const stop = async () => {
    await kill()
    await rm(folder, { recursive: true, force: true })
  }
  /** Ends the process at once. */
  const kill = async () => {
    const { child } = entry
    running.delete(entry)
    if (child.exitCode !== null || child.signalCode !== null) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  /** Starts a process on the same disk. `changed` overrides variables of all Workers. */
  const start = async (changed = {}) => {
    const programs = [...services, ...workers.map((service) => service(changed))]
    await writeFile(join(folder, 'config.capnp'), `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (services = [${programs.join(', ')}], sockets = [${sockets.join(', ')}], extensions = [${EXTENSIONS.join(', ')}]);
`)
    const child = spawn(join(ROOT, 'node_modules/.bin/workerd'), ['serve', '--experimental', '--verbose', 'config.capnp'],
      { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
    entry = { child, folder }
    running.add(entry)
    child.stdout.on('data', (text) => { output += text })
    child.stderr.on('data', (text) => { output += text })
    for (const { url } of starting) {
      let answer
      for (let tries = 0; !answer && tries < 1000 && child.exitCode === null && child.signalCode === null; tries++) {
        answer = await fetch(url).catch(() => undefined)
        if (!answer) await sleep(10)
      }
      if (!answer) {
        await stop()
        throw new Error(`workerd does not answer:\n${output}`)
      }
    }
  }
  await start()
  await Promise.all(migrations.map((migrate) => migrate()))
  return starting.map((each) => ({
    ...each, get pid() { return entry.child.pid }, logs, logged: (pattern) => logged(logs, pattern), kill, start, stop,
  }))
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

/** Builds and starts the knowledge base with a database. */
export const startApp = (options = {}) => startWorkerd({ name: 'app', database: true, ...options })
