// Generates the table of docs/client.md that shows which operations are tested with which server.

import { OPERATIONS } from './client-operations.mjs'
import { PEERS } from './client-peers.mjs'

const SUPERSCRIPTS = '¹²³⁴⁵⁶⁷⁸⁹'

/** Returns the table, and the numbered reasons of its dashes, as Markdown. */
export function table() {
  const names = Object.keys(OPERATIONS)
  const reasons = [...new Set(PEERS.flatMap(({ lacks }) => names.flatMap((name) => lacks[name] ?? [])))]
  if (reasons.length > SUPERSCRIPTS.length) throw new Error('The table has more reasons than superscripts.')
  const cell = (reason) => reason ? `–${SUPERSCRIPTS[reasons.indexOf(reason)]}` : '✓'
  const lines = [
    ['server', ...names],
    ['---', ...names.map(() => ':-:')],
    ...PEERS.map(({ title, lacks }) => [title, ...names.map((name) => cell(lacks[name]))]),
  ].map((cells) => `| ${cells.join(' | ')} |`)
  return [...lines, '', ...reasons.map((reason, index) => `${index + 1}. ${reason}`)].join('\n')
}
