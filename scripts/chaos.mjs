// scripts/chaos starts this module and documents it.

import { randomInt } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { killRun } from '../tests/chaos/kills.mjs'
import { loadRun } from '../tests/chaos/load.mjs'

/** A kill takes at most this time in milliseconds, on average. */
const TIME_OF_A_KILL = 5000
const TIME_OF_A_TASK = 500
const TIME_OF_THE_REST = 180_000

try {
  const options = readArguments()
  const limit = options.kills * TIME_OF_A_KILL + options.tasks * TIME_OF_A_TASK + TIME_OF_THE_REST
  // A process that hangs ends with its children.
  setTimeout(() => {
    console.error(`chaos: the run has not ended within ${limit / 1000} s`)
    process.exit(1)
  }, limit).unref()
  const failures = [...await kills(options), ...await load(options)]
  for (const failure of failures) console.log(failure)
  console.log(failures.length === 0 ? 'every task ended correctly' : `${failures.length} mistakes (seed ${options.seed})`)
  process.exitCode = failures.length === 0 ? 0 : 1
} catch (error) {
  console.error(`chaos: ${error.message}`)
  process.exitCode = 1
}

async function kills({ kills, seed }) {
  if (kills === 0) return []
  console.log(`${kills} kills with the seed ${seed}`)
  const begun = Date.now()
  const seconds = () => Math.round((Date.now() - begun) / 1000)
  const report = (counts) => {
    if (counts.kills % 20 === 0) console.log(`  ${seconds()} s: ${counts.kills} kills, ${counts.tasks} tasks, ${counts.panics} panics`)
  }
  const { failures, logs, ...counts } = await killRun({ kills, seed, report })
  if (failures.length > 0) {
    const file = join(tmpdir(), `chaos-${seed}.log`)
    writeFileSync(file, logs)
    console.log(`  the logs are in ${file}`)
  }
  console.log(`kills: ${counts.kills} in ${seconds()} s, ${counts.panics} panics; ${counts.tasks} tasks, ${counts.asked} with a question; ` +
    `${counts.effects} effects, ${counts.repeated} of them repeated with their key; ${failures.length} mistakes`)
  return failures
}

async function load({ tasks, 'at-once': atOnce }) {
  if (tasks === 0) return []
  const { failures, seconds, cpu, polls, p50, p99, before, after } = await loadRun({ tasks, atOnce })
  const mib = (kib) => `${Math.round(kib / 1024)} MiB`
  console.log(`load: ${tasks} tasks, ${atOnce} at once, in ${seconds.toFixed(1)} s with ${cpu.toFixed(1)} s of CPU, ${polls} polls: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms; ` +
    `memory: ${mib(before)} before, ${mib(after)} after; ${failures.length} mistakes`)
  return failures
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      kills: { type: 'string', default: '200' },
      tasks: { type: 'string', default: '1000' },
      'at-once': { type: 'string', default: '64' },
      seed: { type: 'string', default: `${randomInt(1e6)}` },
    },
  })
  const number = (name, least, most) => {
    const value = Number(values[name])
    if (!Number.isInteger(value) || value < least || value > most) {
      throw new Error(`--${name} must be a whole number from ${least} to ${most} (got ${values[name]})`)
    }
    return value
  }
  return {
    kills: number('kills', 0, 10_000), tasks: number('tasks', 0, 10_000), 'at-once': number('at-once', 1, 1000), seed: number('seed', 0, 2 ** 32 - 1),
  }
}
