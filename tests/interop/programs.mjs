// Runs the programs of others. Each has its own process group, which ends with the run.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

/** The last bytes of the output of a program that a message shows. */
const SHOWN = 2000

const groups = new Set()
const end = (group) => {
  groups.delete(group)
  try {
    process.kill(-group, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}
process.on('exit', () => groups.forEach(end))
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(signal, () => process.exit(1))

function start([program, ...args], { cwd, env }) {
  const child = spawn(program, args, { cwd, env: { ...process.env, ...env }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const failed = new Promise((_, reject) => child.once('error', reject))
  if (child.pid) groups.add(child.pid)
  const output = { stdout: '', stderr: '' }
  for (const stream of ['stdout', 'stderr']) child[stream].on('data', (text) => { output[stream] += text })
  const ended = Promise.race([once(child, 'exit').then(([code]) => code), failed])
  ended.catch(() => {})
  const stop = async () => {
    if (child.pid) end(child.pid)
    await ended.catch(() => {})
  }
  return { output, ended, stop }
}

const accepts = (port) => new Promise((resolve) => {
  const socket = connect({ port, host: '127.0.0.1' }, () => { socket.destroy(); resolve(true) }).once('error', () => resolve(false))
})

/** Starts a server, and waits until its port accepts connections. */
export async function startServer(command, port, { seconds = 60, ...options } = {}) {
  const { output, ended, stop } = start(command, options)
  let hasEnded = false
  ended.finally(() => { hasEnded = true }).catch(() => {})
  for (const deadline = Date.now() + 1000 * seconds; !await accepts(port);) {
    if (hasEnded || Date.now() > deadline) {
      await stop()
      throw new Error(`the server ${hasEnded ? 'ended' : `did not listen within ${seconds} s`}: ${(output.stdout + output.stderr).slice(-SHOWN)}`)
    }
    await sleep(100)
  }
  // The first process of the group can end before the one that has the port.
  const stopAll = async () => {
    await stop()
    for (let tries = 0; tries < 50 && await accepts(port); tries += 1) await sleep(100)
  }
  return { stop: stopAll, logs: () => output.stdout + output.stderr }
}

/** Runs a program to its end, and returns the JSON in the last line of its output. */
export async function resultOf(command, { seconds = 120, ...options } = {}) {
  const { output, ended, stop } = start(command, options)
  const timer = setTimeout(stop, 1000 * seconds)
  const code = await ended
  clearTimeout(timer)
  await stop()
  const line = output.stdout.trimEnd().split('\n').at(-1)
  if (code === 0) return JSON.parse(line)
  if (code === null) throw new Error(`the client did not end within ${seconds} s: ${output.stderr.slice(-SHOWN)}`)
  throw new Error(output.stderr.slice(-SHOWN))
}
