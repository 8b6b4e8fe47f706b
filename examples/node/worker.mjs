// Loads a built Worker, which answers a standard `Request` with a standard `Response`.

import { registerHooks } from 'node:module'

import { env } from './cloudflare-workers.mjs'

const CLOUDFLARE = new URL('cloudflare-workers.mjs', import.meta.url).href

// In Workers, a file of WebAssembly is imported as a compiled module. In Node.js, it is imported as an instance.
const COMPILED = `import { readFileSync } from 'node:fs'
export default new WebAssembly.Module(readFileSync(new URL(import.meta.url)))`

registerHooks({
  resolve: (name, context, next) => (name === 'cloudflare:workers' ? { url: CLOUDFLARE, shortCircuit: true } : next(name, context)),
  load: (url, context, next) =>
    (url.endsWith('.wasm') ? { format: 'module', source: COMPILED, shortCircuit: true } : next(url, context)),
})

// A panic in a timer is an error that no promise reports. Workers log such an error and continue. The generated JavaScript adds a listener,
// with which the next request starts a new instance of the wasm module.
process.on('uncaughtException', (error) => console.error('Uncaught', error))
globalThis.addEventListener ??= (_, listener) => process.on('uncaughtException', (error) => listener({ error }))

/**
 * Loads the Worker whose entry module has the URL `main`. `fetch` answers a request. `idle` waits for the work that goes on after the
 * answers.
 */
export async function load(main) {
  const { default: worker } = await import(main)
  const pending = new Set()
  const context = {
    passThroughOnException() {},
    waitUntil(work) {
      const ended = Promise.resolve(work).catch((error) => console.error('Uncaught', error)).finally(() => pending.delete(ended))
      pending.add(ended)
    },
  }
  return {
    fetch: (request) => worker.fetch(request, env, context),
    async idle() {
      while (pending.size > 0) await Promise.all(pending)
    },
  }
}
