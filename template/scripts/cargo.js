// Runs cargo, and shows how far it is if it takes long.

import { spawn } from 'node:child_process'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'

export const TARGET = 'wasm32-unknown-unknown'

/** The least time in milliseconds before the first message about the progress, and between two of them, on a terminal and elsewhere. */
const BETWEEN = process.stderr.isTTY ? 500 : 10_000

/** A message of cargo that only says what it does. */
const STATUS = /^ *(Adding|Blocking|Compiling|Downloaded|Downloading|Finished|Locking|Running|Updating) /

/** The progress of the running commands: a name, and the numbers of compiled crates and of all. */
const running = new Set()
let shown = Date.now()

export const say = (message) => process.stderr.write(`${process.stderr.isTTY ? '\r\x1b[K' : ''}${message}\n`)

function showProgress() {
  if (Date.now() - shown < BETWEEN) return
  shown = Date.now()
  const parts = [...running].filter(({ done }) => done > 0).map(({ name, begun, done, all }) => {
    const left = Math.ceil(((shown - begun) / done) * (all - done) / 1000)
    return `${name}: ${done} of ${all} crates compiled, about ${left} s left`
  })
  if (parts.length > 0) process.stderr.write(process.stderr.isTTY ? `\r\x1b[K${parts.join('; ')}` : `${parts.join('; ')}\n`)
}

/**
 * Runs `cargo build` with the arguments and additional environment variables, and returns its messages about compiled crates. Warnings and
 * errors go to the standard error. `name` is the name of the program in messages about the progress.
 */
export async function cargoBuild(name, args, env = {}) {
  const progress = { name, begun: Date.now(), done: 0, all: 0 }
  running.add(progress)
  const child = spawn('cargo', ['build', '--message-format=json-render-diagnostics', ...args], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      ...env,
      // rustup installs cargo here, and PATH may lack the folder where no shell has read its profile.
      PATH: [process.env.PATH, join(homedir(), '.cargo/bin')].join(delimiter),
      CARGO_TERM_PROGRESS_WHEN: 'always',
      CARGO_TERM_PROGRESS_WIDTH: '80',
      // wasm-bindgen then uses the promises of js-sys, as the crate `worker` does.
      WASM_BINDGEN_USE_JS_SYS: '1',
    },
  })
  const crates = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    const message = JSON.parse(line)
    if (message.reason === 'compiler-artifact') crates.push(message)
  })
  let errors = ''
  // cargo ends the line of a progress bar with a carriage return.
  createInterface({ input: child.stderr, crlfDelay: Infinity }).on('line', (line) => {
    const count = /^\s*Building \[.*\] (\d+)\/(\d+)/.exec(line)
    if (count) {
      [progress.done, progress.all] = count.slice(1).map(Number)
      showProgress()
    } else if (!STATUS.test(line)) {
      errors += `${line}\n`
      say(line)
    }
  })
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  }).catch((error) => {
    throw error.code === 'ENOENT' ? new Error('cargo is missing: install Rust (https://rustup.rs)') : error
  })
  running.delete(progress)
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K')
  if (code === 0) return crates
  if (/can't find crate for `(core|std)`/.test(errors)) {
    throw new Error(`the compiler has no standard library for ${TARGET}: run \`rustup target add ${TARGET}\``)
  }
  throw new Error(`cargo could not compile ${name}`, { cause: errors })
}
