// Tests of template/ for programs that copy only this folder: cargo generate, and C3 (`npm create cloudflare`). The tests compare
// their files with what scripts/new does. They do not run these programs.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

const ROOT = new URL('../../../', import.meta.url).pathname.replace(/\/$/, '')
const run = promisify(execFile)
const read = (...path) => readFile(join(...path), 'utf8')

let folder
before(async () => { folder = await mkdtemp(join(tmpdir(), 'generate-')) })
after(() => rm(folder, { recursive: true, force: true }))

const inTemplate = async () =>
  (await run('git', ['ls-files'], { cwd: join(ROOT, 'template') })).stdout.split('\n').filter(Boolean)
const version = async () => /^name = "edge-mcp"\nversion = "(.*)"$/m.exec(await read(ROOT, 'Cargo.lock'))[1]

/** Returns the values of a list of strings, such as `ignore = ["a", "b"]`. */
const list = (text, name) => JSON.parse(new RegExp(`\\b${name} = (\\[.*\\])`).exec(text)[1])

test('cargo generate renames the files that scripts/new renames', async () => {
  const script = await read(ROOT, 'template/rename.rhai')
  assert.ok(script.includes('s/desk-bookings/'))
  const home = join(folder, 'tennis-courts')
  await run(join(ROOT, 'scripts/new'), [home])
  const renamed = []
  for (const file of await inTemplate()) {
    if (['rename.rhai', 'cargo-generate.toml'].includes(file) || /^(empty|rag)\//.test(file)) continue
    if ((await read(home, file)).includes('tennis-courts')) renamed.push(file)
  }
  assert.deepEqual(list(script, 'files').sort(), renamed.sort())
  assert.ok(renamed.includes('wrangler.toml'))
})

test('cargo generate leaves out the files that scripts/new leaves out', async () => {
  const configuration = await read(ROOT, 'template/cargo-generate.toml')
  // It copies each file as it is: nothing in it is a placeholder.
  assert.deepEqual(list(configuration, 'exclude'), ['**/*'])
  const [hook] = list(configuration, 'post')
  const copied = await readdir(join(folder, 'tennis-courts'), { recursive: true })
  const missing = (await inTemplate()).filter((file) => !copied.includes(file))
  // cargo generate leaves out its own files too.
  const ignored = [...list(configuration, 'ignore'), hook, 'cargo-generate.toml']
  assert.deepEqual([...new Set(missing.map((file) => file.split('/')[0]))].sort(), ignored.sort())
})

test('C3 finds its files, and no folder that it takes as a variant of the template', async () => {
  const files = await inTemplate()
  for (const name of ['package.json', 'wrangler.toml']) assert.ok(files.includes(name), name)
  assert.deepEqual(files.filter((file) => /^[jt]s\//.test(file)), [])
})

test('the folder needs nothing outside it', async () => {
  const cargo = await read(ROOT, 'template/Cargo.toml')
  assert.match(cargo, new RegExp(`^edge-mcp = \\{ version = "${await version()}" \\}$`, 'm'))
  assert.doesNotMatch(cargo, /\bpath = /)
  for (const file of await inTemplate()) {
    const leaves = '../'.repeat(file.split('/').length)
    assert.ok(dirname(file).startsWith('rag') || !(await read(ROOT, 'template', file)).includes(leaves), file)
  }
})

test('a server without secrets gets new ones, only for their owner, and keeps them', async () => {
  const home = await mkdtemp(join(folder, 'secrets-'))
  for (const file of ['scripts/secrets.js', 'package.json']) await cp(join(ROOT, 'template', file), join(home, file))
  const { predev } = JSON.parse(await read(home, 'package.json')).scripts
  assert.equal(predev, 'node scripts/setup.js')
  assert.match(await read(ROOT, 'template/scripts/setup.js'), /^import '\.\/secrets\.js'$/m)
  const secrets = async () => {
    await run('node', ['scripts/secrets.js'], { cwd: home })
    return read(home, '.dev.vars')
  }
  const written = await secrets()
  assert.match(written, /^MCP_STATIC_TOKENS='\[\{"token":"[\w-]{43}","subject":"developer","scopes":\[\]\}\]'\nMCP_STATE_KEY='[\w-]{43}'\n$/)
  assert.equal((await stat(join(home, '.dev.vars'))).mode & 0o777, 0o600)
  assert.equal(await secrets(), written)
})

test('scripts/new of a released version uses this version, and only outside the repository', async () => {
  const copy = join(folder, 'repository')
  for (const path of ['scripts', 'skills', 'template', 'Cargo.lock', 'CHANGELOG.md', 'migrations', 'src/rag/sqlite/migrations']) {
    await cp(join(ROOT, path), join(copy, path), { recursive: true })
  }
  const dependency = async (home, ...options) => {
    await run(join(copy, 'scripts/new'), [home, ...options])
    return /^edge-mcp = .*$/m.exec(await read(home, 'Cargo.toml'))[0]
  }
  const changes = join(copy, 'CHANGELOG.md')
  const heading = `## Unreleased: ${await version()}\n`
  await writeFile(changes, `# Changelog\n\n${heading}`)
  assert.equal(await dependency(join(folder, 'unreleased')), `edge-mcp = { path = "${copy}" }`)
  await writeFile(changes, `# Changelog\n\n## ${await version()}\n`)
  assert.equal(await dependency(join(folder, 'released')), `edge-mcp = { version = "${await version()}" }`)
  assert.equal(await dependency(join(folder, 'with-rag'), '--rag'), `edge-mcp = { version = "${await version()}", features = ["rag"] }`)
  assert.equal(await dependency(join(copy, 'inside')), `edge-mcp = { path = "${copy}" }`)
})
