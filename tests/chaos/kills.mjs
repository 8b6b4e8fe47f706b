// Kills workerd again and again while tasks run in it, and checks that each task ends correctly.

import { setTimeout as sleep } from 'node:timers/promises'

import { startWorkerd } from '../e2e/workerd.mjs'
import { startEffects } from './effects.mjs'
import { send } from './tasks.mjs'

const FAULTS = ['after-begin', 'after-effect', 'after-result', 'before-reply']

/** The number of tasks that run at the same time. */
const AT_ONCE = 8
/** The time in milliseconds after the last kill within which all tasks must end. */
const LIMIT = 60_000

/**
 * Runs tasks, and kills workerd `kills` times.
 *
 * @param {object} options
 * @param {number} options.kills
 * @param {number} options.seed the seed of the random times and tasks
 * @param {(counts: Counts) => void} [options.report] is called after each kill
 * @returns {Promise<Counts & { failures: string[], logs: string }>} `failures` describes each mistake
 *
 * @typedef {object} Counts
 * @property {number} kills the number of kills so far
 * @property {number} tasks the number of tasks that have ended
 * @property {number} effects the number of effects
 * @property {number} repeated the number of effects that were repeated with the same key
 * @property {number} panics the number of panics
 * @property {number} asked the number of tasks that asked
 */
export async function killRun({ kills, seed, report = () => {} }) {
  const random = randomOf(seed)
  const between = (least, most) => least + Math.floor(random() * (most - least + 1))
  const effects = await startEffects()
  const worker = await startWorkerd({ objects: 'disk' })
  const counts = { kills: 0, tasks: 0, effects: 0, repeated: 0, panics: 0, asked: 0 }
  const failures = []
  const ended = []
  let isOver = false
  let deadline = Infinity

  /** Repeats a request until the server answers it. `beforeRepeat` may change its parameters. */
  const answered = async (method, params, beforeRepeat = () => {}) => {
    for (;;) {
      const answer = await send(worker, method, params).catch(() => undefined)
      // A request can be interrupted like a task.
      const isInterrupted = !answer || answer.status >= 500 || answer.body.error?.code === -32603
      if (!isInterrupted) return answer.body
      if (Date.now() > deadline) throw new Error(`${method} has no answer: ${JSON.stringify(answer?.body)}`)
      await sleep(50)
      beforeRepeat()
    }
  }

  const newJob = (number) => ({
    name: `job-${number}`, effects: effects.url, steps: between(3, 10), ms: between(0, 80), pause_ms: between(0, 3) === 0 ? between(10, 400) : 0,
    is_parallel: between(0, 3) === 0, asks: between(0, 3) === 0, ...(between(0, 2) === 0 ? { fault: FAULTS[number % FAULTS.length] } : {}),
  })

  /** Calls the tool, and follows its task to its end. Returns the task. */
  const follow = async (job) => {
    // The server has no authentication, so a repeated call is a new task. The task of a call whose answer is lost goes on, too.
    const { result, error } = await answered('tools/call', { name: 'job', arguments: job }, () => { job.name += '-again' })
    if (result?.resultType !== 'task') throw new Error(`no task: ${JSON.stringify(result ?? error)}`)
    const { taskId } = result
    for (;;) {
      const { result: task, error } = await answered('tasks/get', { taskId })
      if (error) throw new Error(`the task is lost: ${JSON.stringify(error)}`)
      if (task.status === 'input_required') {
        const answer = { action: 'accept', content: { confirm: true } }
        const inputResponses = Object.fromEntries(Object.keys(task.inputRequests).map((key) => [key, answer]))
        await answered('tasks/update', { taskId, inputResponses })
      } else if (task.status !== 'working') {
        return task
      }
      if (Date.now() > deadline) throw new Error(`the task does not end: ${JSON.stringify(task)}`)
      await sleep(100)
    }
  }

  /** Returns the mistakes in an end of a job, or `undefined`. */
  const mistakesOf = (job, task) => {
    const done = effects.of(job.name)
    counts.effects += done.reduce((sum, { count }) => sum + count, 0)
    counts.repeated += done.reduce((sum, { count }) => sum + count - 1, 0)
    if (task.status !== 'completed' || task.result.isError) return `ended as ${JSON.stringify(task)}`
    // Each step has one key.
    const steps = done.map(({ step }) => step).sort((a, b) => a - b)
    if (`${steps}` !== `${Array.from({ length: job.steps }, (_, nth) => nth)}`) return `has the effects ${JSON.stringify(done)}`
    const receipts = [...done].sort((a, b) => a.step - b.step).map(({ receipt }) => receipt).join(' ')
    const [{ text }] = task.result.content
    return text === receipts ? undefined : `has the result ${text}, not ${receipts}`
  }

  let number = 0
  const clients = Array.from({ length: AT_ONCE }, async () => {
    while (!isOver) {
      const job = newJob(number++)
      if (job.asks) counts.asked += 1
      try {
        const task = await follow(job)
        const mistake = mistakesOf(job, task)
        if (mistake) failures.push(`${JSON.stringify(job)} ${mistake}`)
        ended.push(task)
      } catch (error) {
        failures.push(`${JSON.stringify(job)} ${error.message}`)
      }
      counts.tasks += 1
      counts.panics = effects.panics
    }
  })

  try {
    while (counts.kills < kills) {
      // Some processes live only for a moment. But a task stops after five attempts in which no step finishes, so most of them live longer.
      await sleep(between(0, 7) === 0 ? between(0, 150) : between(150, 2500))
      await worker.kill()
      counts.kills += 1
      report(counts)
      await worker.start()
    }
    isOver = true
    deadline = Date.now() + LIMIT
    await Promise.all(clients)
    // An end is final.
    await worker.kill()
    await worker.start()
    for (const task of ended) {
      const { result } = await answered('tasks/get', { taskId: task.taskId })
      const [before, after] = [task, result].map((it) => JSON.stringify([it?.status, it?.result]))
      if (before !== after) failures.push(`${before} has become ${after}`)
    }
    return { ...counts, failures, logs: worker.logs() }
  } finally {
    isOver = true
    deadline = 0
    await worker.stop()
    effects.stop()
  }
}

/** Returns a generator of random numbers from 0 to 1 (mulberry32). */
function randomOf(seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}
