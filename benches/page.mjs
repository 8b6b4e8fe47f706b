// The generated part of docs/performance.md.

import { cpuTable, crateTable, extraTable, goalTable, markdown, ratioTable, sizeTable, startTable } from './table.mjs'

const BEGIN = '<!-- bench: written by scripts/bench --write -->'
const END = '<!-- /bench -->'

/** `page` with what results say between its two markers: the first in all tables, the others in that of the goals too. */
export function withResult(page, results) {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`the page has no place for the result, between ${BEGIN} and ${END}`)
  return `${page.slice(0, begin + BEGIN.length)}\n${part(results)}\n${page.slice(end)}`
}

function part(results) {
  const [result] = results
  const { machine, date, rounds, seconds } = result
  return `
Measured on ${date}: ${machine.processor}, ${machine.cores} cores, Linux ${machine.kernel}, workerd ${machine.workerd};
${rounds} rounds of ${seconds} s. A cell has the median and, in brackets, the lower and the upper quartile.

![CPU per request, and the time to the first answer](performance.svg)

## Goals

A ratio is the CPU of the other divided by that of edge-mcp, so more is better, except where the bound is "at most". The worse quartile,
in brackets, decides${results.length > 1 ? '; of two runs, the worse one' : ''}.

${markdown(goalTable(results))}

## CPU ratios

The CPU per request of the other, divided by that of edge-mcp and of edge-mcp, shared, in the same round: above 1, edge-mcp takes less.

${markdown(ratioTable(result))}

## CPU per request

${markdown(cpuTable(result))}

## A token and a log line

\`tools/call small\` again, where the server checks a token or writes a line to the log.

${markdown(extraTable(result))}

## The first requests

\`tools/call small\` in a new process.

${markdown(startTable(result))}

## Size and memory

${markdown(sizeTable(result))}

## The largest crates

By the names of the functions that cargo has compiled, before wasm-opt.

${markdown(crateTable(result))}
`
}
