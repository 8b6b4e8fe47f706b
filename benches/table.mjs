// Formats results as tables, for a terminal and in Markdown.

import { cpuRatio, GOALS, verdict, worse } from './goals.mjs'
import { quartiles } from './statistics.mjs'
import { isOurs } from './subjects.mjs'

const NOTHING = '–'

/** Returns the subjects that are measured with all workloads. */
const subjectsOf = ({ sizes }) => Object.keys(sizes)
const worksOf = ({ rows }) => [...new Set(rows.map(({ work }) => work))]

/** Returns the median ratios: the CPU time of each other subject, divided by that of each of our subjects. */
export function ratioTable(result) {
  const ours = subjectsOf(result).filter(isOurs)
  const others = subjectsOf(result).filter((name) => !isOurs(name))
  const ratios = (work, other) => ours.map((one) => cpuRatio(result, work, one, other))
  return [
    [`CPU against ${ours.join(' / ')}`, ...others],
    ...worksOf(result).map((work) => [work, ...others.map((other) =>
      ratios(work, other).some(Boolean) ? ratios(work, other).map((one) => digits(one?.median)).join(' / ') : NOTHING)]),
  ]
}

/** Returns the goals, with their values in each run and the verdict. */
export const goalTable = (results) => [
  ['', ...results.map((_, index) => index === 0 ? 'measured' : 'again'), 'goal', 'least', ''],
  ...GOALS.map((goal) => {
    const found = results.map(goal.of)
    const bound = (number) => `${goal.atMost ? 'at most ' : ''}${number}`
    return [goal.what, ...found.map((one) => measured(goal, one)), bound(goal.goal), bound(goal.least), verdict(goal, found)]
  }),
]

/** Returns the median, the deciding quartile and the deciding workload. */
function measured(goal, found) {
  if (found === undefined) return NOTHING
  const { lower, median, upper, work } = found
  return [digits(median), lower < upper && `(${digits(worse(goal, found))})`, work].filter(Boolean).join(' ')
}

/** Returns the CPU time per request, in microseconds. */
export const cpuTable = (result) => workTable('CPU µs per request', result, ({ cpu_us: cpu }) => spread(cpu))

/** Returns the requests per second. */
export const rateTable = (result) => workTable('requests/s', result, ({ rps }) => digits(rps))

const workTable = (head, result, cell) => [
  [head, ...subjectsOf(result)],
  ...worksOf(result).map((work) => [work, ...subjectsOf(result).map((subject) => {
    const row = result.rows.find((row) => row.work === work && row.subject === subject)
    return row ? cell(row) : NOTHING
  })]),
]

/** Returns the subjects with a token, a log line or tracing, and the added CPU time compared with the same subject without it. */
export const extraTable = (result) => [
  ['subject', 'CPU µs per request', 'added, µs'],
  ...result.rows.filter(({ subject }) => !subjectsOf(result).includes(subject)).map(({ work, subject, cpu_us: cpu }) => {
    const plain = result.rows.find((row) => row.work === work && row.subject !== subject && subject.startsWith(row.subject))
    return [subject, spread(cpu), spread(plain && cpu.map((value, round) => value - plain.cpu_us[round]))]
  }),
]

/** Returns the cost of the first requests of a new process. */
export const startTable = ({ starts }) => [
  ['subject', 'first 500, CPU µs per request', 'first 2 000', 'process to first answer, ms', 'first answer alone, ms'],
  ...Object.entries(starts).map(([subject, one]) =>
    [subject, ...[one.first_500_us, one.first_2000_us, one.start_ms, one.first_ms].map(spread)]),
]

const ratios = (one, other) => one.map((value, round) => value / other[round])

/** Returns the calls of another server: with the MCP client, with the official client, and with a plain fetch. */
export function clientTable({ client }) {
  const head = ['CPU µs per call of another server', '']
  if (!client) return [head]
  const { relay, without, own, official, floor, shared, fresh } = client
  return [
    head,
    ['a request to a Worker that calls the server', spread(relay)],
    ['the same request without this call', spread(without)],
    ['the difference: the MCP client', spread(own)],
    ['the official client 2.4 in workerd, shared by the requests', spread(shared)],
    ['the official client 2.4 in workerd, built for each request', spread(fresh)],
    ['a plain fetch in workerd, whose answer is parsed', spread(floor)],
    ['the official client 2.4 in Node.js', spread(official)],
    ['the MCP client, against the shared official client', spread(ratios(own, shared))],
    ['the MCP client, against the plain fetch', spread(ratios(own, floor))],
  ]
}

/** Returns the calls and lists of a gateway. */
export function gatewayTable({ gateway }) {
  const head = ['CPU µs per request to a gateway', '']
  if (!gateway) return [head]
  const { through, relay, list_of_many: many, list_of_one: one, delayed_ms: delayed } = gateway
  return [
    head,
    ['a call through the gateway', spread(through)],
    ['a call of a Worker whose tool makes the same call with the MCP client', spread(relay)],
    ['the gateway, against this Worker', spread(ratios(through, relay))],
    ['a list of 20 servers with 50 tools each, without a cache', spread(many)],
    ['a list of one server with 50 tools', spread(one)],
    ['the list of 20 servers, against the list of one', spread(ratios(many, one))],
    ['the time of a list of 20 servers that answer after 50 ms, in ms', spread(delayed)],
  ]
}

/** Returns the size and the memory of each subject. */
export const sizeTable = ({ sizes, memory = {} }) => [
  ['subject', 'KB', 'KB, gzip', 'MiB after 1 000', 'after 100 000'],
  ...Object.entries(sizes).map(([subject, { raw, gzip }]) => [
    subject, digits(raw / 1000), digits(gzip / 1000), digits(memory[subject]?.first_kib / 1024), digits(memory[subject]?.last_kib / 1024),
  ]),
]

/** Returns the largest crates of our module. */
export const crateTable = ({ crates }) => [['crate', 'KB of code'], ...crates.map(({ crate, bytes }) => [crate, digits(bytes / 1000)])]

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value)

/** Returns a number with three significant digits, or with all digits before the decimal point if there are more. */
export const digits = (value) => {
  if (!isNumber(value)) return NOTHING
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)))
}

/** Returns the median, with the quartiles in brackets. */
function spread(numbers) {
  if (numbers === undefined) return NOTHING
  const { lower, median, upper } = quartiles(numbers)
  return `${digits(median)} (${digits(lower)}–${digits(upper)})`
}

/** Formats a table for a terminal. The first column is left-aligned, and the others are right-aligned. */
export function plain(table) {
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)))
  return table.map((row) => row.map((cell, column) => column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))
    .join('  ').trimEnd()).join('\n')
}

/** Formats a table in Markdown. */
export function markdown([head, ...rows]) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, column) => column === 0 ? '---' : '---:')), ...rows.map(line)].join('\n')
}
