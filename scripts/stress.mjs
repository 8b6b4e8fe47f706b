// scripts/stress starts this module and documents it.

import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startWorker } from '../tests/e2e/worker.mjs'
import { memoryKib, run } from '../tests/stress/run.mjs'

/**
 * The duration of the warm-up, as a multiple of the measurement. The warm-up fills the caches. It is as long as the measurement, because
 * V8 leaves garbage on its heap while the heap has room, and filling this room takes most of a minute.
 */
const WARM_UP = 1
/** The memory after the measurement may be this multiple of the memory after the warm-up. */
const GROWTH = 1.5

const unlimited = (toml) => toml.replace(/limit = \d+/, 'limit = 1000000000')

try {
  const options = readArguments()
  const worker = await startWorker({ config: unlimited })
  try {
    process.exitCode = await stress(worker, options) ? 0 : 1
  } finally {
    await worker.stop()
  }
} catch (error) {
  console.error(`stress: ${error.message}`)
  process.exitCode = 1
}

async function stress(worker, { connections, seconds }) {
  const memoryAtRest = async () => {
    await setTimeout(2000)
    return memoryKib(worker)
  }
  const warm = await run(worker, { connections, seconds: Math.max(1, seconds * WARM_UP) })
  const before = await memoryAtRest()
  const { right, hostile, left, failures } = await run(worker, { connections, seconds })
  const after = await memoryAtRest()
  const wrong = [...warm.failures, ...failures]
  for (const failure of wrong) console.log(failure)
  const mib = (kib) => `${Math.round(kib / 1024)} MiB`
  const isFlat = after <= before * GROWTH
  console.log(`memory: ${mib(before)} before, ${mib(after)} after (limit: ${GROWTH} times the memory before)${isFlat ? '' : ': TOO MUCH'}`)
  console.log(`${right} correct answers in ${seconds} s on ${connections} connections, ${hostile} of them to hostile requests; ` +
    `${left} cancelled requests; ${wrong.length} wrong answers`)
  return isFlat && wrong.length === 0
}

function readArguments() {
  const { values } = parseArgs({ options: { connections: { type: 'string', default: '200' }, seconds: { type: 'string', default: '60' } } })
  const number = (name, most) => {
    const value = Number(values[name])
    if (!Number.isInteger(value) || value < 1 || value > most) {
      throw new Error(`--${name} must be a whole number from 1 to ${most} (got ${values[name]})`)
    }
    return value
  }
  return { connections: number('connections', 1000), seconds: number('seconds', 3600) }
}
