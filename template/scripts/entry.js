// The handlers and the Durable Objects of the Worker. build.js bundles this file with the JavaScript that wasm-bindgen generates.
//
// After a panic, a wasm module is broken and cannot run again. The next call starts a new instance of it.

// The functions of a panic are above those that caused it.
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
  const handler = (handle) => (event, env, ctx) => {
    startNewInstanceIfBroken(bindings)
    return handle(event, env, ctx)
  }
  const functions = Object.entries(bindings).filter(([name, value]) => !name.startsWith('__') && typeof value === 'function' && !isClass(value))
  return Object.fromEntries(functions.map(([name, handle]) => [name, handler(handle)]))
}

/** Each class of wasm-bindgen has a method `free`. */
const isClass = ({ prototype }) => prototype !== undefined && 'free' in prototype

/** Returns the class of a Durable Object. An object gets a new state in Rust if the wasm module has a new instance. */
export function durableObject(bindings, Class) {
  /** By object: its parameters, its state in Rust, and the number of the instance of the wasm module that has this state. */
  const objects = new WeakMap()

  function inRust(object) {
    startNewInstanceIfBroken(bindings)
    const entry = objects.get(object)
    if (entry.instance !== state().instanceId) {
      try {
        entry.inRust = new Class(...entry.parameters)
      } catch (error) {
        state().criticalError = true
        throw error
      }
      entry.instance = state().instanceId
    }
    return entry.inRust
  }

  class DurableObject {
    constructor(...parameters) {
      objects.set(this, { parameters })
      inRust(this)
    }
  }
  const names = Object.getOwnPropertyNames(Class.prototype).filter((name) => !['constructor', 'free', '__destroy_into_raw'].includes(name))
  for (const name of names) {
    DurableObject.prototype[name] = async function (...parameters) {
      try {
        return await inRust(this)[name](...parameters)
      } catch (error) {
        noteBreak(error)
        throw error
      }
    }
  }
  return DurableObject
}
