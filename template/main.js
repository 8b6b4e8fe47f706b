// The entry module of the Worker. It exports the handlers of build/index.js as an object.
//
// build/index.js, which worker-build generates, exports a class behind proxies. The runtime would create an object of this class for each
// request, which takes 7 % of the CPU time of a small call.

import Generated from './build/index.js'

export * from './build/index.js'

function handler(name) {
  const handle = Generated.prototype[name]
  return (event, env, ctx) => {
    // After a panic, the constructor creates a new instance of the WebAssembly module.
    if (globalThis.__worker_init_state.criticalError) new Generated(ctx, env)
    return handle.call({ env, ctx }, event)
  }
}

const names = Object.getOwnPropertyNames(Generated.prototype).filter((name) => name !== 'constructor')

export default Object.fromEntries(names.map((name) => [name, handler(name)]))
