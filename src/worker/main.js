// Exports the handlers of the Worker as an object. worker-build generates a class behind proxies, which the runtime constructs for each
// request. That takes a tenth of the time of a small call.

import Generated from './module.js'

export * from './module.js'

function handler(name) {
  const handle = Generated.prototype[name]
  return (event, env, ctx) => {
    // After a break, the constructor creates a new module instance.
    if (globalThis.__worker_init_state.criticalError) new Generated(ctx, env)
    return handle.call({ env, ctx }, event)
  }
}

const names = Object.getOwnPropertyNames(Generated.prototype).filter((name) => name !== 'constructor')

export default Object.fromEntries(names.map((name) => [name, handler(name)]))
