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
  {
    problem: /access token \((invalid|unauthorized)_client\)/,
    reason: 'The server needs the id of the client in the form too.',
    fault: 'theirs',
  },
  { problem: /^after a restart: .*Invalid client_id/, reason: 'A forgotten registration is not made again.', fault: 'ours' },
  {
    problem: /TypeError: unhashable type: 'list'|Input should be a valid string \[type=string_type, input_value=\['string', 'null'\]/,
    reason: 'It rejects `"type": ["string", "null"]`, which is valid.',
    fault: 'theirs',
  },
  {
    problem: /KeyError: 'properties'|Missing required fields in schema: \{'properties'\}/,
    reason: 'It rejects the schema of an object without `properties`, which is valid.',
    fault: 'theirs',
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
  ...of(['mcp-1.8.1-stateless'], {
    problem: /status 500|closed the connection|cannot be reached/,
    reason: 'A request with a method that it does not know ends the server. With `"revision": "2025-03-26"` it works.',
    fault: 'theirs',
  }),
  ...of(['mcp-1.9.4-stateless', 'mcp-1.10.1-sessions', 'mcp-1.10.1-stateless'], {
    problem: /the answer to another request|closed the connection in the middle of its answer/,
    reason: 'The Python SDK from 1.9 to 1.12.0 answers a request with the id `"1"` with the id `1`.',
    fault: 'theirs',
  }),
  langroid: [{
    problem: /openaipublic\.blob\.core\.windows\.net/,
    reason: 'It loads a file from openaipublic.blob.core.windows.net, which the machine of the run could not reach.',
    fault: 'open',
    isOfMachine: true,
  }],
  autogen: [{
    problem: /PydanticUndefinedAnnotation/, reason: 'It rejects `$defs` that refer to each other, which are valid.', fault: 'theirs',
  }],
}
