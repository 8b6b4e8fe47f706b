// Starts the real servers for the tests of the MCP client: all servers in JavaScript in one process, and fastmcp in another.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { ROOT } from './worker.mjs'

const FOLDER = join(ROOT, 'benches/peers')
const PYTHON = join(ROOT, '.tools/fastmcp/bin/python')

/**
 * Starts the servers in JavaScript. benches/peers/serve.mjs contains their names.
 *
 * @returns {Promise<Peers>}
 *
 * @typedef {object} Peers
 * @property {string} origin http://127.0.0.1:PORT
 * @property {() => string} logs returns the output of the process until now
 * @property {() => Promise<void>} stop
 */
export function startPeers() {
  if (!existsSync(join(FOLDER, 'node_modules/.made-from-lock'))) {
    throw new Error('The servers in benches/peers are not installed. Run scripts/setup --client-peers, which needs the npm registry.')
  }
  return start(process.execPath, [join(FOLDER, 'serve.mjs')])
}

/** Starts fastmcp, with sessions at /sessions/mcp and without sessions at /stateless/mcp. */
export function startFastmcp() {
  if (!existsSync(PYTHON)) throw new Error('fastmcp is not installed. Run scripts/setup --client-peers, which needs PyPI.')
  return start(PYTHON, [join(ROOT, 'tests/e2e/fastmcp_peer.py')])
}

/** Starts a program that prints its origin. It ends when its standard input ends, also if this process is killed. */
async function start(program, args) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => { output += text })
  const ended = once(child, 'exit')
  const begun = Promise.race([once(createInterface(child.stdout), 'line'), ended.then(() => [undefined])])
  const [origin] = await begun
  if (!origin?.startsWith('http:')) throw new Error(`${args[0]} did not start:\n${output}`)
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return { origin, logs: () => output, stop }
}
