// What a subject keeps.

import { labelOf, put } from './bed.mjs'
import { answers } from './load.mjs'
import { residentKib } from './proc.mjs'
import { rightly } from './rows.mjs'
import { SMALL } from './works.mjs'

// V8 lets garbage lie for as long as there is room. Here it has to collect all of it each time, so that what is left is what is kept.
const FLAGS = ['--gc-global', '--max-semi-space-size=1']

/**
 * @returns {Promise<Record<string, { first_kib: number, last_kib: number }>>} for each subject, its memory after `first` and after
 *   `last` answers of a new process
 */
export async function memory(bed, subjects, { first, last }) {
  const kept = {}
  for (const subject of subjects) {
    bed.say(`memory: ${labelOf(subject)}`)
    const process = await put(bed, subject, SMALL.tools, FLAGS)
    const after = async (count) => {
      await answers(count, process, SMALL, { token: process.token, core: bed.core.load, folder: bed.folder })
      return residentKib(process.pid)
    }
    try {
      await rightly({ subject, process }, SMALL)
      kept[subject.name] = { first_kib: await after(first), last_kib: await after(last - first) }
    } finally {
      await process.stop()
    }
  }
  return kept
}
