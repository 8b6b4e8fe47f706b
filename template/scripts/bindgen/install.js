// Compiles the program of this folder, once for all servers on the machine: `node install.js` prints its path.

import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { copyFile, rename, rm } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { cargoBuild, say } from '../cargo.js'

const FILES = ['Cargo.toml', 'Cargo.lock', 'main.rs'].map((name) => fileURLToPath(new URL(name, import.meta.url)))

const NAME = process.platform === 'win32' ? 'bindgen.exe' : 'bindgen'

export const BINDGEN_VERSION = /^wasm-bindgen-cli-support = "=([\d.]+)"$/m.exec(readFileSync(FILES[0], 'utf8'))[1]

/** The folder of the program. It is another one if a file changes. */
function folderOf() {
  const digest = createHash('sha256')
  for (const file of FILES) digest.update(readFileSync(file))
  // The specification of this variable says that a relative folder is ignored.
  const { XDG_CACHE_HOME: given = '' } = process.env
  const cache = isAbsolute(given) ? given : join(homedir(), '.cache')
  return join(cache, 'edge-mcp/tools', `bindgen-${BINDGEN_VERSION}-${digest.digest('hex').slice(0, 8)}`)
}

/** Returns the path of the program. Compiles it if it is missing. A compilation that was interrupted goes on where it stopped. */
export async function bindgen() {
  const folder = folderOf()
  const program = join(folder, NAME)
  if (existsSync(program)) return program
  const begun = Date.now()
  const target = join(folder, 'target')
  const copy = `${program}.${process.pid}`
  try {
    // If another process compiles it too, cargo waits for the other one.
    await cargoBuild('bindgen', ['--release', '--locked', '--manifest-path', FILES[0], '--target-dir', target],
      { CARGO_BUILD_BUILD_DIR: target })
    await copyFile(join(target, 'release', NAME), copy)
    await rename(copy, program)
  } catch (error) {
    // The other process may have removed the files.
    if (!existsSync(program)) throw error
    return program
  }
  await rm(target, { recursive: true, force: true, maxRetries: 5 })
  say(`bindgen ${BINDGEN_VERSION}: compiled for all servers on this machine, in ${Math.round((Date.now() - begun) / 1000)} s`)
  return program
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(await bindgen())
