// How long the first answer takes.

import { request } from 'node:http'
import { put } from './bed.mjs'
import { headersOf } from './check.mjs'
import { medians } from './statistics.mjs'
import { SMALL } from './works.mjs'

/**
 * @returns {Promise<Record<string, { start_ms: number, first_ms: number }>>} for each subject, from the start of the process to the
 *   end of its first answer, and from the request, on a socket that listens, to there; medians over `starts`
 */
export async function cold(bed, subjects, starts) {
  const times = new Map(subjects.map(({ name }) => [name, []]))
  // The first start of all finds cold files, and this program's own first request is slower than the rest.
  await first(bed, subjects[0])
  for (let round = 0; round < starts; round++) {
    bed.say(`cold start: ${round + 1} of ${starts}`)
    for (const subject of subjects) times.get(subject.name).push(await first(bed, subject))
  }
  return Object.fromEntries([...times].map(([name, all]) => [name, medians(all)]))
}

async function first(bed, subject) {
  const process = await put(bed, subject, SMALL.tools)
  try {
    const sent = performance.now()
    const text = await post(process.url, SMALL, process.token)
    const answered = performance.now()
    if (!text.includes('"text":"5"')) throw new Error(`${subject.name}: a wrong first answer: ${text}`)
    return { start_ms: answered - process.spawned, first_ms: answered - sent }
  } finally {
    await process.stop()
  }
}

// Nearer to the socket than fetch, whose own time would count.
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
