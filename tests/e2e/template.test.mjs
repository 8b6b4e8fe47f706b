// Tests a server with retrieval that scripts/new creates outside the repository: its native tests, and the commands of its README. A server
// without retrieval has the same code but for some lines, so only its native tests run.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { copyFile, mkdtemp, readFile, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { startHost } from './apps/host.mjs'
import { cargoProfile } from '../../scripts/lib/workers.mjs'
import { ROOT } from './worker.mjs'

const run = promisify(execFile)

const folder = await mkdtemp(join(tmpdir(), 'edge-mcp-template-'))
const home = join(folder, 'desks')
const manifest = await readFile(join(ROOT, 'Cargo.toml'), 'utf8')
const choice = join(ROOT, '.tools/wasm-toolchain')
const isDebian = existsSync(choice) && (await readFile(choice, 'utf8')).trim() === 'debian'
const TARGET = process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target')
const environment = {
  ...process.env,
  PATH: [...(isDebian ? ['/usr/bin'] : []), process.env.PATH].join(delimiter),
  // The server shares the compiled dependencies of the Workers in this repository.
  CARGO_TARGET_DIR: TARGET,
  CARGO_BUILD_BUILD_DIR: TARGET,
  CARGO_NET_OFFLINE: 'true',
  WRANGLER_SEND_METRICS: 'false',
  CLOUDFLARE_CF_FETCH_ENABLED: 'false',
  NO_COLOR: '1',
}

const freePort = () => new Promise((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address()
    server.close(() => resolve(port))
  })
})

let child
let output = ''
let origin
process.on('exit', () => {
  if (child?.exitCode === null) process.kill(-child.pid, 'SIGKILL')
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})

