// Runs a built Worker with the server of examples/node. With E2E_HOST, `startWorker` and `startWorkerd` do the same, so their tests run
// against this server. E2E_HOST is the command of the runtime, such as `node` or `deno run -A`.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'

import { ROOT, built, defaultSecrets, homeOf, logged } from './worker.mjs'
import { configured } from './workerd.mjs'

const [program, ...options] = (process.env.E2E_HOST ?? 'node').split(' ')
const SERVER = join(ROOT, 'examples/node/server.mjs')
const BINDINGS = join(ROOT, 'tests/e2e/node-bindings.mjs')

/** The running servers. When the test process ends, all of them end. */
const running = new Set()
process.on('exit', () => { for (const child of running) child.kill('SIGKILL') })

/** Starts the server with the arguments `args` and the variables `env`. `ended` is a promise of its exit code. */
export function spawnNode(args, env = {}) {
  const child = spawn(program, [...options, ...args], {
    env: { PATH: process.env.PATH, PORT: '0', ...env }, stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const ended = once(child, 'exit').then(([code]) => {
    running.delete(child)
    return code
  })
  let output = ''
  child.stdout.on('data', (text) => { output += text })
  child.stderr.on('data', (text) => { output += text })
  const logs = () => output
  return { child, ended, logs, logged: (pattern) => logged(logs, pattern) }
}

/** Waits until a server listens, and adds its URLs. */
export async function ready(server) {
  for (;;) {
    const origin = /Ready on (\S+)/.exec(server.logs())?.[1]
    if (origin) return { ...server, origin, url: `${origin}/mcp` }
    if (!running.has(server.child)) throw new Error(`the server has ended:\n${server.logs()}`)
    await sleep(10)
  }
}

/** Starts a Worker. `name`, `vars` and `secrets` are those of `startWorkerd`. The Worker has no bindings that work. */
export async function startNode({ name = 'faults', vars = {}, secrets = {} } = {}) {
  await built(name, false)
  const { vars: usual, required } = await configured(name)
  const { token, secrets: defaults } = defaultSecrets()
  const main = join(name === 'app' ? join(ROOT, 'app') : homeOf(name), 'build/index.js')
  const env = { ...usual, ...Object.fromEntries(required.map((key) => [key, defaults[key]])), ...vars, ...secrets }
  const server = await ready(spawnNode(['--import', BINDINGS, SERVER, main], env))
  const stop = () => {
    server.child.kill('SIGKILL')
    return server.ended
  }
  return { ...server, token, stop }
}
