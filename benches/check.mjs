// Whether a subject answers a work rightly: nothing is timed before that.

/**
 * @param {string} url
 * @param {import('./works.mjs').Work} work
 * @param {string} [token]
 * @throws where it does not, with what it answers
 */
export async function check(url, work, token) {
  const response = await fetch(url, { method: 'POST', headers: headersOf(work, token), body: work.body })
  const text = await response.text()
  const wrong = response.status === 200 ? work.wrong(messageOf(response, text)) : `HTTP ${response.status}: ${text.slice(0, 300)}`
  if (wrong !== undefined) throw new Error(`${work.name}: a wrong answer: ${wrong}`)
}

/** The headers of a work, with the token where there is one. */
export const headersOf = ({ headers }, token) => token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` }

/** The answer in a body of JSON, or the last event of a stream. */
export function messageOf(response, text) {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  const data = isStream ? text.split('\n').findLast((line) => line.startsWith('data:'))?.slice('data:'.length) : text
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}
