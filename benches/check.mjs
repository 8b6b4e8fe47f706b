// Checks the answer of a subject to a workload. The bench measures nothing before this check has passed.

/**
 * @param {string} url
 * @param {import('./works.mjs').Work} work
 * @param {string} [token]
 * @throws if the answer is wrong; the error contains the answer
 */
export async function check(url, work, token) {
  const response = await fetch(url, { method: 'POST', headers: headersOf(work, token), body: work.body })
  const text = await response.text()
  const wrong = response.status === 200 ? work.wrong(messageOf(response, text)) : `HTTP ${response.status}: ${text.slice(0, 300)}`
  if (wrong !== undefined) throw new Error(`${work.name}: a wrong answer: ${wrong}`)
}

/** Returns the headers of a workload, with the token if there is one. */
export const headersOf = ({ headers }, token) => token === undefined ? headers : { ...headers, authorization: `Bearer ${token}` }

/** Returns the message in a JSON body or in the last event of a stream, or `undefined` if it is not JSON. */
export function messageOf(response, text) {
  const isStream = response.headers.get('content-type')?.startsWith('text/event-stream')
  const data = isStream ? text.split('\n').findLast((line) => line.startsWith('data:'))?.slice('data:'.length) : text
  try {
    return JSON.parse(data)
  } catch {
    return undefined
  }
}
