// Measures in WebAssembly the recall of a search by vectors in two stages, and the time of each stage. `scripts/bench rag` builds the module
// and runs this script.
//
// The scan of the codes should take at most 4 times as long as a read of the same bytes in the same module. The recall of the first 10
// results should be at least 0.97.

import { load } from '../module.mjs'

/** The shortest duration of a measurement in milliseconds. It repeats the work, because the clock has a limited resolution. */
const SHORTEST = 5

/** The number of measurements. The fastest one counts, because the first ones run code that V8 has not optimized yet. */
const TIMES = 15

const { Search, recall_of: recallOf } = await load(process.argv[2])

const time = (work, times) => {
  const begun = performance.now()
  for (let nth = 0; nth < times; nth++) work()
  return performance.now() - begun
}

/** Returns the time of `work` in milliseconds. */
const fastest = (work) => {
  let times = 1
  while (time(work, times) < SHORTEST) times *= 2
  return Math.min(...Array.from({ length: TIMES }, () => time(work, times))) / times
}

console.log('| rows | dimensions | bytes | scan, ms | read, ms | scan/read (goal: 4) | candidates, ms |')
console.log('|--:|--:|--:|--:|--:|--:|--:|')
for (const dimensions of [384, 768, 1024]) {
  for (const rows of [1000, 10_000, 50_000]) {
    const search = new Search(rows, dimensions)
    const [scan, read, compare] = [() => search.scan(), () => search.read(), () => search.compare()].map(fastest)
    const cells = [rows, dimensions, search.bytes, scan.toFixed(3), read.toFixed(3), (scan / read).toFixed(1), compare.toFixed(2)]
    console.log(`| ${cells.join(' | ')} |`)
    search.free()
  }
}
console.log()

console.log('| rows | dimensions | common direction | recall@10 (goal: 0.97) |')
console.log('|--:|--:|---|--:|')
for (const rows of [10_000, 40_000]) {
  for (const common of [false, true]) {
    console.log(`| ${rows} | 768 | ${common ? 'yes' : 'no'} | ${recallOf(rows, 768, common, 50, 1024, 0).toFixed(3)} |`)
  }
}
