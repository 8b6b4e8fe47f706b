// Works under load, subject beside subject.

import { put } from './bed.mjs'
import { check } from './check.mjs'
import { load, warmUp } from './load.mjs'
import { columns, median, rotated } from './statistics.mjs'
import { does } from './subjects.mjs'

/**
 * The result of one subject with one work. There is no row for a work that it does not support.
 *
 * @typedef {object} Row
 * @property {string} work
 * @property {string} subject
 * @property {number[]} cpu_us CPU time per request, including that of the runtime, in each round
 * @property {number} rps requests per second: the median of the rounds, like the next two
 * @property {number} p50_us
 * @property {number} p99_us
 *
 * @param {import('./bed.mjs').Bed} bed
 * @param {import('./subjects.mjs').Subject[]} subjects with their `modules`
 * @param {import('./works.mjs').Work[]} works
 * @param {{ rounds: number, seconds: number, warmUp: number }} how `seconds` of each window; `warmUp` is the maximum
 *   of a warm-up, in seconds
 * @returns {Promise<Row[]>}
 */
export async function rows(bed, subjects, works, how) {
  const rows = []
  for (const work of works) {
    const able = subjects.filter((subject) => does(subject, work))
    await among(bed, able.map((subject) => ({ subject, tools: work.tools })), async (running) => {
      const windows = await rounds(bed, running, work, how)
      rows.push(...able.map(({ name }, index) => {
        const { cpu_us: cpu, rps, p50_us: p50, p99_us: p99 } = columns(windows[index])
        return { work: work.name, subject: name, cpu_us: cpu, rps: median(rps), p50_us: median(p50), p99_us: median(p99) }
      }))
    })
  }
  return rows
}

/** Starts each subject in its own process, with a number of tools, and stops them after `then`. */
export async function among(bed, places, then) {
  const running = []
  try {
    for (const { subject, tools } of places) running.push({ subject, process: await put(bed, subject, tools) })
    return await then(running)
  } finally {
    await Promise.all(running.map(({ process }) => process.stop()))
  }
}

/** Returns the windows of each process, one for each round. */
export async function rounds(bed, running, work, how) {
  // All answers are checked before one is timed.
  for (const one of running) await rightly(one, work)
  bed.say(`${work.name}: warming up`)
  for (const { process } of running) await warmUp(bed, process, work, how.warmUp)

  const windows = new Map(running.map((one) => [one, []]))
  for (let round = 0; round < how.rounds; round++) {
    bed.say(`${work.name}: round ${round + 1} of ${how.rounds}`)
    for (const one of rotated(running, round)) windows.get(one).push(await load(bed, one.process, work, { seconds: how.seconds }))
  }
  for (const one of running) await rightly(one, work)
  return [...windows.values()]
}

/** Fails, with the subject's name and what it has printed, where it does not answer a work rightly. */
export async function rightly({ subject, process }, work) {
  try {
    await check(process.url, work, process.token)
  } catch (error) {
    throw new Error(`${subject.name}: ${error.message}\n${await process.logs()}`.trimEnd())
  }
}
