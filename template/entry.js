// The handlers and the Durable Objects of the Worker. build.js bundles this file with the JavaScript that wasm-bindgen generates.
//
// After a panic, a wasm module is broken and cannot run again. The next call starts a new instance of it.

Error.stackTraceLimit = 100

/** The state that the crate `worker` shares with JavaScript: whether the wasm module is broken, and the number of its instance. */
const state = () => globalThis.__worker_init_state

/** Records that the wasm module is broken, if the error is one of the runtime of WebAssembly. */
function noteBreak(error) {
  if (!(error instanceof WebAssembly.RuntimeError)) return
  console.error('Critical', error)
  state().criticalError = true
}

function startNewInstanceIfBroken(bindings) {
  if (!state().criticalError) return
  bindings.__wbg_reset_state()
  state().criticalError = false
}

/** Returns the object of all handlers: the exported functions, such as `fetch`. */
export function handlers(bindings) {
  const handler = (name, handle) => function (event, env, ctx) {
    startNewInstanceIfBroken(bindings)
    return handle.call(this, event, env, ctx)
  }
  const functions = Object.entries(bindings).filter(([name, value]) => !name.startsWith('__') && typeof value === 'function' && !isClass(value))
  return Object.fromEntries(functions.map(([name, handle]) => [name, handler(name, handle)]))
}

/** Each class of wasm-bindgen has a method `free`. */
const isClass = ({ prototype }) => prototype !== undefined && 'free' in prototype

/** Returns the class of a Durable Object. An object gets a new state in Rust if the wasm module has a new instance. */
export function durableObject(bindings, Class) {
  class Restarting {
    #parameters
    #object
    #instance

    constructor(...parameters) {
      this.#parameters = parameters
      this.current()
    }

    current() {
      startNewInstanceIfBroken(bindings)
      if (this.#instance !== state().instanceId) {
        try {
          this.#object = new Class(...this.#parameters)
        } catch (error) {
          state().criticalError = true
          throw error
        }
        this.#instance = state().instanceId
      }
      return this.#object
    }
  }
  const names = Object.getOwnPropertyNames(Class.prototype).filter((name) => !['constructor', 'free', '__destroy_into_raw'].includes(name))
  for (const name of names) {
    Restarting.prototype[name] = async function (...parameters) {
      try {
        return await this.current()[name](...parameters)
      } catch (error) {
        noteBreak(error)
        throw error
      }
    }
  }
  return Restarting
}
