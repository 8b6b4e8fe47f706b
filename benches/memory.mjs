// Measures the memory that a subject retains.

import { startSubject } from './bed.mjs'
import { load } from './load.mjs'
import { residentKib } from './proc.mjs'
import { checkAnswer } from './rows.mjs'
import { isOurs } from './subjects.mjs'
import { SMALL } from './works.mjs'

// V8 collects garbage only when it needs memory. These flags make each collection a full collection, so only retained memory remains.
const FLAGS = ['--gc-global', '--max-semi-space-size=1']

const FIRST = 1_000
const LAST = 100_000

/**
 * @returns {Promise<Record<string, { first_kib: number, last_kib?: number }>>} the resident memory of a new process of each subject after
 *   1 000 answers and, for our subjects, after 100 000
 */
export async function memory(bed, subjects) {
  const kept = {}
  for (const subject of subjects) {
    bed.say(`memory: ${subject.name}`)
    const process = await startSubject(bed, subject, SMALL.tools, FLAGS)
    const after = async (answers) => {
      await load(bed, process, SMALL, { answers })
      return residentKib(process.pid)
    }
    try {
      await checkAnswer({ subject, process }, SMALL)
      kept[subject.name] = { first_kib: await after(FIRST), ...isOurs(subject.name) && { last_kib: await after(LAST - FIRST) } }
    } finally {
      await process.stop()
    }
  }
  return kept
}
