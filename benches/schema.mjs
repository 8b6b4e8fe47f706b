// How long checks of large values take in WebAssembly, and how long one of their steps is: `scripts/bench schema` builds the module
// and runs this.
//
// Times are CPU time of this thread, so that other processes disturb them less. A check may take 50 ms; a step should take 10 ns.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** Checks of each case, of which the fastest counts; the first ones run code that is not optimized yet. */
const CHECKS = 9

const folder = process.argv[2]
const { initSync, cases } = await import(join(folder, 'schema_bench.js'))
initSync({ module: readFileSync(join(folder, 'schema_bench_bg.wasm')) })

const now = () => {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}

/** The milliseconds that `work` takes. */
const time = (work) => {
  const begun = now()
  work()
  return now() - begun
}

const fastest = (work) => Math.min(...Array.from({ length: CHECKS }, () => time(work)))

console.log('| value | bytes | read, ms | check, ms | first check, ms | steps | ns/step | verdict |')
console.log('|---|--:|--:|--:|--:|--:|--:|---|')
for (const each of cases()) {
  const first = time(() => each.check(1)) - time(() => each.read(1))
  const read = fastest(() => each.read(1))
  // Short ones are done several times: the clock counts microseconds.
  const times = each.bytes < 100_000 ? 20 : 1
  const check = Math.max(0, (fastest(() => each.check(times)) - read) / times)
  const steps = each.check(1)
  const mistake = each.mistake()
  const verdict = mistake === undefined ? 'fits' : mistake.startsWith('this takes too long') ? 'too long' : 'does not fit'
  const cells = [each.name.replaceAll('|', '\\|'), each.bytes, read.toFixed(1), check.toFixed(1), first.toFixed(1), steps, (check * 1e6 / steps).toFixed(1), verdict]
  console.log(`| ${cells.join(' | ')} |`)
}
