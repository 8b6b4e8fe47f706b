// The performance goals of edge-mcp, which scripts/bench prints. Most of them are ratios within one run.

import { quartiles, ratio } from './statistics.mjs'
import { FRESH, SHARED } from './subjects.mjs'

/**
 * @typedef {object} Goal
 * @property {string} what the name of the goal
 * @property {number} goal
 * @property {number} least the worst acceptable value
 * @property {boolean} [atMost] whether lower values are better
 * @property {(result: object) => import('./statistics.mjs').Quartiles & { work?: string } | undefined} of returns the
 *   value in a result of the bench, or `undefined` if it was not measured; `work` names the deciding workload if the goal has several
 */

const FLOOR = 'floor'
const LITE = 'mcp-lite'
const SMALL = 'tools/call small'
const KINDS = { [FRESH]: 'fresh server', [SHARED]: 'shared' }

const cpuOf = ({ rows }, work, subject) => rows.find((row) => row.work === work && row.subject === subject)?.cpu_us

/** Returns the CPU time of `other` divided by that of `ours`. Above 1, ours takes less CPU. */
export const cpuRatio = (result, work, ours, other) => ratio(cpuOf(result, work, other), cpuOf(result, work, ours))

const cpu = (work, ours, other, goal, least) => ({
  what: `${work}, ${KINDS[ours]}, against ${other}`, goal, least, of: (result) => cpuRatio(result, work, ours, other),
})

const ahead = (other) => ({
  what: `every work, ${KINDS[FRESH]}, against ${other}`, goal: 1, least: 1, of: (result) => result.rows
    .map(({ work, subject }) => subject === FRESH && { work, ...cpuRatio(result, work, FRESH, other) })
    .filter(({ lower }) => lower !== undefined)
    .sort((one, other) => one.lower - other.lower)[0],
})

const start = (what, member, ours, other, goal, least) => ({
  what: `${what}, ${KINDS[ours]}, against ${other}`, goal, least, atMost: true,
  of: ({ starts }) => ratio(starts[ours]?.[member], starts[other]?.[member]),
})

const once = (value) => value === undefined ? undefined : { lower: value, median: value, upper: value }

/**
 * The values are ratios of CPU times, unless `what` names another quantity. mcp-lite builds its server once, so it is compared with our
 * shared server. Peers that build a server for each request are compared with our fresh server. The floor is compared with both.
 *
 * @type {Goal[]}
 */
export const GOALS = [
  cpu(SMALL, SHARED, FLOOR, 0.80, 0.70),
  cpu(SMALL, SHARED, LITE, 1.3, 1.15),
  cpu(SMALL, FRESH, FLOOR, 0.72, 0.62),
  cpu(SMALL, FRESH, LITE, 1.15, 1.0),
  cpu('tools/call invalid', SHARED, LITE, 1.4, 1.2),
  cpu('tools/list 11', SHARED, LITE, 1.4, 1.2),
  cpu('tools/list 200', SHARED, LITE, 2.2, 1.8),
  cpu('tools/call 100 KB', SHARED, LITE, 1.1, 1.0),
  cpu('resources/read 1 MB', SHARED, LITE, 1.2, 1.0),
  ...['initialize', 'server/discover'].flatMap((work) => [SHARED, FRESH].map((ours) => cpu(work, ours, FLOOR, 0.85, 0.75))),
  ...['sdk 1.32', 'server 2.4', 'agents 0.32', 'mastra 1.18', 'turbomcp-wasm 3.6'].map(ahead),
  start('first 500 requests, CPU', 'first_500_us', SHARED, LITE, 1.0, 1.3),
  start('process to first answer, time', 'start_ms', SHARED, FLOOR, 1.5, 1.7),
  start('process to first answer, time', 'start_ms', FRESH, FLOOR, 1.5, 1.7),
  start('process to first answer, time', 'start_ms', SHARED, LITE, 0.9, 1.05),
  { what: 'call of another server, against the official client', goal: 1.2, least: 1.2, atMost: true,
    of: ({ client }) => client && ratio(client.own, client.official) },
  { what: 'call through a gateway, against a Worker that makes the same call', goal: 1.5, least: 1.5, atMost: true,
    of: ({ gateway }) => gateway && ratio(gateway.through, gateway.relay) },
  { what: 'list of 20 servers, against the list of one', goal: 25, least: 25, atMost: true,
    of: ({ gateway }) => gateway && ratio(gateway.list_of_many, gateway.list_of_one) },
  { what: 'list of 20 servers that answer after 50 ms, in ms', goal: 300, least: 300, atMost: true,
    of: ({ gateway }) => gateway && quartiles(gateway.delayed_ms) },
  { what: 'wasm of the deployed Worker, gzip, in KB', goal: 280, least: 300, atMost: true,
    of: ({ deployed }) => once(deployed && deployed.gzip / 1000) },
  { what: 'memory after 100 000 requests against after 1 000', goal: 1.1, least: 1.2, atMost: true,
    of: ({ memory }) => once(memory && memory[FRESH].last_kib / memory[FRESH].first_kib) },
  { what: 'each further registered tool, µs per tools/call', goal: 0.2, least: 0.5, atMost: true, of: ({ per_tool: micros }) => once(micros) },
]

/** Returns the worse quartile, which decides: three of four rounds must reach a bound. */
export const worse = ({ atMost }, { lower, upper }) => atMost ? upper : lower

/** Returns `met`, `least` or `missed`, or `–` if the goal was not measured. `found` has a value for each run. The worst value decides. */
export function verdict(goal, found) {
  const values = found.filter((quartiles) => quartiles !== undefined).map((quartiles) => worse(goal, quartiles))
  if (values.length === 0) return '–'
  const reaches = (bound) => values.every((value) => goal.atMost ? value <= bound : value >= bound)
  return reaches(goal.goal) ? 'met' : reaches(goal.least) ? 'least' : 'missed'
}
