// Calls that the platform cancels because their clients have gone away. workerd does so for a call from another Worker; over HTTP, it
// does not notice that the client of a pending JSON answer has gone.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'

import { legacy } from './ask.mjs'
import { ROOT } from './worker.mjs'

/** A Worker that passes requests on, and cancels those that say when, in milliseconds. */
const CALLER = `export default {
  async fetch(request, env) {
    const time = request.headers.get('cancel-after')
    if (!time) return env.FAULTS.fetch(request)
    return env.FAULTS.fetch(request, { signal: AbortSignal.timeout(Number(time)) }).catch(() => new Response('{"cancelled":true}'))
  },
}`

const config = (port) => `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "caller", worker = .caller), (name = "faults", worker = .faults)],
  sockets = [(name = "http", address = "127.0.0.1:${port}", http = (), service = "caller")],
);
const caller :Workerd.Worker = (
  modules = [(name = "caller.js", esModule = embed "caller.js")],
  compatibilityDate = "2026-11-01",
  bindings = [(name = "FAULTS", service = "faults")],
);
const faults :Workerd.Worker = (
  modules = [
    (name = "index.js", esModule = embed "build/index.js"),
    (name = "module.js", esModule = embed "build/module.js"),
    (name = "index_bg.wasm", wasm = embed "build/index_bg.wasm"),
  ],
  compatibilityDate = "2026-11-01",
);`

const freePort = () => new Promise((resolve, reject) => {
  const server = createServer().once('error', reject).listen(0, '127.0.0.1', () => {
    const { port } = server.address()
    server.close(() => resolve(port))
  })
})

/** tests/faults in workerd, behind a Worker that cancels its requests. */
async function start(t) {
  await promisify(execFile)(join(ROOT, 'scripts/build'), ['faults'], { maxBuffer: 1e8 })
  const folder = await mkdtemp(join(tmpdir(), 'edge-mcp-'))
  const port = await freePort()
  await writeFile(join(folder, 'caller.js'), CALLER)
  await writeFile(join(folder, 'config.capnp'), config(port))
  await symlink(join(ROOT, 'tests/faults/build'), join(folder, 'build'))
  const child = spawn(join(ROOT, 'node_modules/.bin/workerd'), ['serve', 'config.capnp'], { cwd: folder, stdio: 'ignore' })
  t.after(async () => {
    child.kill('SIGKILL')
    await rm(folder, { recursive: true, force: true })
  })
  const worker = { url: `http://127.0.0.1:${port}/mcp` }
  for (let tries = 0; tries < 200; tries++) {
    const answer = await fetch(worker.url).catch(() => undefined)
    if (answer) return worker
    await sleep(50)
  }
  throw new Error('workerd does not answer')
}

test('calls that the platform cancels leave nothing behind', async (t) => {
  const worker = await start(t)
  const live = async () => (await legacy(worker, 'tools/call', { name: 'memory' })).body.result.structuredContent.live
  const cancelled = async () => {
    const response = await fetch(worker.url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', 'MCP-Protocol-Version': '2025-11-25', 'cancel-after': '200' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hold' } }),
    })
    assert.deepEqual(await response.json(), { cancelled: true })
  }
  await Promise.all(Array.from({ length: 10 }, cancelled))
  // They are worked on until the deadline of the tool, 3 s.
  await sleep(3500)
  const before = await live()
  await Promise.all(Array.from({ length: 100 }, cancelled))
  assert.ok(await live() > before * 1.5, 'calls that wait are seen')
  let end
  for (const until = Date.now() + 5000; Date.now() < until; await sleep(50)) {
    end = await live()
    if (end < before * 1.1) break
  }
  assert.ok(end < before * 1.1, `${before} → ${end} bytes are live`)
})
