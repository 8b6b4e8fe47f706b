// Prepares `npm run dev`: installs the npm packages and compiles the server at the same time, writes .dev.vars, and migrates the local
// database. It repeats only what has changed.

import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'

import { bindgen } from './bindgen/install.js'
import { compile } from './build.js'
import { say } from './cargo.js'
import './secrets.js'

/** The digest of the migrations that the local database has, next to it. */
const MIGRATED = '.wrangler/state/migrated'

/** Runs a program, and shows its output only if it fails. */
function run(program, args) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, CI: 'true' }, shell: process.platform === 'win32' })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => { output += text })
    child.once('error', reject)
    child.once('close', (code) => (code === 0 ? resolve() : reject(new Error(`${output}\`${program} ${args.join(' ')}\` failed`))))
  })
}

async function migrate() {
  const digest = createHash('sha256')
  for (const name of (await readdir('migrations')).sort()) digest.update(name).update(await readFile(join('migrations', name)))
  const migrations = digest.digest('hex')
  if (existsSync(MIGRATED) && await readFile(MIGRATED, 'utf8') === migrations) return
  await run(join('node_modules/.bin/wrangler'), ['d1', 'migrations', 'apply', 'DB', '--local'])
  await mkdir('.wrangler/state', { recursive: true })
  await writeFile(MIGRATED, migrations)
}

async function installAndMigrate() {
  if (!existsSync('node_modules')) {
    say('npm ci: installing wrangler and esbuild')
    await run('npm', ['ci', '--no-audit', '--no-fund'])
  }
  if (existsSync('migrations')) await migrate()
}

const outcomes = await Promise.allSettled([installAndMigrate(), compile('quick'), bindgen()])
for (const { reason } of outcomes.filter(({ status }) => status === 'rejected')) {
  say(`setup: ${reason.message}`)
  process.exitCode = 1
}
