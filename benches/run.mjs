// One run of the bench: it measures all subjects in turns, and checks the answers first.

import { execFileSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { cpus, release } from 'node:os'
import { join } from 'node:path'
import { modulesOf } from './bed.mjs'
import { client } from './client.mjs'
import { crates } from './crates.mjs'
import { gateway } from './gateway.mjs'
import { memory } from './memory.mjs'
import { perTool } from './per-tool.mjs'
import { rows } from './rows.mjs'
import { sizeOf } from './sizes.mjs'
import { starts } from './starts.mjs'
import { FRESH } from './subjects.mjs'

/**
 * @param {import('./bed.mjs').Bed} place
 * @param {import('./subjects.mjs').Subject[]} subjects
 * @param {import('./works.mjs').Work[]} works
 * @param {{ rounds: number, seconds: number, warmUp: number, starts: number, client: boolean, whole: boolean }} how `client` adds the calls
 *   of the MCP client and of a gateway, and `whole` the memory, the cost of each further tool, the size of the deployed Worker, and the crates of the module
 * @returns {Promise<object>} the content of target/bench.json
 */
export async function run(place, subjects, works, how) {
  const ready = []
  for (const subject of subjects) ready.push({ ...subject, modules: subject.modules ?? await modulesOf(place, subject) })
  const main = ready.filter(({ extra }) => !extra)

  const result = {
    date: new Date().toISOString().slice(0, 10),
    machine: machine(place.root),
    rounds: how.rounds,
    seconds: how.seconds,
    rows: await rows(place, ready, works, how),
    sizes: Object.fromEntries(main.map(({ name, modules }) => [name, sizeOf(modules)])),
    starts: await starts(place, main, how.starts),
    ...how.client && { client: await client(place, how), gateway: await gateway(place, how) },
  }
  if (!how.whole) return result
  const target = process.env.CARGO_TARGET_DIR ?? join(place.root, 'target')
  return {
    ...result,
    memory: await memory(place, main),
    per_tool: await perTool(place, main.find(({ name }) => name === FRESH), how),
    deployed: sizeOf([{ bytes: await readFile(join(place.root, 'app/build/index_bg.wasm')) }]),
    crates: crates(await readFile(join(target, 'wasm32-unknown-unknown/release/bench_server.wasm'))).slice(0, 10),
  }
}

function machine(root) {
  const version = execFileSync(join(root, 'node_modules/.bin/workerd'), ['--version'], { encoding: 'utf8' })
  return { processor: cpus()[0].model, cores: cpus().length, kernel: release(), workerd: version.trim().replace(/^workerd /, '') }
}
