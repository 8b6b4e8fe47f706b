// Results as tables: for a terminal, and in Markdown.

import { cpuRatio, GOALS, verdict, worse } from './goals.mjs'
import { quartiles } from './statistics.mjs'
import { isOurs } from './subjects.mjs'

const NOTHING = '–'

/** The subjects that are measured with all works. */
const subjectsOf = ({ sizes }) => Object.keys(sizes)
const worksOf = ({ rows }) => [...new Set(rows.map(({ work }) => work))]

/** The CPU of the others divided by that of ours: medians. */
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

/** The goals, with the values of one run or several and the verdict. */
export const goalTable = (results) => [
  ['', ...results.map((_, index) => index === 0 ? 'measured' : 'again'), 'goal', 'least', ''],
  ...GOALS.map((goal) => {
    const found = results.map(goal.of)
    const bound = (number) => `${goal.atMost ? 'at most ' : ''}${number}`
    return [goal.what, ...found.map((one) => measured(goal, one)), bound(goal.goal), bound(goal.least), verdict(goal, found)]
  }),
]

/** The median, the quartile that decides, and the work that decides. */
function measured(goal, found) {
  if (found === undefined) return NOTHING
  const { lower, median, upper, work } = found
  return [digits(median), lower < upper && `(${digits(worse(goal, found))})`, work].filter(Boolean).join(' ')
}

/** The CPU per request, in microseconds. */
export const cpuTable = (result) => workTable('CPU µs per request', result, ({ cpu_us: cpu }) => spread(cpu))

/** The requests per second. */
export const rateTable = (result) => workTable('requests/s', result, ({ rps }) => digits(rps))

const workTable = (head, result, cell) => [
  [head, ...subjectsOf(result)],
  ...worksOf(result).map((work) => [work, ...subjectsOf(result).map((subject) => {
    const row = result.rows.find((row) => row.work === work && row.subject === subject)
    return row ? cell(row) : NOTHING
  })]),
]

/** The subjects with a token or a log line, and what that adds to the subject without it. */
export const extraTable = (result) => [
  ['subject', 'CPU µs per request', 'added, µs'],
  ...result.rows.filter(({ subject }) => !subjectsOf(result).includes(subject)).map(({ work, subject, cpu_us: cpu }) => {
    const plain = result.rows.find((row) => row.work === work && row.subject !== subject && subject.startsWith(row.subject))
    return [subject, spread(cpu), spread(plain && cpu.map((value, round) => value - plain.cpu_us[round]))]
  }),
]

/** The cost of the first requests of a new process. */
export const startTable = ({ starts }) => [
  ['subject', 'first 500, CPU µs per request', 'first 2 000', 'process to first answer, ms', 'first answer alone, ms'],
  ...Object.entries(starts).map(([subject, one]) =>
    [subject, ...[one.first_500_us, one.first_2000_us, one.start_ms, one.first_ms].map(spread)]),
]

/** The size of each subject and its memory. */
export const sizeTable = ({ sizes, memory = {} }) => [
  ['subject', 'KB', 'KB, gzip', 'MiB after 1 000', 'after 100 000'],
  ...Object.entries(sizes).map(([subject, { raw, gzip }]) => [
    subject, digits(raw / 1000), digits(gzip / 1000), digits(memory[subject]?.first_kib / 1024), digits(memory[subject]?.last_kib / 1024),
  ]),
]

/** The crates that ours is made of, the largest. */
export const crateTable = ({ crates }) => [['crate', 'KB of code'], ...crates.map(({ crate, bytes }) => [crate, digits(bytes / 1000)])]

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value)

/** Three significant digits; more only for those before the decimal point. */
const digits = (value) => {
  if (!isNumber(value)) return NOTHING
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)))
}

/** The median, and the quartiles in brackets. */
function spread(numbers) {
  if (numbers === undefined) return NOTHING
  const { lower, median, upper } = quartiles(numbers)
  return `${digits(median)} (${digits(lower)}–${digits(upper)})`
}

/** Columns for a terminal: the first to the left, the others to the right. */
export function plain(table) {
  const widths = table[0].map((_, column) => Math.max(...table.map((row) => row[column].length)))
  return table.map((row) => row.map((cell, column) => column === 0 ? cell.padEnd(widths[0]) : cell.padStart(widths[column]))
    .join('  ').trimEnd()).join('\n')
}

/** The same in Markdown. */
export function markdown([head, ...rows]) {
  const line = (cells) => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map((_, column) => column === 0 ? '---' : '---:')), ...rows.map(line)].join('\n')
}
