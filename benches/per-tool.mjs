// Measures the cost of each further tool of a server for a call of one tool.

import { rounds, withRunning } from './rows.mjs'
import { median } from './statistics.mjs'
import { SMALL } from './works.mjs'

const FEW = 11
const MANY = 211

/** @returns {Promise<number>} microseconds of CPU time per further tool */
export async function perTool(bed, subject, how) {
  return withRunning(bed, [FEW, MANY].map((tools) => ({ subject, tools })), async (running) => {
    bed.say(`${subject.name} with ${FEW} and with ${MANY} tools`)
    const [few, many] = await rounds(bed, running, SMALL, how)
    return median(many.map(({ cpu_us: cpu }, round) => cpu - few[round].cpu_us)) / (MANY - FEW)
  })
}
