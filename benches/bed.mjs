// The test bed: one core for the subject and one core for the load. It deploys and starts subjects.

import { randomBytes } from 'node:crypto'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { bundle } from './bundle.mjs'
import { cores } from './proc.mjs'
import { start } from './workerd.mjs'

/**
 * @typedef {object} Bed
 * @property {string} root the folder of the repository
 * @property {string} folder the folder for the files of the runtime
 * @property {{ subject: number, load: number }} core
 * @property {(line: string) => void} say reports the progress of the run
 */

/** @returns {Promise<Bed>} */
export async function bed(root, say) {
  const [subject, load] = await cores()
  if (load === undefined) throw new Error('the benchmark needs two cores: one for the subject, one for the load')
  return { root, folder: join(root, 'target/bench'), core: { subject, load }, say }
}

/**
 * Returns the modules of a subject as they are deployed, the entry first.
 *
 * @param {Bed} bed
 * @param {import('./subjects.mjs').Subject} subject
 * @returns {Promise<{ name: string, bytes: Uint8Array }[]>}
 */
export async function modulesOf({ root }, { peer, crate, build }) {
  if (peer !== undefined) return bundle(join(root, 'benches/peers'), peer)
  const folder = build ?? join(root, crate, 'build')
  const built = await readdir(folder)
  const names = ['index.js', 'index_bg.wasm']
  if (!built.includes('index.js')) throw new Error(`${folder} contains no index.js: build the subject first`)
  return Promise.all(names.map(async (name) => ({ name, bytes: await readFile(join(folder, name)) })))
}

/**
 * Starts a subject.
 *
 * @param {Bed} bed
 * @param {import('./subjects.mjs').Subject} subject with its `modules`
 * @param {number} tools the number of its tools
 * @param {string[]} [flags] flags for V8
 * @returns {Promise<import('./workerd.mjs').Process & { token?: string }>} with a `token` if the subject checks tokens
 */
export async function startSubject({ root, folder, core }, subject, tools, flags) {
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
