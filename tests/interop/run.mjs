// Runs subjects one after another, keeps their results, and prints the tables. See scripts/interop.

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { ROOT } from '../e2e/worker.mjs'
import { judgeClient, startTargets } from './clients.mjs'
import { HOME, install } from './install.mjs'
import { judgeSignIn } from './sign-ins.mjs'
import { judgeServer, stopPeers } from './servers.mjs'
import { COMMON, KNOWN } from './known.mjs'
import { SUBJECTS } from './subjects.mjs'
import { tables, verdict, withTables } from './table.mjs'

const RESULTS = join(HOME, 'results.json')
const PAGE = join(ROOT, 'docs/compatibility.md')

const args = process.argv.slice(2)
const names = args.filter((argument) => !argument.startsWith('--'))
const unknown = names.filter((name) => !SUBJECTS.some((subject) => [subject.name, subject.kind].includes(name)))
if (unknown.length > 0) {
  console.error(`interop: unknown names: ${unknown.join(', ')}. The names are:\n${SUBJECTS.map(({ kind, name }) => `  ${kind}  ${name}`).join('\n')}`)
  process.exit(2)
}

let targets
const JUDGES = {
  server: judgeServer,
  client: async (subject) => judgeClient(subject, targets ??= await startTargets()),
  'sign-in': judgeSignIn,
}

/** Installs and judges a subject. A subject that cannot be installed is a row too. */
async function resultOf(subject) {
  const date = new Date().toISOString().slice(0, 10)
  if (subject.packages) {
    try {
      await install(subject)
    } catch (error) {
      return { date, status: 'not installed', problems: [], reason: error.stderr || error.message }
    }
  }
  try {
    return { date, status: 'done', ...await JUDGES[subject.kind](subject) }
  } catch (error) {
    return { date, status: 'not started', problems: [], reason: error.message }
  }
}

const results = JSON.parse(await readFile(RESULTS, 'utf8').catch(() => '{}'))
const chosen = SUBJECTS.filter(({ kind, name }) => names.length === 0 || names.includes(name) || names.includes(kind))
let unexplained = 0
if (!args.includes('--table')) {
  for (const subject of chosen) {
    const begun = Date.now()
    const result = await resultOf(subject)
    results[subject.name] = result
    const found = verdict(result, subject.known)
    unexplained += found.unexplained.length
    console.error(`${subject.kind} ${subject.name}: ${found.word} (${Math.round((Date.now() - begun) / 1000)} s)`)
    for (const problem of found.unexplained) console.error(`    ${problem.replaceAll('\n', '\n    ')}`)
    if (result.reason) console.error(`    ${result.reason.trim().split('\n').slice(0, 20).join('\n    ')}`)
    await writeFile(RESULTS, JSON.stringify(results, null, 1))
  }
}
const used = new Set(SUBJECTS.flatMap(({ name, known }) => (results[name] ? verdict(results[name], known).used : [])))
const unused = [...new Set([...COMMON, ...Object.values(KNOWN).flat()])].filter((row) => !used.has(row))
if (names.length === 0) for (const { problem } of unused) console.error(`tests/interop/known.mjs: no subject needs ${problem}. Remove it`)
await targets?.stop()
await stopPeers()
const text = tables(args.includes('--table') ? SUBJECTS : chosen, results)
if (args.includes('--write')) await writeFile(PAGE, withTables(await readFile(PAGE, 'utf8'), tables(SUBJECTS, results)))
else console.log(text)
process.exit(unexplained > 0 ? 1 : 0)
