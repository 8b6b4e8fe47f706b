// See scripts/bench, which starts it.

import { spawnSync } from 'node:child_process'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { bed } from '../benches/bed.mjs'
import { chart } from '../benches/chart.mjs'
import { withResult } from '../benches/page.mjs'
import { run } from '../benches/run.mjs'
import { SUBJECTS } from '../benches/subjects.mjs'
import { goalTable, plain, ratioTable, rowTable, subjectTable } from '../benches/table.mjs'
import { SMALL, WORKS } from '../benches/works.mjs'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
const RESULT = join(ROOT, 'target/bench.json')
const PAGE = join(ROOT, 'docs/performance.md')
const CHART = join(ROOT, 'docs/performance.svg')

// What has been started ends with this.
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
      rounds: { type: 'string' },
      seconds: { type: 'string' },
      work: { type: 'string', multiple: true },
      subject: { type: 'string', multiple: true },
    },
  })
  const { quick } = values
  const chosen = (option, among) => {
    const unknown = values[option]?.find((name) => !among.some((one) => one.name === name))
    if (unknown !== undefined) throw new Error(`--${option} ${unknown}: there is ${[...new Set(among.map(({ name }) => name))].join(', ')}`)
    return among.filter(({ name }) => values[option]?.includes(name) ?? true)
  }
  const subjects = values.subject ? SUBJECTS : SUBJECTS.filter(({ withRust }) => !withRust || values['with-rust'])
  return {
    write: values.write,
    subjects: chosen('subject', subjects),
    works: quick && !values.work ? [SMALL] : chosen('work', WORKS),
    rounds: number('rounds', values.rounds, quick ? 3 : 5),
    seconds: number('seconds', values.seconds, quick ? 2 : 3),
    starts: quick ? 5 : 15,
    whole: !quick && !values.work && !values.subject,
  }
}

function number(name, text, otherwise) {
  if (text === undefined) return otherwise
  if (!/^[1-9]\d{0,3}$/.test(text)) throw new Error(`--${name} ${text}: not a number from 1 to 9999`)
  return Number(text)
}

async function measure({ subjects, works, ...how }) {
  const begun = performance.now()
  // What measures is not to compete with what is measured.
  const place = await bed(ROOT, (line) => console.error(line))
  spawnSync('taskset', ['-a', '-c', '-p', String(place.core.load), String(process.pid)])
  const result = await run(place, subjects, works, how)
  await mkdir(dirname(RESULT), { recursive: true })
  await writeFile(RESULT, `${JSON.stringify(result, undefined, 1)}\n`)

  for (const table of [rowTable, subjectTable, ratioTable, goalTable]) console.log(`${plain(table(result))}\n`)
  console.log(`target/bench.json, after ${Math.round((performance.now() - begun) / 1000)} s`)
}

async function write() {
  const text = await readFile(RESULT, 'utf8').catch(() => undefined)
  const result = text && JSON.parse(text)
  if (!result?.crates) throw new Error('there is no whole result in target/bench.json: run scripts/bench --with-rust first')
  await writeFile(PAGE, withResult(await readFile(PAGE, 'utf8'), result))
  await writeFile(CHART, chart(result))
}
