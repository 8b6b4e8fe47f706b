// Builds the Worker in the current folder. The output is build/index.js and build/index_bg.wasm. wrangler runs this file.
//
//   node scripts/build.js [quick | release]
//
// `wrangler dev` gets a quick build, unless the argument says otherwise. `wrangler deploy` and a call without wrangler get a release build.

import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync } from 'node:fs'
import { mkdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

import { bindgen, BINDGEN_VERSION } from './bindgen/install.js'
import { cargoBuild, say, TARGET } from './cargo.js'

const run = promisify(execFile)

/**
 * The arguments of wasm-opt. The engine optimizes whole functions, so a function that is rarely called is not inlined into a hot one that is
 * its only caller. The first KB of memory is the end of the stack, which no address in use is in: constants can then be a part of loads and
 * stores. The names of functions are a sixth of the module. They are removed after the functions are sorted by name: similar functions are
 * then neighbors, so gzip compresses them better.
 */
const WASM_OPT = [
  // The features of WebAssembly that the compiler uses.
  ...['mutable-globals', 'sign-ext', 'nontrapping-float-to-int', 'bulk-memory', 'multivalue', 'reference-types', 'exception-handling']
    .map((feature) => `--enable-${feature}`),
  '-O', '--one-caller-inline-max-function-size=100', '--low-memory-unused', '--reorder-functions-by-name', '--strip-debug',
]

/** Compiles the crate in the current folder, or the packages of the arguments. Returns the paths of their wasm modules. */
export async function compile(profile, args = []) {
  const crates = await cargoBuild('the server', ['--lib', '--target', TARGET, '--profile', profile, ...args])
  const locked = crates.map(({ package_id: id }) => /[#/]wasm-bindgen@([\d.]+)$/.exec(id)?.[1]).find(Boolean)
  if (locked !== BINDGEN_VERSION) {
    throw new Error(`Cargo.lock has wasm-bindgen ${locked}, but scripts/bindgen/Cargo.toml has ${BINDGEN_VERSION}: ` +
      `run \`cargo update wasm-bindgen --precise ${BINDGEN_VERSION}\`, or change scripts/bindgen/Cargo.toml and run \`cargo update\` in scripts/bindgen`)
  }
  const modules = crates.flatMap(({ filenames }) => filenames).filter((file) => file.endsWith('.wasm'))
  if (modules.length === 0) throw new Error('the crate is not a library with crate-type = ["cdylib"]: add this line to [lib] in Cargo.toml')
  return modules
}

/** Returns a digest of everything that determines the output, other than the versions of the tools. */
function digestOf(profile, module) {
  const digest = createHash('sha256').update(profile)
  for (const file of [module, fileURLToPath(import.meta.url), new URL('entry.js', import.meta.url)]) digest.update(readFileSync(file))
  return digest.digest('hex')
}

/** Returns the source of the entry: the handlers as its default export, and each class as a named export. */
async function entryOf(folder) {
  const bindings = await readFile(join(folder, 'index.js'), 'utf8')
  const classes = [...bindings.matchAll(/^export class (\w+)/gm)].map(([, name]) => name)
  return [
    `import * as bindings from './index.js'`,
    `import { durableObject, handlers } from ${JSON.stringify(fileURLToPath(new URL('entry.js', import.meta.url)))}`,
    `export default handlers(bindings)`,
    ...classes.map((name) => `export const ${name} = durableObject(bindings, bindings.${name})`),
  ].join('\n')
}

/** Bundles the entry, the bindings and their snippets into one file. */
async function bundle(folder, output) {
  const { build } = await import('esbuild')
  await build({
    stdin: { contents: await entryOf(folder), resolveDir: folder },
    outfile: output,
    bundle: true,
    minify: true,
    format: 'esm',
    external: ['./index_bg.wasm', 'cloudflare:*'],
    logLevel: 'warning',
  })
}

/** Makes the wasm module smaller and faster. */
async function optimize(module) {
  const program = fileURLToPath(new URL('bin/wasm-opt', import.meta.resolve('binaryen')))
  await run(process.execPath, [program, ...WASM_OPT, module, '-o', module])
}

/** Writes the files of a Worker to the folder `output`, unless its last build was made from the same files. */
export async function link(module, output, profile) {
  const digest = digestOf(profile, module)
  const stamp = join(output, '.made-from')
  if (existsSync(stamp) && await readFile(stamp, 'utf8') === digest && existsSync(join(output, 'index.js'))) return false
  const work = join(output, 'new')
  await rm(work, { recursive: true, force: true })
  await mkdir(work, { recursive: true })
  await run(await bindgen(), [module, work])
  // esbuild and the engines do not know this syntax yet.
  const bindings = join(work, 'index.js')
  await writeFile(bindings, (await readFile(bindings, 'utf8')).replace('import source ', 'import '))
  await bundle(work, join(work, 'bundle.js'))
  if (profile === 'release') await optimize(join(work, 'index_bg.wasm'))
  await rm(stamp, { force: true })
  await rename(join(work, 'bundle.js'), join(output, 'index.js'))
  await rename(join(work, 'index_bg.wasm'), join(output, 'index_bg.wasm'))
  // Node.js reads it (docs/hosts.md of edge-mcp).
  await writeFile(join(output, 'package.json'), '{"type":"module"}\n')
  await writeFile(stamp, digest)
  await rm(work, { recursive: true })
  return true
}

/** Builds the Worker in the current folder. */
async function build(profile) {
  const begun = Date.now()
  const [[module]] = await Promise.all([compile(profile), bindgen()])
  if (await link(module, resolve('build'), profile)) say(`built in ${((Date.now() - begun) / 1000).toFixed(1)} s`)
}

/** Writes a Worker that answers each request with the error. Otherwise `wrangler dev` would let requests wait until the next build. */
async function writeFailure({ message, cause = '' }) {
  const error = { code: -32603, message: `The build failed: ${message}\n${cause}` }
  const body = JSON.stringify(JSON.stringify({ jsonrpc: '2.0', error }))
  const config = existsSync('wrangler.toml') ? await readFile('wrangler.toml', 'utf8') : ''
  const classes = [...config.matchAll(/^class_name = "(\w+)"$/gm)].map(([, name]) => `export class ${name} {}`)
  const handler = `export default { fetch: () => new Response(${body}, { status: 503, headers: { 'content-type': 'application/json' } }) }`
  await mkdir('build', { recursive: true })
  await rm('build/.made-from', { force: true })
  await writeFile('build/index.js', [handler, ...classes].join('\n'))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const isDev = process.env.WRANGLER_COMMAND === 'dev'
  const [profile = isDev ? 'quick' : 'release'] = process.argv.slice(2)
  await build(profile).catch(async (error) => {
    say(`build: ${error.message}`)
    if (isDev) await writeFailure(error)
    else process.exitCode = 1
  })
}
