// Bundles the Worker of a peer into one JavaScript file and the WebAssembly modules that it imports, as wrangler does.

import { builtinModules } from 'node:module'
import { basename, join } from 'node:path'
import { build } from 'esbuild'

/**
 * @param {string} folder the folder of the peers
 * @param {string} entry the file name of the entry, without its extension
 * @returns {Promise<{ name: string, bytes: Uint8Array }[]>} the modules, the entry first
 */
export async function bundle(folder, entry) {
  const { outputFiles } = await build({
    absWorkingDir: folder,
    entryPoints: [join(folder, `${entry}.mjs`)],
    bundle: true,
    write: false,
    outdir: '/',
    format: 'esm',
    target: 'es2024',
    conditions: ['workerd', 'worker', 'browser'],
    mainFields: ['browser', 'module', 'main'],
    define: { 'process.env.NODE_ENV': '"production"', 'global.process.env.NODE_ENV': '"production"' },
    keepNames: true,
    logLevel: 'error',
    external: ['cloudflare:*'],
    alias: { 'unicorn-magic': './node_modules/unicorn-magic/node.js' },
    loader: { '.wasm': 'copy' },
    plugins: [nodeModules],
  })
  return outputFiles.map(({ path, contents }) => ({ name: basename(path), bytes: contents }))
    .sort((one, other) => one.name.endsWith('.wasm') - other.name.endsWith('.wasm'))
}

// The runtime provides Node's modules only for `import`, and only under names that begin with `node:`.
const nodeModules = {
  name: 'node-modules',
  setup({ onResolve, onLoad }) {
    const names = builtinModules.filter((name) => !name.startsWith('_'))
    onResolve({ filter: new RegExp(`^(node:)?(${names.join('|')})$`) }, ({ path, kind }) => {
      const module = path.startsWith('node:') ? path : `node:${path}`
      return kind === 'require-call' ? { path: module, namespace: 'required' } : { path: module, external: true }
    })
    onLoad({ filter: /.*/, namespace: 'required' }, ({ path }) =>
      ({ contents: `import whole from '${path}'; module.exports = whole` }))
  },
}
