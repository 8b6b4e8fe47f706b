// Runs a Worker in a separate workerd process on one core.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

const running = new Set()
process.on('exit', () => { for (const child of running) child.kill('SIGKILL') })

/**
 * @param {object} worker
 * @param {string} worker.workerd the path of the program
 * @param {string} worker.folder the folder for its configuration, modules and log
 * @param {{ name: string, bytes: Uint8Array }[]} worker.modules its modules, the entry first
 * @param {Record<string, string>} worker.bindings
 * @param {number} worker.core the core on which the process runs
 * @param {string[]} [worker.flags] flags for V8
 * @returns {Promise<Process>} resolves when its socket listens
 *
 * @typedef {object} Process
 * @property {number} pid
 * @property {string} url
 * @property {number} spawned the start time, from performance.now()
 * @property {() => Promise<string>} logs returns the last 4 000 characters of its output
 * @property {() => Promise<void>} stop
 */
export async function start({ workerd, folder, modules, bindings, core, flags = [] }) {
  await mkdir(folder, { recursive: true })
  for (const { name, bytes } of modules) await writeFile(join(folder, name), bytes)
  const config = join(folder, 'config.capnp')
  await writeFile(config, configuration(modules, bindings, flags))

  // The output goes to a file. A process that reads it from a pipe would compete for the two cores.
  const log = join(folder, 'log')
  const printed = await open(log, 'w')
  const spawned = performance.now()
  // workerd reports its port on file descriptor 3.
  const child = spawn('taskset', ['-c', String(core), workerd, 'serve', '--experimental', '--control-fd=3', config],
    { stdio: ['ignore', printed.fd, printed.fd, 'pipe'] })
  running.add(child)
  const logs = async () => (await readFile(log, 'utf8')).slice(-4000)
  const ended = once(child, 'exit').then(() => running.delete(child))
  await printed.close()
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
  }
  const port = await Promise.race([listening(child.stdio[3]), ended.then(() => undefined)])
  if (port === undefined) throw new Error(`workerd ended:\n${await logs()}`)
  return { pid: child.pid, url: `http://127.0.0.1:${port}/mcp`, spawned, logs, stop }
}

async function listening(stream) {
  let text = ''
  for await (const chunk of stream) {
    text += chunk
    const event = text.split('\n').slice(0, -1).map((line) => JSON.parse(line)).find(({ event }) => event === 'listen')
    if (event) {
      stream.on('data', () => {})
      return event.port
    }
  }
}

const kinds = { js: 'esModule', mjs: 'esModule', wasm: 'wasm' }

/** Returns the text of a configuration with one Worker and one socket. The Worker can reach servers on this machine. */
export function configuration(modules, bindings, flags = []) {
  const text = JSON.stringify
  const module = ({ name }) => `(name = ${text(name)}, ${kinds[name.split('.').at(-1)]} = embed ${text(name)})`
  const binding = ([name, value]) => `(name = ${text(name)}, text = ${text(value)})`
  return `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker), (name = "internet", network = (allow = ["local"]))],
  v8Flags = [${flags.map((flag) => text(flag)).join(', ')}],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  compatibilityDate = "2026-11-01",
  modules = [${modules.map(module).join(', ')}],
  bindings = [${Object.entries(bindings).map(binding).join(', ')}],
);
`
}
