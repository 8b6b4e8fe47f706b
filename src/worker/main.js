// What a Worker exports: its handlers, as an object. worker-build makes a class of them, with proxies before it, which the runtime has
// to construct for each request: that takes a tenth of the time of a small call.

import Generated from './module.js'

export * from './module.js'

function handler(name) {
  const handle = Generated.prototype[name]
  return (event, env, ctx) => {
    // After a break, the constructor makes the module anew.
    if (globalThis.__worker_init_state.criticalError) new Generated(ctx, env)
    return handle.call({ env, ctx }, event)
  }
}

const names = Object.getOwnPropertyNames(Generated.prototype).filter((name) => name !== 'constructor')

export default Object.fromEntries(names.map((name) => [name, handler(name)]))
