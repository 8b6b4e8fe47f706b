// See scripts/stress, which starts it.

import { setTimeout } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { startWorker } from '../tests/e2e/worker.mjs'
import { memoryKib, run } from '../tests/stress/run.mjs'

/**
 * After a first load, which fills what is kept for the next request. It is as long as what is measured: V8 lets garbage lie for as long
 * as there is room, and needs most of a minute to have none.
 */
const WARM_UP = 1
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
  const rested = async () => {
    await setTimeout(2000)
    return memoryKib(worker)
  }
  const warm = await run(worker, { connections, seconds: Math.max(1, seconds * WARM_UP) })
  const before = await rested()
  const { right, hostile, left, failures } = await run(worker, { connections, seconds })
  const after = await rested()
  const wrong = [...warm.failures, ...failures]
  for (const failure of wrong) console.log(failure)
  const mib = (kib) => `${Math.round(kib / 1024)} MiB`
  const isFlat = after <= before * GROWTH
  console.log(`memory: ${mib(before)} before, ${mib(after)} after (at most ${GROWTH} times as much)${isFlat ? '' : ': TOO MUCH'}`)
  console.log(`${right} right in ${seconds} s on ${connections} connections, ${hostile} of them to hostile requests; ${left} given up; ${wrong.length} wrong`)
  return isFlat && wrong.length === 0
}

function readArguments() {
  const { values } = parseArgs({ options: { connections: { type: 'string', default: '200' }, seconds: { type: 'string', default: '60' } } })
  const number = (name, most) => {
    const value = Number(values[name])
    if (!Number.isInteger(value) || value < 1 || value > most) throw new Error(`--${name} ${values[name]}: a whole number from 1 to ${most}`)
    return value
  }
  return { connections: number('connections', 1000), seconds: number('seconds', 3600) }
}
