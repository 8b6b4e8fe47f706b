// Works under load, subject beside subject.

import { put } from './bed.mjs'
import { check } from './check.mjs'
import { load, warmUp } from './load.mjs'
import { columns, median, rotated } from './statistics.mjs'
import { does } from './subjects.mjs'

/**
 * What a subject took for a work. There is none for what it cannot do.
 *
 * @typedef {object} Row
 * @property {string} work
 * @property {string} subject
 * @property {number[]} cpu_us time on the processor for each request, the runtime's own included: a number for each round
 * @property {number} rps requests in a second, the median of the rounds, like the rest
 * @property {number} p50_us
 * @property {number} p99_us
 *
 * @param {import('./bed.mjs').Bed} bed
 * @param {import('./subjects.mjs').Subject[]} subjects with their `modules`
 * @param {import('./works.mjs').Work[]} works
 * @param {{ rounds: number, seconds: number, warmUp: number }} how the seconds of each window, and of a warm-up at most
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

/** Runs with subjects started, each in a process of its own. */
export async function among(bed, places, then) {
  const running = []
  try {
    for (const { subject, tools } of places) running.push({ subject, process: await put(bed, subject, tools) })
    return await then(running)
  } finally {
    await Promise.all(running.map(({ process }) => process.stop()))
  }
}

/** The windows of each of those that run, one in each round. */
export async function rounds(bed, running, work, how) {
  // All of them before any is timed.
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
