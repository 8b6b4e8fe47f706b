// The generated part of docs/performance.md.

import { cpuRatio } from './goals.mjs'
import { FRESH, SHARED } from './subjects.mjs'
import { clientTable, cpuTable, crateTable, digits, extraTable, markdown, ratioTable, sizeTable, startTable } from './table.mjs'

const BEGIN = '<!-- bench: written by scripts/bench --write -->'
const END = '<!-- /bench -->'

/** Returns `page` with the result between its two markers. */
export function withResult(page, result) {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`the page has no place for the results: it must contain ${BEGIN} and, after it, ${END}`)
  return `${page.slice(0, begin + BEGIN.length)}\n${part(result)}\n${page.slice(end)}`
}

const ROW = '| CPU time of a small `tools/call`, divided by that of edge-mcp |'

/** Returns the text of README.md with the ratios of the result in its comparison. Only mcp-lite builds its server once. */
export function withRatios(readme, result) {
  const line = readme.split('\n').find((line) => line.startsWith(ROW))
  if (line === undefined) throw new Error(`README.md has no place for the ratios: it must contain ${ROW}`)
  const ratios = [[FRESH, 'turbomcp-wasm 3.6'], [FRESH, 'server 2.4'], [SHARED, 'mcp-lite']]
    .map(([ours, other]) => cpuRatio(result, 'tools/call small', ours, other)?.median.toFixed(1) ?? '–')
  return readme.replace(line, `${ROW} 1 | – | ${ratios.join(' | ')} |`)
}

function part(result) {
  const { machine, date, rounds, seconds } = result
  return `
Measured on ${date}: ${machine.processor}, ${machine.cores} cores, Linux ${machine.kernel}, workerd ${machine.workerd};
${rounds} rounds of ${seconds} s. A cell has the median and, in brackets, the lower and the upper quartile.

![CPU per request, and the time to the first answer](performance.svg)

## CPU ratios

The CPU per request of the other subject, divided by that of "edge-mcp" / "edge-mcp, shared" in the same round. Above 1, edge-mcp takes
less CPU.

${markdown(ratioTable(result))}

## CPU per request

${markdown(cpuTable(result))}

## A token, a log line and tracing

\`tools/call small\` with a server that checks a token, writes a log line, or records [spans](tracing.md) with the tracing of workerd. A
server without tracing contains no code of it.

${markdown(extraTable(result))}

## The MCP client

A call of the tool \`add\` of server 2.4, with revision 2026-07-28.

${markdown(clientTable(result))}

## The first requests

\`tools/call small\` in a new process.

${markdown(startTable(result))}

## Size and memory

${markdown(sizeTable(result))}

Each further tool of the server adds ${digits(result.per_tool)} µs to \`tools/call small\`.

## The largest crates

The sizes are sums over the functions in cargo's output, before wasm-opt.

${markdown(crateTable(result))}
`
}
