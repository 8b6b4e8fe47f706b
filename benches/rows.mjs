// Measures workloads under load. The subjects take turns.

import { startSubject } from './bed.mjs'
import { check } from './check.mjs'
import { load, warmUp } from './load.mjs'
import { columns, median, rotated } from './statistics.mjs'
import { supports } from './subjects.mjs'

/**
 * The result of one subject with one workload. A subject has no row for a workload that it does not support.
 *
 * @typedef {object} Row
 * @property {string} work
 * @property {string} subject
 * @property {number[]} cpu_us CPU time per request in each round, including the CPU time of the runtime
 * @property {number} rps requests per second: the median of the rounds, as in the next two members
 * @property {number} p50_us
 * @property {number} p99_us
 *
 * @param {import('./bed.mjs').Bed} bed
 * @param {import('./subjects.mjs').Subject[]} subjects with their `modules`
 * @param {import('./works.mjs').Work[]} works
 * @param {{ rounds: number, seconds: number, warmUp: number }} how `seconds` is the length of a
 *   window, `warmUp` the maximum length of a warm-up, in seconds
 * @returns {Promise<Row[]>}
 */
export async function rows(bed, subjects, works, how) {
  const rows = []
  for (const work of works) {
    const supporting = subjects.filter((subject) => supports(subject, work))
    await withRunning(bed, supporting.map((subject) => ({ subject, tools: work.tools })), async (running) => {
      const windows = await rounds(bed, running, work, how)
      rows.push(...supporting.map(({ name }, index) => {
        const { cpu_us: cpu, rps, p50_us: p50, p99_us: p99 } = columns(windows[index])
        return { work: work.name, subject: name, cpu_us: cpu, rps: median(rps), p50_us: median(p50), p99_us: median(p99) }
      }))
    })
  }
  return rows
}

/** Starts each subject in its own process with a number of tools, calls `then`, and stops the processes. */
export async function withRunning(bed, places, then) {
  const running = []
  try {
    for (const { subject, tools } of places) running.push({ subject, process: await startSubject(bed, subject, tools) })
    return await then(running)
  } finally {
    await Promise.all(running.map(({ process }) => process.stop()))
  }
}

/** Returns the windows of each process, one for each round. */
export async function rounds(bed, running, work, how) {
  // The bench checks the answers of all subjects before it measures any of them.
  for (const one of running) await checkAnswer(one, work)
  bed.say(`${work.name}: warming up`)
  for (const { process } of running) await warmUp(bed, process, work, how.warmUp)

  const windows = new Map(running.map((one) => [one, []]))
  for (let round = 0; round < how.rounds; round++) {
    bed.say(`${work.name}: round ${round + 1} of ${how.rounds}`)
    for (const one of rotated(running, round)) windows.get(one).push(await load(bed, one.process, work, { seconds: how.seconds }))
  }
  for (const one of running) await checkAnswer(one, work)
  return [...windows.values()]
}

/** Throws if the answer to a workload is wrong. The error contains the name of the subject and its log. */
export async function checkAnswer({ subject, process }, work) {
  try {
    await check(process.url, work, process.token)
  } catch (error) {
    throw new Error(`${subject.name}: ${error.message}\n${await process.logs()}`.trimEnd())
  }
}
