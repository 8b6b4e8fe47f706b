// The objects of durable tasks: their messages, their alarms and their storage. A Durable Object gives each task its own object.

import { newCall, onBreak } from './entry.js'

/** The header with the name of the object. An object does not know its own name. */
const NAME = 'x-object-name'
const NAME_KEY = 'name'
/** The row that tells `ring` in src/tasks/attempt.rs that the last attempt does not count as a failure. */
const INTERRUPTED_KEY = 'interrupted'
const TRUE = new TextEncoder().encode('true')

/** The row with the number of alarms in a row that failed. */
const FAILURES_KEY = 'failed-alarms'
/** The first pause after an alarm that failed, which doubles each time, and the longest one, in milliseconds. */
const FIRST_PAUSE = 2000
const LONGEST_PAUSE = 3_600_000

/** The promises of the storage that a call has to wait for, by the number of the call. */
const writes = new Map()

/** Sends a message to an object, and returns its answer. All messages can be repeated: a message names the task that it changes. */
export async function send(namespace, name, message) {
  const attempt = () => namespace.get(namespace.idFromName(name))
    .fetch('https://task/', { method: 'POST', headers: { [NAME]: name }, body: message })
  // A restart of the object, or of its wasm module, interrupts its messages.
  let response = await attempt().catch(attempt)
  if (response.status === 503) response = await attempt()
  const text = await response.text()
  if (response.ok) return text
  throw new Error(text)
}

/** Answers a message to the object of `ctx`, or its alarm if there is no request. `work` is a function of the wasm module. */
export const receive = (ctx, env, request, work) => (request ? answer(ctx, env, request, work) : ring(ctx, env, work))

async function answer(ctx, env, request, work) {
  const name = request.headers.get(NAME)
  try {
    const text = await request.text()
    return new Response(await guarded(ctx, (call) => work(ctx, env, name, text, call)))
  } catch (error) {
    return new Response(String(error), { status: error === INTERRUPTED ? 503 : 500 })
  }
}

/**
 * Answers the alarm. After six failures, the runtime would forget the alarm, and the task would never end. So this function fails only if
 * the storage cannot set the next alarm.
 */
async function ring(ctx, env, work) {
  const { kv } = ctx.storage
  try {
    await guarded(ctx, (call) => work(ctx, env, kv.get(NAME_KEY) ?? '', call))
    if (kv.get(FAILURES_KEY) !== undefined) kv.delete(FAILURES_KEY)
  } catch (error) {
    if (error === INTERRUPTED) {
      kv.put(INTERRUPTED_KEY, TRUE)
      return ctx.storage.setAlarm(Date.now() + 1000)
    }
    console.error('Critical', error)
    const failures = (kv.get(FAILURES_KEY) ?? 0) + 1
    kv.put(FAILURES_KEY, failures)
    await ctx.storage.setAlarm(Date.now() + Math.min(FIRST_PAUSE * 2 ** (failures - 1), LONGEST_PAUSE))
  }
}

/** The error of work that did not break the wasm module, but cannot continue. */
const INTERRUPTED = new Error('another call has crashed the server')

/**
 * Runs `work`, and waits for its writes. If the wasm module breaks meanwhile, the promise of `work` stays pending, and so would every later
 * alarm. So this function then throws `INTERRUPTED`. If `work` itself breaks the wasm module, its object is restarted without the writes that
 * are not finished, and the runtime repeats the alarm.
 */
async function guarded(ctx, work) {
  const call = newCall()
  writes.set(call, [])
  let brokenBy
  let forget
  const broken = new Promise((resolve) => {
    forget = onBreak((number) => {
      brokenBy = number
      resolve()
    })
  })
  try {
    const done = await Promise.race([work(call), broken])
    if (brokenBy !== undefined) throw INTERRUPTED
    // An error that is ready at once is a value.
    if (done instanceof Error) throw done
    await Promise.all(writes.get(call))
    return done
  } finally {
    writes.delete(call)
    forget()
    // `abort` ends the code that calls it, so the listener, which may run in a call of another object, must not call it.
    if (brokenBy === call) ctx.abort('the WebAssembly module has ended')
  }
}

function wait(call, write) {
  // Work that outlives its call writes without anyone who waits.
  writes.get(call)?.push(write)
  // `guarded` reports the failure.
  write.catch(() => {})
}

export const get = (ctx, key) => ctx.storage.kv.get(key)

/** Writes a row. The bytes are memory of the wasm module, which changes when it runs again. */
export const put = (ctx, key, value) => ctx.storage.kv.put(key, value.slice())

export const remove = (ctx, key) => void ctx.storage.kv.delete(key)

/** Returns the keys and the values of rows, alternating. */
export const list = (ctx, prefix) => [...ctx.storage.kv.list({ prefix })].flat()

export function clear(ctx, call) {
  wait(call, ctx.storage.deleteAlarm())
  wait(call, ctx.storage.deleteAll())
}

export function setAlarm(ctx, name, at, call) {
  ctx.storage.kv.put(NAME_KEY, name)
  wait(call, ctx.storage.setAlarm(at))
}

/**
 * Completes when all writes so far are stored. The runtime stores writes after the turn of the event loop that makes them, and a crash in this
 * turn undoes them.
 */
export const sync = (ctx) => ctx.storage.sync()
