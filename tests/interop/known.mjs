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
    problem: /the message is the answer to another request/,
    reason: 'The Python SDK 1.x answers an unknown request with an id of its own. The gateway needs `"revision": "2025-11-25"`.',
    fault: 'ours',
  },
  { problem: /redirects to another URL/, reason: 'The endpoint redirects `/mcp` to `/mcp/`.', fault: 'ours' },
  { problem: /^`outputSchema` differs/, reason: 'Output schemas of JSON Schema draft-07 are not published.', fault: 'ours' },
  {
    problem: /^`(recall|browser_snapshot)` answers/,
    reason: 'It keeps state in its session, and the gateway opens a session for each call.',
    fault: 'ours',
  },
  { problem: /^`title` differs/, reason: 'The title in the annotations of a tool is lost.', fault: 'ours' },
  { problem: /^templates are missing: demo:\/\/files\/\{path\*\}/, reason: 'Templates with the operator `*` are not listed.', fault: 'ours' },
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

/**
 * The problems of one subject, by its name.
 *
 * @type {Record<string, Known[]>}
 */
export const KNOWN = {
  ...Object.fromEntries(['mcp-1.9.4-sessions', 'mcp-1.9.4-stateless'].map((name) => [name, [{
    problem: /the message is the answer to another request/,
    reason: 'It answers a request with the id `"1"` with the id `1`.',
    fault: 'theirs',
  }]])),
  'mcp-1.8.1-sessions': [{
    problem: /closed the connection|cannot be reached|Internal Server Error/,
    reason: 'The end of one session (DELETE) ends all sessions of this server, and it starts no new ones.',
    fault: 'theirs',
  }],
  'mcp-1.8.1-stateless': [{
    problem: /closed the connection in the middle of its answer/,
    reason: 'It answers an unknown request with an empty event stream.',
    fault: 'ours',
  }],
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
