// Runs tests/faults directly in workerd, for tests that send thousands of requests or megabytes. `wrangler dev` needs 10 ms of CPU time to
// forward a request, and it detects late that a client has disconnected.

import { execFile, spawn } from 'node:child_process'
import { rmSync } from 'node:fs'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { ROOT, logged } from './worker.mjs'

const CALLER = `(
  modules = [(name = "caller.js", esModule = embed "caller.js")],
  compatibilityDate = "2026-11-01",
  bindings = [(name = "FAULTS", service = "faults")],
)`
const FAULTS = `(
  modules = [
    (name = "main.js", esModule = embed "build/main.js"),
    (name = "index.js", esModule = embed "build/index.js"),
    (name = "index_bg.wasm", wasm = embed "build/index_bg.wasm"),
  ],
  compatibilityDate = "2026-11-01",
)`

const configuration = (port, hasCaller) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [${hasCaller ? '(name = "caller", worker = .caller), ' : ''}(name = "faults", worker = .faults)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "${hasCaller ? 'caller' : 'faults'}")],
);
const faults :Workerd.Worker = ${FAULTS};
${hasCaller ? `const caller :Workerd.Worker = ${CALLER};` : ''}`

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
 * Builds and starts tests/faults.
 *
 * @param {string} [caller] the JavaScript of a Worker that receives all requests; its binding `FAULTS` is the server
 * @returns {Promise<{ url: string, logs: () => string, logged: (pattern: RegExp) => Promise<string>, stop: () => Promise<void> }>} the
 *   same members as a `Worker` of worker.mjs
 */
export async function startWorkerd(caller) {
  await promisify(execFile)(join(ROOT, 'scripts/build'), [join(ROOT, 'tests/faults')], { maxBuffer: 1e8 })
  const folder = await mkdtemp(join(tmpdir(), 'edge-mcp-'))
  const port = await freePort()
  if (caller) await writeFile(join(folder, 'caller.js'), caller)
  await writeFile(join(folder, 'config.capnp'), configuration(port, caller !== undefined))
  await symlink(join(ROOT, 'tests/faults/build'), join(folder, 'build'))
  const child = spawn(join(ROOT, 'node_modules/.bin/workerd'), ['serve', '--verbose', 'config.capnp'], { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] })
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
  const worker = { url: `http://127.0.0.1:${port}/mcp`, logs, logged: (pattern) => logged(logs, pattern), stop }
  for (let tries = 0; tries < 200 && child.exitCode === null; tries++) {
    const answer = await fetch(worker.url).catch(() => undefined)
    if (answer) return worker
    await sleep(50)
  }
  await stop()
  throw new Error(`workerd does not answer:\n${output}`)
}
