// Load from wrk, on a core of its own, and what it costs the subject.

import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { headersOf } from './check.mjs'
import { cpuMicros } from './proc.mjs'

const run = promisify(execFile)
const SCRIPT = fileURLToPath(new URL('wrk.lua', import.meta.url))
const CONNECTIONS = 8

/**
 * One window of load.
 *
 * @param {{ pid: number, url: string }} subject
 * @param {import('./works.mjs').Work} work
 * @param {{ token?: string, seconds: number, core: number, folder: string }} how
 * @returns {Promise<{ rps: number, cpu_us: number, p50_us: number, p99_us: number }>}
 */
export async function load({ pid, url }, work, { token, seconds, core, folder }) {
  const before = await cpuMicros(pid)
  const { stdout } = await wrk(url, work, { token, seconds, core, folder, answers: 0 })
  const cpu = await cpuMicros(pid) - before
  const { requests, micros, p50, p99, errors } = JSON.parse(stdout.trim().split('\n').at(-1))
  if (errors > 0 || requests === 0) throw new Error(`${work.name}: ${errors} of ${requests} requests failed under load`)
  return { rps: requests / micros * 1e6, cpu_us: cpu / requests, p50_us: p50, p99_us: p99 }
}

/** So many answers, however long they take. */
export async function answers(count, { url }, work, { token, core, folder }) {
  await wrk(url, work, { token, seconds: 3600, core, folder, answers: count })
}

async function wrk(url, work, { token, seconds, core, folder, answers }) {
  const body = join(folder, 'body.json')
  await writeFile(body, work.body)
  return run('taskset', [
    '-c', String(core), 'wrk', '-t', '1', '-c', String(CONNECTIONS), '-d', `${seconds}s`, '--timeout', '30s', '-s', SCRIPT, url,
    '--', body, String(answers), ...Object.entries(headersOf(work, token)).flat(),
  ])
}
