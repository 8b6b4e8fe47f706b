// What is measured: each subject, and what it is made of.

/**
 * @typedef {object} Subject
 * @property {string} name as it is called in target/bench.json
 * @property {string} [peer] its entry in benches/peers/; the others are crates, built by worker-build
 * @property {string} [crate] the folder of its crate, from the repository's
 * @property {string} [build] the folder of a module that was built before, in place of its crate's
 * @property {Record<string, string>} [bindings] of its Worker, besides those that all have
 * @property {boolean} [token] that it checks a token; the others are open
 * @property {boolean} [extra] that it is measured with `tools/call small` only
 * @property {boolean} [quick] that it is part of a quick run
 * @property {boolean} [withRust] that it is built on request only
 * @property {string[]} [cannot] works that it has no answer to
 */

/** Ours, with a server built for each request, and with one built once. Each has what it is made of in common with the other. */
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

/** Another build of benches/server, beside that of this folder: its build folder, such as a copy from before a change. */
export const before = (build) => [
  { name: 'before', build },
  { name: 'before, shared', build, bindings: { SHARED: 'yes' } },
]

/** Whether a subject is asked to do a work. */
export const does = ({ cannot, extra }, work) => !cannot?.includes(work.name) && (!extra || work.name === 'tools/call small')