before(async () => {
  await run(join(ROOT, 'scripts/new'), [home, '--rag'])
  await shareDependencies()
  await shareLibrary()
  // The link replaces `npm ci`. The packages of the repository have the same versions.
  await symlink(join(ROOT, 'node_modules'), join(home, 'node_modules'))
  const port = await freePort()
  origin = `http://127.0.0.1:${port}`
  child = spawn('npm', ['run', 'dev', '--', '--port', String(port), '--inspector-port', '0', '--show-interactive-dev-session=false'],
    { cwd: home, env: environment, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => { output += text })
})
after(() => process.kill(-child.pid, 'SIGKILL'))

/** Replaces texts in a file of a server. */
async function edit(server, file, ...changes) {
  let text = await readFile(join(server, file), 'utf8')
  for (const [from, to] of changes) {
    assert.ok(text.includes(from), `${file} has ${from}`)
    text = text.replace(from, to)
  }
  await writeFile(join(server, file), text)
}

/**
 * Lets a server share what cargo has compiled for the Workers of this repository: it gets the profiles of this repository, and the features of
 * these Workers. Without features that it does not use, a server has less code, but no other code.
 */
async function shareDependencies() {
  const file = join(home, 'Cargo.toml')
  const profiles = ['dev', 'dev.package', 'dev.build-override', 'quick'].map((name) => {
    const start = manifest.indexOf(`[profile.${name}]`)
    assert.ok(start >= 0, name)
    return manifest.slice(start, manifest.indexOf('\n\n', start))
  })
  const features = '["client", "page", "rag", "tasks", "worker"]'
  const own = (await readFile(file, 'utf8')).replace(/^\[profile\.quick\]\n(?:.+\n)*/m, '')
    .replace(/^(edge-mcp = \{ path = "[^"]*").*/m, `$1, default-features = false, features = ${features} }`)
  await writeFile(file, `${own}\n${profiles.join('\n\n')}\n`)
  const profile = cargoProfile('quick')
  await edit(home, 'wrangler.toml', ['"node scripts/build.js"', `"node scripts/build.js ${profile}"`])
  await edit(home, 'scripts/setup.js', ["compile('quick')", `compile('${profile}')`])
}

/**
 * Makes the folder another root of the workspace of this repository, with the new servers as members. cargo names what it compiles after the
 * path of its package in the workspace, so the native tests of the servers use the library that `core` has compiled.
 */
async function shareLibrary() {
  for (const name of ['crates', 'src', 'tests']) await symlink(join(ROOT, name), join(folder, name))
  await copyFile(join(ROOT, 'Cargo.lock'), join(folder, 'Cargo.lock'))
  // A profile must not name packages that this workspace does not have.
  await writeFile(join(folder, 'Cargo.toml'), manifest.replace(/^members = .*/m, 'members = ["native-*"]\nexclude = ["desks"]')
    .replace(/^\[profile\.release\.package\]\n(?:.+\n)*/m, ''))
}

/** Creates a server in this workspace. */
async function createNative(kind, options) {
  const created = join(folder, `native-${kind}`)
  await run(join(ROOT, 'scripts/new'), [created, ...options])
  const file = join(created, 'Cargo.toml')
  // Only the root of a workspace has profiles. The feature of `futures` is one of the tests of the library.
  const own = (await readFile(file, 'utf8')).replace(/^\[(workspace|profile\.\w+)\]\n(?:.+\n)*/gm, '')
    .replace(/^edge-mcp = \{ path = "[^"]*".*/m, 'edge-mcp = { path = "..", features = ["gateway", "rag", "tasks"] }')
    .replace('[dev-dependencies]\n', '$&futures = { workspace = true, features = ["executor"] }\n')
  assert.ok(['path = ".."', 'executor'].every((part) => own.includes(part)) && !own.includes('[profile'), own)
  await writeFile(file, own)
  return created
}

/** Waits until the server answers. `npm run dev` builds the server first. */
async function untilServed() {
  while (child.exitCode === null) {
    const response = await fetch(origin).catch(() => undefined)
    if (response) return response.arrayBuffer()
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  throw new Error(`npm run dev ended:\n${output}`)
}

for (const [kind, options] of [['with', ['--rag']], ['without', []], ['empty', ['--empty']]]) {
  test(`the code of a new server with the options [${options}] is formatted, and its native tests pass`, async () => {
    const created = await createNative(kind, options)
    await run('cargo', ['fmt', '--check'], { cwd: created })
    const { stdout, stderr } = await run('npm', ['test'], { cwd: created, env: environment })
    assert.match(stdout, /^test result: ok\. [1-9]\d* passed; 0 failed/m)
    assert.doesNotMatch(stderr, /^warning/m)
  })
}

test('npm run check names each rule that the new server breaks', async () => {
  const created = join(folder, 'native-without')
  await copyFile(join(ROOT, 'tests/e2e/broken-rules.rs'), join(created, 'src/broken_rules.rs'))
  await copyFile(join(ROOT, 'src/server/problems/examples.json'), join(created, 'src/examples.json'))
  await edit(created, 'src/lib.rs', ['mod bookings;', 'mod bookings;\nmod broken_rules;'], ['McpServer::builder(', 'broken_rules::add(McpServer::builder('], ['.build()', ').build()'])
  await edit(created, 'src/tests.rs', ['.auth(tokens)', '.without_auth()'])
  const { code, stdout } = await run('npm', ['run', 'check'], { cwd: created, env: environment }).catch((error) => error)
  assert.notEqual(code, 0)
  const page = await readFile(join(ROOT, 'docs/check.md'), 'utf8')
  const rules = [...page.matchAll(/^\| `([a-z-]+)` \|/gm)].map(([, rule]) => rule)
  assert.ok(rules.length > 20, page)
  const broken = [...stdout.matchAll(/\(rule `([a-z-]+)`\)$/gm)].map(([, rule]) => rule)
  assert.deepEqual([...new Set(broken)], rules, stdout)
})

test('the commands in the README of the new server print the output that it shows', async () => {
  await untilServed()
  const readme = await readFile(join(home, 'README.md'), 'utf8')
  const blocks = [...readme.matchAll(/^```console\n(.*?)^```$/gms)].map(([, block]) => block)
  const [token, ...commands] = blocks.join('').split(/^\$ /m).filter(Boolean)
  assert.equal(commands.length, 4)
  for (const text of commands) {
    const [command, ...lines] = text.trimEnd().split('\n')
    const script = `${token}${command.replaceAll('http://127.0.0.1:8787', origin)}`
    const { stdout } = await run('bash', ['-c', script], { cwd: home })
    assert.equal(stdout.trimEnd(), lines.join('\n'), `${command}\n${output}`)
  }
})

test('the app of the new server shows the desks of a day, and books one', async (t) => {
  await untilServed()
  const host = await startHost()
  t.after(host.stop)
  const token = /"token":"([^"]*)"/.exec(await readFile(join(home, '.dev.vars'), 'utf8'))[1]
  const { view, seen } = await host.show(t, { url: `${origin}/mcp`, token }, { name: 'list-bookings', args: { date: '2027-01-01' } })
  await view.getByText('20 desks are free.').waitFor()
  await view.getByRole('button', { name: '7', exact: true }).click()
  await view.getByText('19 desks are free.').waitFor()
  assert.ok(await view.getByRole('button', { name: '7 developer' }).isDisabled())
  const { calls, sizes } = await seen()
  assert.deepEqual(calls.map(({ name }) => name), ['book-desk', 'list-bookings'])
  assert.ok(sizes.at(-1) > 100, `the host knows the height: ${sizes}`)
})

test('Cargo.lock is up to date', async () => {
  await untilServed()
  const lock = (await readFile(join(ROOT, 'template/Cargo.lock'), 'utf8')).replace('"desk-bookings"', '"desks"')
  assert.equal(await readFile(join(home, 'Cargo.lock'), 'utf8'), lock)
})
