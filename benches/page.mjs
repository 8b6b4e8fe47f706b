// The generated part of docs/performance.md.

import { crateTable, goalTable, markdown, ratioTable, rowTable, subjectTable } from './table.mjs'

const BEGIN = '<!-- bench: written by scripts/bench --write -->'
const END = '<!-- /bench -->'

/** `page` with what a result says between its two markers. */
export function withResult(page, result) {
  const begin = page.indexOf(BEGIN)
  const end = page.indexOf(END)
  if (begin < 0 || end < begin) throw new Error(`the page has no place for the result, between ${BEGIN} and ${END}`)
  return `${page.slice(0, begin + BEGIN.length)}\n${part(result)}\n${page.slice(end)}`
}

function part(result) {
  const { machine, date, rounds, seconds } = result
  return `
Measured on ${date}: ${machine.processor}, ${machine.cores} cores, Linux ${machine.kernel}, workerd ${machine.workerd};
medians of ${rounds} rounds of ${seconds} s.

![requests per second, and the time to the first answer](performance.svg)

## Goals

${markdown(goalTable(result))}

## Ratios

${markdown(ratioTable(result))}

## Requests

${markdown(rowTable(result))}

## Size, start and memory

${markdown(subjectTable(result))}

## The largest crates

By the names of the functions that cargo has compiled, before wasm-opt.

${markdown(crateTable(result))}
`
}
