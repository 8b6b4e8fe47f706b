// Runs many tasks at the same time, and measures their polls.

import { existsSync } from 'node:fs'
import { performance } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'

import { cpuMicros, residentKib } from '../../benches/proc.mjs'
import { startWorkerd } from '../e2e/workerd.mjs'
import { callTool, getTask, startTask, until } from './tasks.mjs'

const STEPS = 10
/** The wait in each step, in milliseconds. */
const WAIT = 50
const POLLS = 5

/**
 * Runs tasks in one workerd.
 *
 * @param {{ tasks: number, atOnce: number }} options `atOnce` is the number of tasks that run at the same time
 * @returns {Promise<Load>}
 *
 * @typedef {object} Load
 * @property {string[]} failures describes each mistake
 * @property {number} seconds the duration
 * @property {number} cpu the CPU time of workerd, in seconds
 * @property {number} polls the number of polls, of which `p50` and `p99` are the times in milliseconds
 * @property {number} p50
 * @property {number} p99
 * @property {number} before the resident memory of workerd before the run, in KiB
 * @property {number} after the memory after the run
 */
export async function loadRun({ tasks, atOnce }) {
  // Every step waits for the disk. A folder in memory measures the server, not the disk of this machine. TMPDIR overrides it.
  if (existsSync('/dev/shm')) process.env.TMPDIR ??= '/dev/shm'
  const worker = await startWorkerd({ objects: 'disk' })
  try {
    const failures = []
    const times = []
    const [before, cpuBefore] = [await residentKib(worker.pid), await cpuMicros(worker.pid)]
    const begun = performance.now()
    let next = 0
    const client = async () => {
      while (next < tasks) {
        const name = `load-${next++}`
        try {
          const task = await one(worker, name, times)
          const expected = Array.from({ length: STEPS }, (_, nth) => `${name}/${nth}`).join(' ')
          if (task.status !== 'completed' || task.result.content[0].text !== expected) failures.push(`${name} ended as ${JSON.stringify(task)}`)
        } catch (error) {
          failures.push(`${name}: ${error.message}`)
        }
      }
    }
    await Promise.all(Array.from({ length: atOnce }, client))
    const seconds = (performance.now() - begun) / 1000
    const cpu = (await cpuMicros(worker.pid) - cpuBefore) / 1e6
    // The isolate counts the runs of the steps.
    const { content: [{ text }] } = await callTool(worker, 'runs')
    const [steps, most] = text.split(' ').map(Number)
    if (steps !== tasks * STEPS || most !== 1) failures.push(`${steps} steps ran, one of them ${most} times`)
    times.sort((a, b) => a - b)
    const quantile = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))]
    const after = await residentKib(worker.pid)
    return { failures, seconds, cpu, polls: times.length, p50: quantile(0.5), p99: quantile(0.99), before, after }
  } finally {
    await worker.stop()
  }
}

/** Runs one task, and polls it while it runs. Returns its end. */
async function one(worker, name, times) {
  const taskId = await startTask(worker, 'job', { name, steps: STEPS, ms: WAIT })
  for (let poll = 0; poll < POLLS; poll++) {
    await sleep(STEPS * WAIT / POLLS)
    const begun = performance.now()
    await getTask(worker, taskId)
    times.push(performance.now() - begun)
  }
  return until(worker, taskId)
}
