// What is measured: each subject, and what it is made of.

/**
 * @typedef {object} Subject
 * @property {string} name as it is called in target/bench.json
 * @property {string} [peer] its entry in benches/peers/; the others are crates, built by worker-build
 * @property {string} [crate] the folder of its crate, from the repository's
 * @property {boolean} [auth] that it is measured with a token to check
 * @property {boolean} [withRust] that it is built on request only
 * @property {string[]} [cannot] works that it has no answer to
 */

/** @type {Subject[]} */
export const SUBJECTS = [
  { name: 'edge-mcp', crate: 'benches/server', auth: true },
  { name: 'edge-mcp', crate: 'benches/server' },
  { name: 'floor', peer: 'floor' },
  { name: 'mcp-lite', peer: 'mcp-lite', cannot: ['server/discover'] },
  { name: 'sdk 1.32', peer: 'sdk', cannot: ['server/discover'] },
  { name: 'server 2.4', peer: 'server' },
  { name: 'agents 0.32', peer: 'agents' },
  { name: 'mastra 1.18', peer: 'mastra', cannot: ['server/discover'] },
  { name: 'turbomcp-wasm 3.6', crate: 'benches/peers/turbomcp', withRust: true, cannot: ['server/discover'] },
]
