// Works under load, subject beside subject.

import { labelOf, put } from './bed.mjs'
import { check } from './check.mjs'
import { load } from './load.mjs'
import { medians } from './statistics.mjs'

/**
 * @typedef {object} Row
 * @property {string} work
 * @property {string} subject
 * @property {boolean} auth
 * @property {number | null} rps requests in a second; null, like the rest, where the subject cannot do that work
 * @property {number | null} cpu_us time on the processor for each request, the runtime's own included
 * @property {number | null} p50_us
 * @property {number | null} p99_us
 *
 * @param {import('./bed.mjs').Bed} bed
 * @param {import('./subjects.mjs').Subject[]} subjects with their `modules`
 * @param {import('./works.mjs').Work[]} works
 * @param {{ rounds: number, seconds: number }} how seconds of each window
 * @returns {Promise<Row[]>}
 */
export async function rows(bed, subjects, works, { rounds, seconds }) {
  const rows = []
  for (const tools of new Set(works.map(({ tools }) => tools))) {
    await among(bed, subjects, tools, async (running) => {
      for (const work of works.filter((work) => work.tools === tools)) {
        rows.push(...await rowsOf(bed, running, work, { rounds, seconds }))
      }
    })
  }
  const order = works.map(({ name }) => name)
  return rows.sort((one, other) => order.indexOf(one.work) - order.indexOf(other.work))
}

/** Runs with all subjects started, each in a process of its own. */
export async function among(bed, subjects, tools, then) {
  const running = []
  try {
    for (const subject of subjects) running.push({ subject, process: await put(bed, subject, tools) })
    return await then(running)
  } finally {
    await Promise.all(running.map(({ process }) => process.stop()))
  }
}

async function rowsOf(bed, running, work, { rounds, seconds }) {
  const able = running.filter(({ subject }) => !subject.cannot?.includes(work.name))
  // All of them before any is timed.
  for (const one of able) await rightly(one, work)
  const window = ({ process }) => load(process, work, { token: process.token, seconds, core: bed.core.load, folder: bed.folder })
  bed.say(`${work.name}: warming up`)
  for (const one of able) await window(one)

  const windows = new Map(able.map((one) => [one, []]))
  for (let round = 0; round < rounds; round++) {
    bed.say(`${work.name}: round ${round + 1} of ${rounds}`)
    // Each is once the first, so that none always follows the same one.
    for (const one of rotated(able, round)) windows.get(one).push(await window(one))
  }
  for (const one of able) await rightly(one, work)
  return running.map((one) => ({
    work: work.name,
    subject: one.subject.name,
    auth: one.subject.auth === true,
    ...windows.has(one) ? medians(windows.get(one)) : NOTHING,
  }))
}

const NOTHING = { rps: null, cpu_us: null, p50_us: null, p99_us: null }

const rotated = (list, by) => list.map((_, index) => list[(index + by) % list.length])

/** Fails, with the subject's name and what it has printed, where it does not answer a work rightly. */
export async function rightly({ subject, process }, work) {
  try {
    await check(process.url, work, process.token)
  } catch (error) {
    throw new Error(`${labelOf(subject)}: ${error.message}\n${await process.logs()}`.trimEnd())
  }
}
