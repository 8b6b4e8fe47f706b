// Stores the passages of documents that an earlier version of the knowledge base stored without passages.

import { callTool, withRetries } from './mcp.mjs'

/**
 * Calls run_reindex until no document without passages remains. Returns how many documents got their passages.
 *
 * @param {{ url: string, token?: string, say: (message: string) => void }} server
 */
export async function reindex({ url, token, say }) {
  let sum = 0
  for (let idle = 0; ;) {
    const call = () => callTool({ url, token, name: 'run_reindex', arguments: {} })
    const { documents, remaining } = (await withRetries(call, { say })).structuredContent
    sum += documents
    if (remaining === 0) return sum
    // A call that competes with another client may complete no document.
    idle = documents === 0 ? idle + 1 : 0
    if (idle === 10) throw new Error(`${remaining} documents have no passages, and run_reindex does not store them`)
    say(`stored the passages of ${sum} older documents, ${remaining} remain`)
  }
}
