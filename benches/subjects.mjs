// What is measured: each subject, and what it is made of.

/**
 * @typedef {object} Subject
 * @property {string} name as it is called in target/bench.json
 * @property {string} [peer] its entry in benches/peers/; the others are crates, built by worker-build
 * @property {string} [crate] the folder of its crate, relative to the repository
 * @property {string} [build] the folder of a module that is already built, in place of a crate
 * @property {Record<string, string>} [bindings] of its Worker, in addition to those of all subjects
 * @property {boolean} [token] whether it checks a token; the others are open
 * @property {boolean} [extra] whether it is measured with `tools/call small` only
 * @property {boolean} [quick] whether it is part of a quick run
 * @property {boolean} [withRust] whether it is measured on request only
 * @property {string[]} [cannot] works that it does not support
 */

/** The two of this library: the first builds a server for each request, the second builds it once. */
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
  { name: 'floor, log line', peer: 'floor', bindings: LOG, extra: true },
  { name: 'mcp-lite, log line', peer: 'mcp-lite', bindings: LOG, extra: true },
]

/** Another build of benches/server, such as a copy from before a change. `build` is its folder. */
export const before = (build) => [
  { name: 'before', build },
  { name: 'before, shared', build, bindings: { SHARED: 'yes' } },
]

/** Whether a subject is measured with a work. */
export const does = ({ cannot, extra }, work) => !cannot?.includes(work.name) && (!extra || work.name === 'tools/call small')
