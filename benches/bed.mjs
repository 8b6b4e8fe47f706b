// Where everything is measured: one core for the subject, one for the load, and how a subject is put there.

import { randomBytes } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { bundle } from './bundle.mjs'
import { cores } from './proc.mjs'
import { start } from './workerd.mjs'

/**
 * @typedef {object} Bed
 * @property {string} root the repository's folder
 * @property {string} folder for what the runtime reads
 * @property {{ subject: number, load: number }} core
 * @property {(line: string) => void} say where the run has got to
 */

/** @returns {Promise<Bed>} */
export async function bed(root, say) {
  const [subject, load] = await cores()
  if (load === undefined) throw new Error('two cores are needed: one for the subject, one for the load')
  return { root, folder: join(root, 'target/bench'), core: { subject, load }, say }
}

/**
 * What a subject is deployed as.
 *
 * @param {Bed} bed
 * @param {import('./subjects.mjs').Subject} subject
 * @returns {Promise<{ name: string, bytes: Uint8Array }[]>}
 */
export async function modulesOf({ root }, { peer, crate, build }) {
  if (peer !== undefined) return bundle(join(root, 'benches/peers'), peer)
  const folder = build ?? join(root, crate, 'build')
  const built = await readdir(folder)
  // The entry first. What is not a server of this library has no main.js.
  const names = ['main.js', 'index.js', 'index_bg.wasm'].filter((name) => built.includes(name))
  if (!names.includes('index.js')) throw new Error(`${folder}: there is no index.js, so no built module`)
  return Promise.all(names.map(async (name) => ({ name, bytes: await readFile(join(folder, name)) })))
}

/**
 * Starts a subject with so many tools, and flags for V8.
 *
 * @returns {Promise<import('./workerd.mjs').Process & { token?: string }>} `token` where it checks one
 */
export async function put({ root, folder, core }, subject, tools, flags) {
  const token = subject.token ? randomBytes(32).toString('base64url') : undefined
  const access = token === undefined ? { OPEN: 'yes' } : {
    MCP_STATIC_TOKENS: JSON.stringify([{ token, subject: 'bench', scopes: [] }]),
  }
  const process = await start({
    workerd: join(root, 'node_modules/.bin/workerd'),
    folder: join(folder, `${subject.name} ${tools}`),
    modules: subject.modules,
    bindings: { ...access, ...subject.bindings, TOOLS: String(tools) },
    core: core.subject,
    flags,
  })
  return { ...process, token }
}
