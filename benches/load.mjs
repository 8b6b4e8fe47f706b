// Generates load with wrk on a separate core, and measures the CPU time of the subject.

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
 * Runs one window of load. It ends after `seconds`, or earlier after `answers` if that is not 0.
 *
 * @param {import('./bed.mjs').Bed} bed
 * @param {{ pid: number, url: string, token?: string }} process
 * @param {import('./works.mjs').Work} work
 * @param {{ seconds?: number, answers?: number }} until
 * @returns {Promise<{ requests: number, cpu_us: number, rps: number, p50_us: number, p99_us: number }>} `cpu_us` is per
 *   request. The last three are numbers only if the window ended after `seconds`
 */
export async function load({ core, folder }, { pid, url, token }, work, { seconds = 3600, answers = 0 }) {
  const body = join(folder, 'body.json')
  await writeFile(body, work.body)
  const before = await cpuMicros(pid)
  const { stdout } = await run('taskset', [
    '-c', String(core.load), 'wrk', '-t', '1', '-c', String(work.connections ?? CONNECTIONS), '-d', `${seconds}s`, '--timeout', '30s',
    '-s', SCRIPT, url, '--', body, String(answers), ...Object.entries(headersOf(work, token)).flat(),
  ])
  const cpu = await cpuMicros(pid) - before
  const { requests, micros, p50, p99, errors } = JSON.parse(stdout.trim().split('\n').at(-1))
  if (errors > 0 || requests === 0) throw new Error(`${work.name}: ${errors} of ${requests} requests failed under load`)
  return { requests, cpu_us: cpu / requests, rps: requests / micros * 1e6, p50_us: p50, p99_us: p99 }
}

const WINDOW = { answers: 3_000, seconds: 1 }
const LEAST = { answers: 12_000, seconds: 4 }
const LEVEL = 0.04

/**
 * Runs windows of load until the CPU time per request is stable: two successive windows differ by at most 4 %, after 12 000 answers or
 * 4 s. V8 optimizes a function after a number of calls, so a window ends after a number of answers. The warm-up ends after `seconds` in
 * any case.
 */
export const warmUp = (bed, process, work, seconds) => untilLevel((until) => load(bed, process, work, until), seconds)

/** The same for any function that runs a window and returns the number of answers and the CPU time per request. */
export async function untilLevel(run, seconds) {
  const begun = performance.now()
  let [answers, last, isLevel, passed] = [0, 0, false, 0]
  while (passed < seconds && !(isLevel && (answers >= LEAST.answers || passed >= LEAST.seconds))) {
    const { requests, cpu_us: cpu } = await run(WINDOW)
    isLevel = Math.abs(cpu - last) <= LEVEL * cpu
    last = cpu
    answers += requests
    passed = (performance.now() - begun) / 1000
  }
}
