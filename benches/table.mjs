// Results as tables: for a terminal, and in Markdown.

import { GOALS, ratios, rowOf, verdict } from './goals.mjs'

const NOTHING = '–'
const OURS = 'edge-mcp'

/** The ratios of a run, with the goals. */
export function ratioTable(result) {
  const others = [...new Set(result.rows.map(({ subject }) => subject))].filter((subject) => subject !== OURS)
  const works = [...new Set(result.rows.map(({ work }) => work))]
  const matrix = works.flatMap((work) => [true, false].filter((auth) => rowOf(result, work, OURS, auth)).map((auth) =>
    [`${work}${auth ? '' : ', open'}`, ...ratios(result, work, others, auth).map((ratio) => digits(ratio))]))
  return [['requests/s of edge-mcp against', ...others], ...matrix]
}

/** The goals, and how far each is. */
export const goalTable = (result) => [
  ['', 'measured', 'goal', 'least', ''],
  ...GOALS.map((goal) => {
    const value = goal.of(result)
    const bound = (number) => `${goal.atMost ? 'at most ' : ''}${number}`
    return [goal.what, digits(value), bound(goal.goal), bound(goal.least), verdict(goal, value)]
  }),
]

/** What was measured, a row for each work and subject. */
export const rowTable = ({ rows }) => [
  ['work', 'subject', 'requests/s', 'CPU µs', 'p50 µs', 'p99 µs'],
  ...rows.map(({ work, subject, auth, rps, cpu_us: cpu, p50_us: p50, p99_us: p99 }) =>
    [work, subject === OURS && !auth ? `${subject}, open` : subject, ...[rps, cpu, p50, p99].map(whole)]),
]

/** How large each subject is, how soon it answers, and what it keeps. */
export const subjectTable = ({ sizes, cold, memory = {} }) => [
  ['subject', 'KB', 'KB, gzip', 'process to first answer, ms', 'first answer alone, ms', 'MiB after 1 000', 'after 100 000'],
  ...Object.keys(sizes).map((subject) => [
    subject,
    digits(sizes[subject].raw / 1000), digits(sizes[subject].gzip / 1000),
    digits(cold[subject]?.start_ms), digits(cold[subject]?.first_ms),
    digits(memory[subject]?.first_kib / 1024), digits(memory[subject]?.last_kib / 1024),
  ]),
]

/** The crates that ours is made of, the largest. */
export const crateTable = ({ crates }) => [['crate', 'KB of code'], ...crates.map(({ crate, bytes }) => [crate, digits(bytes / 1000)])]

const isNumber = (value) => typeof value === 'number' && Number.isFinite(value)

/** To three places that count, and no fewer than there are before the point. */
const digits = (value) => {
  if (!isNumber(value)) return NOTHING
  return Math.abs(value) >= 100 ? value.toFixed(0) : String(Number(value.toPrecision(3)))
}
const whole = (value) => isNumber(value) ? value.toFixed(0) : NOTHING

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
