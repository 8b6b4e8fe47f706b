// Measures the first requests of a new process: their CPU time, and the time to the first answer.

import { request } from 'node:http'
import { startSubject } from './bed.mjs'
import { headersOf } from './check.mjs'
import { load } from './load.mjs'
import { cpuMicros } from './proc.mjs'
import { columns, rotated } from './statistics.mjs'
import { SMALL } from './works.mjs'

/**
 * @typedef {object} Starts each list has one number per start
 * @property {number[]} start_ms the time from the start of the process to the end of its first answer
 * @property {number[]} first_ms the time from the first request, which is sent when the socket listens, to the end of its answer
 * @property {number[]} first_500_us CPU time per request of the first 500 requests, from the moment when the socket listens
 * @property {number[]} first_2000_us the same for the first 2 000 requests
 *
 * @returns {Promise<Record<string, Starts>>} for each subject
 */
export async function starts(bed, subjects, count) {
  const found = new Map(subjects.map(({ name }) => [name, []]))
  // The very first start does not count: it reads files from the disk, and the first request of this program is slower than later ones.
  if (count > 0 && subjects.length > 0) await start(bed, subjects[0])
  for (let round = 0; round < count; round++) {
    bed.say(`starts: ${round + 1} of ${count}`)
    for (const subject of rotated(subjects, round)) found.get(subject.name).push(await start(bed, subject))
  }
  return count > 0 ? Object.fromEntries([...found].map(([name, all]) => [name, columns(all)])) : {}
}

async function start(bed, subject) {
  const process = await startSubject(bed, subject, SMALL.tools)
  try {
    const before = await cpuMicros(process.pid)
    const perRequest = async (count) => (await cpuMicros(process.pid) - before) / count
    const sent = performance.now()
    const text = await post(process.url, SMALL, process.token)
    const answered = performance.now()
    if (!text.includes('"text":"5"')) throw new Error(`${subject.name}: the first answer is wrong: ${text}`)
    await load(bed, process, SMALL, { answers: 499 })
    const first500 = await perRequest(500)
    await load(bed, process, SMALL, { answers: 1500 })
    const first2000 = await perRequest(2000)
    return { start_ms: answered - process.spawned, first_ms: answered - sent, first_500_us: first500, first_2000_us: first2000 }
  } finally {
    await process.stop()
  }
}

// This uses node:http, because fetch itself would take a part of the measured time.
const post = (url, work, token) => new Promise((resolve, reject) => {
  const sending = request(url, { method: 'POST', headers: headersOf(work, token), agent: false }, (response) => {
    let text = ''
    response.setEncoding('utf8')
    response.on('data', (chunk) => { text += chunk })
    response.on('end', () => resolve(text))
  })
  sending.on('error', reject)
  sending.end(work.body)
})
