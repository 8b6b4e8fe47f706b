// Measures in WebAssembly how long checks of large values take, how long one step of a check takes, and the time and the memory for schemas
// of hostile servers. `scripts/bench schema` builds the module and runs this script.
//
// Times are CPU times of this thread, so that other processes affect them less. A check may take 50 ms, and a step should take 10 ns.

import { load } from './module.mjs'

/** The number of checks of each case. The fastest check counts, because the first checks run code that V8 has not optimized yet. */
const CHECKS = 9

/** The number of compilations that are measured together, because some clocks have a resolution of 4 ms. */
const COMPILATIONS = 20

const { memory, cases, foreign_schemas: foreignSchemas } = await load(process.argv[2])

const now = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** Returns the CPU time of `work` in milliseconds. */
const time = (work) => {
  const begun = now()
  work()
  return now() - begun
}

const fastest = (work) => Math.min(...Array.from({ length: CHECKS }, () => time(work)))

// These schemas are measured first, because linear memory never shrinks. The growth is that of all schemas so far.
const all = foreignSchemas()
const before = memory.buffer.byteLength
console.log('| schema of another server | bytes | first, with parsing, ms | compilation, ms | steps | ns/step | enforced | growth of the memory, MiB |')
console.log('|---|--:|--:|--:|--:|--:|---|--:|')
for (const each of all) {
  const begun = performance.now()
  each.compile()
  const first = performance.now() - begun
  const repeated = (work) => fastest(() => { for (let nth = 0; nth < COMPILATIONS; nth++) work() }) / COMPILATIONS
  const compile = Math.max(0, repeated(() => each.compile()) - repeated(() => each.read()))
  const [steps, growth] = [each.compile(), (memory.buffer.byteLength - before) / 2 ** 20]
  const cells = [each.name, each.bytes, first.toFixed(1), compile.toFixed(1), steps, (compile * 1e6 / steps).toFixed(1), each.is_enforced() ? 'yes' : 'no', growth.toFixed(1)]
  console.log(`| ${cells.join(' | ')} |`)
}
console.log()

console.log('| value | bytes | read, ms | check, ms | first check, ms | steps | ns/step | verdict |')
console.log('|---|--:|--:|--:|--:|--:|--:|---|')
for (const each of cases()) {
  const first = time(() => each.check(1)) - time(() => each.read(1))
  const read = fastest(() => each.read(1))
  // The clock counts microseconds, so short checks run several times.
  const times = each.bytes < 100_000 ? 20 : 1
  const check = Math.max(0, (fastest(() => each.check(times)) - read) / times)
  const steps = each.check(1)
  const mistake = each.mistake()
  const verdict = mistake === undefined ? 'fits' : mistake.startsWith('this takes too long') ? 'too long' : 'does not fit'
  const cells = [each.name.replaceAll('|', '\\|'), each.bytes, read.toFixed(1), check.toFixed(1), first.toFixed(1), steps, (check * 1e6 / steps).toFixed(1), verdict]
  console.log(`| ${cells.join(' | ')} |`)
}
