// Loads a wasm module with its bindings into Node.js, for the benchmarks without a server.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'

/** The import of the compiled module, which Node.js does not support, and its replacement. */
const IMPORT = /^import source (\w+) from "\.\/index_bg\.wasm";$/m
const READ = `import { readFileSync } from 'node:fs'
const $1 = new WebAssembly.Module(readFileSync(new URL('index_bg.wasm', import.meta.url)));`

/** Returns the exported functions of the module whose bindings are in the folder, and its memory as `memory`. */
export async function load(folder) {
  const bindings = await readFile(join(folder, 'index.js'), 'utf8')
  if (!IMPORT.test(bindings)) throw new Error(`${folder}/index.js has no import of its wasm module`)
  const file = join(folder, 'index.mjs')
  await writeFile(file, `${bindings.replace(IMPORT, READ)}\nexport const memory = wasm.memory\n`)
  return import(pathToFileURL(file).href)
}
