// The problems that we know, with the reason. The first pattern that matches a problem explains it. `fault` is `theirs`, `ours`, or `open` if we do
// not agree with them, or do not know. The run fails if a problem has no explanation. Remove a row that no run needs any more.

/**
 * @typedef {{ problem: RegExp, reason: string, fault: 'theirs' | 'ours' | 'open' }} Known
 * @type {Record<string, Known[]>}
 */
export const KNOWN = {}
