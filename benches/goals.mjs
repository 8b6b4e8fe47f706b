// What edge-mcp is to reach, as ratios of one run, and how far it is.

/**
 * @typedef {object} Goal
 * @property {string} what
 * @property {number} goal
 * @property {number} least what would still do
 * @property {boolean} [atMost] that less is better
 * @property {(result: object) => number | undefined} of the value in a result of the bench, where it was measured
 */

const OURS = 'edge-mcp'
const FLOOR = 'floor'
const SMALL = 'tools/call small'

/** The row of a work and a subject. Ours is meant with a token to check, which no peer has. */
export const rowOf = ({ rows }, work, subject, auth = subject === OURS) =>
  rows.find((row) => row.work === work && row.subject === subject && row.auth === auth)

const ratio = (one, other) => one > 0 && other > 0 ? one / other : undefined
const rps = (result, work, subject) => rowOf(result, work, subject)?.rps
const faster = (work, subject) => (result) => ratio(rps(result, work, OURS), rps(result, work, subject))
const sooner = (subject, member) => ({ cold }) => ratio(cold[OURS]?.[member], cold[subject]?.[member])

const fasterThanBest = (work) => (result) => {
  const others = result.rows.filter((row) => row.work === work && row.subject !== OURS && row.subject !== FLOOR && row.rps !== null)
  return others.length === 0 ? undefined : ratio(rps(result, work, OURS), Math.max(...others.map(({ rps }) => rps)))
}

/** @type {Goal[]} */
export const GOALS = [
  ...[
    ['floor', 0.80, 0.65],
    ['mcp-lite', 1.4, 1.1],
    ['turbomcp-wasm 3.6', 3.3, 2.5],
    ['sdk 1.32', 6, 5],
    ['server 2.4', 9, 8],
    ['agents 0.32', 12, 10],
    ['mastra 1.18', 7, 6],
  ].map(([subject, goal, least]) => ({ what: `${SMALL}, requests/s against ${subject}`, goal, least, of: faster(SMALL, subject) })),
  { what: 'tools/list 200, requests/s against the best peer', goal: 5, least: 3, of: fasterThanBest('tools/list 200') },
  ...[['floor', 1.6, 2], ['sdk 1.32', 0.4, 0.5]].flatMap(([subject, goal, least]) => [
    { what: `first answer after the start of the process, time against ${subject}`, goal, least, atMost: true, of: sooner(subject, 'start_ms') },
    { what: `first answer alone, time against ${subject}`, goal, least, atMost: true, of: sooner(subject, 'first_ms') },
  ]),
  { what: 'wasm of the deployed Worker, gzip, in KB', goal: 250, least: 320, atMost: true, of: ({ deployed }) => deployed && deployed.gzip / 1000 },
  { what: 'memory after 100 000 requests against after 1 000', goal: 1.1, least: 1.2, atMost: true,
    of: ({ memory }) => ratio(memory?.[OURS]?.last_kib, memory?.[OURS]?.first_kib) },
  { what: 'each further registered tool, µs per tools/call', goal: 0.2, least: 0.5, atMost: true, of: ({ per_tool: micros }) => micros },
]

/** `met`, `least`, `missed`, or `–` where nothing was measured. */
export function verdict({ goal, least, atMost }, value) {
  if (value === undefined) return '–'
  const reaches = (bound) => atMost ? value <= bound : value >= bound
  return reaches(goal) ? 'met' : reaches(least) ? 'least' : 'missed'
}

/** How many times as many requests ours answers, for each work and each of the others; `auth` says with or without a token. */
export function ratios(result, work, others, auth) {
  const ours = rowOf(result, work, OURS, auth)?.rps
  return others.map((subject) => ratio(ours, rowOf(result, work, subject)?.rps))
}
