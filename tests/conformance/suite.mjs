// Runs the official conformance suite.

import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { promisify } from 'node:util'

import { ROOT } from '../e2e/worker.mjs'

const run = promisify(execFile)
const SUITE = join(ROOT, 'node_modules/@modelcontextprotocol/conformance/dist/index.js')

/**
 * Runs the suite. It writes its results to `folder`.
 *
 * @returns {Promise<{ code: number, stdout: string, outcomes: Map<string, boolean> }>} its exit status, its output, and whether each
 *   scenario passed
 */
export async function suite(folder, ...args) {
  const { code = 0, stdout } = await run(process.execPath, [SUITE, ...args, '-o', folder],
    { cwd: ROOT, timeout: 300_000, maxBuffer: 1e8 }).catch((error) => error)
  const outcomes = new Map([...String(stdout).matchAll(/^([✓✗]) ([\w/-]+): /gm)].map(([, mark, name]) => [name, mark === '✓']))
  return { code, stdout, outcomes }
}

/** Runs the server scenarios against a Worker. The suite requires the host name localhost. */
export const ofServer = (folder, { url }, ...args) =>
  suite(folder, 'server', '--url', url.replace('127.0.0.1', 'localhost'), ...args)
