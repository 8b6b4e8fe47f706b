// The subjects of the bench.

/**
 * @typedef {object} Subject
 * @property {string} name its name in target/bench.json
 * @property {string} [peer] its entry in benches/peers/. Subjects without it are crates, which scripts/build builds
 * @property {string} [crate] the folder of its crate, relative to the repository
 * @property {string} [build] the folder of a module that is already built, instead of a crate
 * @property {Record<string, string>} [bindings] additional bindings of its Worker
 * @property {boolean} [token] whether it checks a token. Otherwise callers need no token
 * @property {boolean} [extra] whether it is measured with `tools/call small` only
 * @property {boolean} [quick] whether it is part of a quick run
 * @property {boolean} [withRust] whether it is measured on request only
 * @property {string[]} [cannot] the workloads that it does not support
 */

/** The two subjects of this library. The first builds a server for each request, and the second builds it once. */
export const FRESH = 'edge-mcp'
export const SHARED = 'edge-mcp, shared'
export const isOurs = (name) => name.startsWith(FRESH)

const ours = { crate: 'benches/server' }
const LOG = { LOG: 'yes' }

/** @type {Subject[]} */
export const SUBJECTS = [
  { name: FRESH, ...ours, quick: true },
  { name: SHARED, ...ours, bindings: { SHARED: 'yes' }, quick: true },
  { name: 'floor', peer: 'floor', quick: true },
  { name: 'mcp-lite', peer: 'mcp-lite', quick: true, cannot: ['server/discover'] },
  { name: 'sdk 1.32', peer: 'sdk', quick: true, cannot: ['server/discover'] },
  { name: 'server 2.4', peer: 'server' },
  { name: 'agents 0.32', peer: 'agents' },
  { name: 'mastra 1.18', peer: 'mastra', cannot: ['server/discover'] },
  { name: 'turbomcp-wasm 3.6', crate: 'benches/peers/turbomcp', withRust: true, cannot: ['server/discover'] },
  { name: `${FRESH}, token`, ...ours, token: true, extra: true },
  { name: `${FRESH}, log line`, ...ours, bindings: LOG, extra: true },
  { name: `${FRESH}, tracing`, crate: 'benches/traced', extra: true },
  { name: 'floor, log line', peer: 'floor', bindings: LOG, extra: true },
  { name: 'mcp-lite, log line', peer: 'mcp-lite', bindings: LOG, extra: true },
]

/** Returns the subjects for another build of benches/server, such as a copy from before a change. `build` is its folder. */
export const before = (build) => [
  { name: 'before', build },
  { name: 'before, shared', build, bindings: { SHARED: 'yes' } },
]

/** Returns whether the bench measures a subject with a workload. */
export const supports = ({ cannot, extra }, work) => !cannot?.includes(work.name) && (!extra || work.name === 'tools/call small')
