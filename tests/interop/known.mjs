// The problems that we know, with the reason. The first pattern that matches a problem explains it. `fault` is `theirs`, `ours`, or `open` if
// nobody is wrong, or if we do not know. The run fails if a problem has no explanation, and a run of all subjects lists the rows that it did
// not need.

/**
 * @typedef {object} Known
 * @property {RegExp} problem
 * @property {string} reason
 * @property {'theirs' | 'ours' | 'open'} fault
 * @property {boolean} [isOfMachine] whether the subject could not run on the machine
 */

/**
 * Problems of several subjects.
 *
 * @type {Known[]}
 */
export const COMMON = [
  {
    problem: /^`(recall|browser_snapshot)` answers/,
    reason: 'It keeps state in its session, and the gateway opens a session for each call.',
    fault: 'ours',
  },
]

/** Returns a problem of several subjects, by their names. */
const of = (names, known) => Object.fromEntries(names.map((name) => [name, [known]]))

/**
 * The problems of one subject, by its name.
 *
 * @type {Record<string, Known[]>}
 */
export const KNOWN = {
  ...of(['mcp-1.8.1-sessions', 'mcp-1.9.4-sessions'], {
    problem: /status 500|closed the connection|cannot be reached/,
    reason: 'The end of one session (DELETE) ends all sessions of the server, and then it cannot begin new ones.',
    fault: 'theirs',
  }),
  'mcp-1.8.1-stateless': [{
    problem: /status 500|closed the connection|cannot be reached/,
    reason: 'A request with a method that it does not know ends the server. With `"revision": "2025-03-26"` it works.',
    fault: 'theirs',
  }],
  langroid: [{
    problem: /openaipublic\.blob\.core\.windows\.net/,
    reason: 'It loads a file from openaipublic.blob.core.windows.net, which the machine of the run could not reach.',
    fault: 'open',
    isOfMachine: true,
  }],
}
