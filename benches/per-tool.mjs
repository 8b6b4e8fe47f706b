// What each further tool costs a call of one.

import { put } from './bed.mjs'
import { load } from './load.mjs'
import { median } from './statistics.mjs'
import { rightly } from './rows.mjs'
import { SMALL } from './works.mjs'

const FEW = 11
const MANY = 211

/** @returns {Promise<number>} microseconds on the processor */
export async function perTool(bed, subject, { rounds, seconds }) {
  const sizes = [FEW, MANY]
  const processes = []
  try {
    for (const tools of sizes) processes.push(await put(bed, subject, tools))
    const spent = sizes.map(() => [])
    // The first round is the warm-up.
    for (let round = 0; round <= rounds; round++) {
      for (const [index, process] of processes.entries()) {
        bed.say(`tools/call small: ${subject.name} with ${sizes[index]} tools`)
        if (round === 0) await rightly({ subject, process }, SMALL)
        const how = { token: process.token, seconds, core: bed.core.load, folder: bed.folder }
        const { cpu_us: micros } = await load(process, SMALL, how)
        if (round > 0) spent[index].push(micros)
      }
    }
    const [few, many] = spent.map(median)
    return (many - few) / (MANY - FEW)
  } finally {
    await Promise.all(processes.map((process) => process.stop()))
  }
}
