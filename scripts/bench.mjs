// scripts/bench starts this module and documents it.

import { spawnSync } from 'node:child_process'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bed } from '../benches/bed.mjs'
import { chart } from '../benches/chart.mjs'
import { withRatios, withResult } from '../benches/page.mjs'
import { run } from '../benches/run.mjs'
import { before, FRESH, SHARED, SUBJECTS } from '../benches/subjects.mjs'
import { clientTable, cpuTable, extraTable, gatewayTable, goalTable, plain, rateTable, ratioTable, sizeTable, startTable } from '../benches/table.mjs'
import { SMALL, WORKS } from '../benches/works.mjs'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const resultFile = (name) => join(ROOT, 'target', name)
const [FIRST, AGAIN, COMPARED] = ['bench.json', 'bench-again.json', 'bench-compare.json'].map(resultFile)
const PAGE = join(ROOT, 'docs/performance.md')
const README = join(ROOT, 'README.md')
const CHART = join(ROOT, 'docs/performance.svg')

// process.exit also ends the child processes, because benches/workerd.mjs kills them on exit.
for (const [signal, status] of [['SIGINT', 130], ['SIGTERM', 143], ['SIGHUP', 129]]) process.once(signal, () => process.exit(status))

try {
  const options = readArguments()
  await (options.write ? write() : measure(options))
} catch (error) {
  console.error(`bench: ${error.message}`)
  process.exitCode = 1
}

function readArguments() {
  const { values } = parseArgs({
    options: {
      quick: { type: 'boolean', default: false },
      'with-rust': { type: 'boolean', default: false },
      write: { type: 'boolean', default: false },
      again: { type: 'boolean', default: false },
      client: { type: 'boolean', default: false },
      compare: { type: 'string' },
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      starts: { type: 'string' },
      work: { type: 'string', multiple: true },
      subject: { type: 'string', multiple: true },
    },
  })
  const { client, quick, compare } = values
  const chosen = (option, among) => {
    const unknown = values[option]?.find((name) => !among.some((one) => one.name === name))
    if (unknown !== undefined) throw new Error(`--${option} must be one of: ${among.map(({ name }) => name).join('; ')} (got ${unknown})`)
    return among.filter(({ name }) => values[option].includes(name))
  }
  const usual = ({ name, withRust, quick: isQuick }) =>
    compare ? name === FRESH || name === SHARED : (!withRust || values['with-rust']) && (!quick || isQuick)
  const whole = !quick && !compare && !client && !values.work && !values.subject
  const subjects = client ? [] : values.subject ? chosen('subject', SUBJECTS) : SUBJECTS.filter(usual)
  return {
    write: values.write,
    subjects: compare ? [...before(resolve(compare)), ...subjects] : subjects,
    works: client ? [] : values.work ? chosen('work', WORKS) : quick ? [SMALL] : WORKS,
    file: compare ? COMPARED : values.again ? AGAIN : FIRST,
    rounds: number('rounds', values.rounds, quick ? 7 : 9),
    seconds: number('seconds', values.seconds, 1),
    warmUp: 8,
    starts: number('starts', values.starts, quick ? 5 : 11),
    client: client || whole,
    whole,
  }
}

function number(name, text, otherwise) {
  if (text === undefined) return otherwise
  const [least, pattern] = name === 'starts' ? [0, /^\d{1,4}$/] : [1, /^[1-9]\d{0,3}$/]
  if (!pattern.test(text)) throw new Error(`--${name} must be a number from ${least} to 9999 (got ${text})`)
  return Number(text)
}

async function measure({ subjects, works, file, ...how }) {
  const begun = performance.now()
  // The process that measures runs on the core of the load, so that it does not compete with the subjects.
  const place = await bed(ROOT, (line) => console.error(line))
  spawnSync('taskset', ['-a', '-c', '-p', String(place.core.load), String(process.pid)])
  const result = await run(place, subjects, works, how)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `${JSON.stringify(result)}\n`)
  // The result of an --again run belongs to the previous complete run, so a new run deletes this result.
  if (file === FIRST) await rm(AGAIN, { force: true })

  const tables = [cpuTable, rateTable, extraTable, startTable, sizeTable, ratioTable, clientTable, gatewayTable].map((table) => table(result))
  if (file !== COMPARED) tables.push(goalTable(file === FIRST ? [result] : await results()))
  // Skip tables that have only a header row.
  for (const table of tables.filter(({ length }) => length > 1)) console.log(`${plain(table)}\n`)
  console.log(`wrote ${relative(ROOT, file)} after ${Math.round((performance.now() - begun) / 1000)} s`)
}

/** Returns the results of the last run and, if it exists, of its --again run. */
async function results() {
  const texts = await Promise.all([FIRST, AGAIN].map((file) => readFile(file, 'utf8').catch(() => undefined)))
  return texts.filter((text) => text !== undefined).map((text) => JSON.parse(text))
}

async function write() {
  const [result] = await results()
  if (result?.crates === undefined || result.sizes['turbomcp-wasm 3.6'] === undefined) throw new Error('target/bench.json is not from a complete run: run scripts/bench --with-rust first')
  await writeFile(PAGE, withResult(await readFile(PAGE, 'utf8'), result))
  await writeFile(README, withRatios(await readFile(README, 'utf8'), result))
  await writeFile(CHART, chart(result))
}
