// Tests of the files that scripts/new creates, and of its errors. tests/e2e/template.test.mjs builds and serves the result.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, readdir, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { parseEnv, promisify } from 'node:util'

const ROOT = new URL('../../../', import.meta.url).pathname.replace(/\/$/, '')
const run = promisify(execFile)
const scriptsNew = (...args) => run(join(ROOT, 'scripts/new'), args, { cwd: folder })

let folder
before(async () => { folder = await mkdtemp(join(tmpdir(), 'new-')) })
after(() => rm(folder, { recursive: true, force: true }))

const secretsOf = async (home) => parseEnv(await readFile(join(home, '.dev.vars'), 'utf8'))

test('a copy has a new name and new secrets, and depends on this repository', async () => {
  const home = join(folder, 'tennis-courts')
  const { stderr } = await scriptsNew(home)
  assert.match(stderr, /created tennis-courts in .*tennis-courts\. Next: cd .*npm run dev/)

  assert.equal((await stat(join(home, '.dev.vars'))).mode & 0o777, 0o600)
  const { MCP_STATIC_TOKENS, MCP_STATE_KEY } = await secretsOf(home)
  const [{ token, subject }] = JSON.parse(MCP_STATIC_TOKENS)
  assert.deepEqual([token.length, subject, MCP_STATE_KEY.length], [43, 'developer', 43])

  for (const file of ['Cargo.toml', 'Cargo.lock', 'package.json', 'package-lock.json', 'wrangler.toml', 'README.md']) {
    const text = await readFile(join(home, file), 'utf8')
    assert.ok(text.includes('tennis-courts') && !text.includes('desk-bookings'), file)
  }
  assert.ok((await readFile(join(home, 'Cargo.toml'), 'utf8')).includes(`edge-mcp = { path = "${ROOT}" }`))
  assert.equal(JSON.parse(await readFile(join(home, 'package-lock.json'), 'utf8')).packages[''].name, 'tennis-courts')

  // Coding agents find the skill of the repository, without a difference.
  const skill = async (folder) => {
    const files = (await readdir(folder, { recursive: true })).filter((path) => path.endsWith('.md')).sort()
    return Promise.all(files.map(async (path) => [path, await readFile(join(folder, path), 'utf8')]))
  }
  const shipped = await skill(join(ROOT, 'skills/write-an-mcp-server'))
  assert.ok(shipped.some(([path]) => path === 'SKILL.md'))
  assert.deepEqual(await skill(join(home, '.claude/skills/write-an-mcp-server')), shipped)

  const created = await readdir(home)
  assert.deepEqual(['build', 'target', 'node_modules', '.wrangler'].filter((name) => created.includes(name)), [])
})

test('each copy has different secrets, and --name sets a name that differs from the folder', async () => {
  const homes = [join(folder, 'one'), join(folder, 'Two_2')]
  await scriptsNew(homes[0])
  await scriptsNew(homes[1], '--name', 'two')
  const [one, two] = await Promise.all(homes.map(secretsOf))
  assert.notEqual(one.MCP_STATIC_TOKENS, two.MCP_STATIC_TOKENS)
  assert.notEqual(one.MCP_STATE_KEY, two.MCP_STATE_KEY)
  assert.match(await readFile(join(homes[1], 'wrangler.toml'), 'utf8'), /^name = "two"$/m)
})

test('--rag adds retrieval, with the tables of its passages as the next migration', async () => {
  const [home, plain] = [join(folder, 'handbook'), join(folder, 'plain')]
  await scriptsNew(home, '--rag')
  await scriptsNew(plain)
  const read = (...path) => readFile(join(...path), 'utf8')
  assert.match(await read(home, 'Cargo.toml'), /^edge-mcp = \{ path = ".*", features = \["rag"\] \}$/m)
  const inCode = ['mod handbook;', '.tool(handbook::save_page())', '.tool(handbook::search_handbook())', 'SqlitePassages::new(database.clone())', '.state(pages)']
  const [lib, plainLib] = [await read(home, 'src/lib.rs'), await read(plain, 'src/lib.rs')]
  for (const part of inCode) assert.ok(lib.includes(part) && !plainLib.includes(part), part)
  assert.match(await read(home, 'README.md'), /^## Handbook$/m)
  assert.deepEqual(await readdir(join(home, 'migrations')), ['0001_bookings.sql', '0002_passages.sql'])
  assert.equal(await read(home, 'migrations/0002_passages.sql'), await read(ROOT, 'migrations/0002_passages.sql'))
  assert.deepEqual((await readdir(plain)).filter((name) => name === 'rag'), [])
  assert.deepEqual(await readdir(join(plain, 'migrations')), ['0001_bookings.sql'])
})

test('--empty creates a server without tools and without a database', async () => {
  const home = join(folder, 'tennis')
  await scriptsNew(home, '--empty')
  const read = (...path) => readFile(join(home, ...path), 'utf8')
  assert.deepEqual((await readdir(join(home, 'src'))).sort(), ['lib.rs', 'tests.rs'])
  assert.ok(!(await readdir(home)).includes('migrations'))
  const toml = await read('wrangler.toml')
  assert.doesNotMatch(toml, /d1_databases|DB/)
  for (const kept of ['vars', 'secrets', 'ratelimits', 'observability']) assert.match(toml, new RegExp(`^\\[+${kept}\\]+$`, 'm'))
  assert.deepEqual(Object.keys(JSON.parse(await read('package.json')).scripts), ['build', 'test', 'check', 'predev', 'dev', 'deploy'])
  assert.match(await read('Cargo.toml'), /^description = "The MCP server tennis"$/m)
  const texts = (await readdir(home, { recursive: true })).filter((file) => /^(?!\.claude|scripts).*\.(md|rs|toml|json|yml)$/.test(file))
  assert.ok(texts.length > 5)
  for (const file of texts) assert.doesNotMatch(await read(file), /desk|booking/i, file)
})

test('scripts/migration writes the next migration of a server once', async () => {
  const home = join(folder, 'existing')
  const migration = (...args) => run(join(ROOT, 'scripts/migration'), args)
  const rejects = (message, ...args) => assert.rejects(migration(...args), (error) => message.test(error.stderr))
  await mkdir(join(home, 'migrations'), { recursive: true })
  await rejects(/there is no .*wrangler\.toml/, home)
  await writeFile(join(home, 'wrangler.toml'), 'name = "existing"\n')
  await rejects(/has no database: add \[\[d1_databases\]\]/, home)
  await writeFile(join(home, 'wrangler.toml'), '[[d1_databases]]\nbinding = "DB"\n')
  await rejects(/has no tables of passages/, home, '--vectors')
  for (const file of ['0008_more.sql', '0009_notes.sql', 'notes.txt']) await writeFile(join(home, 'migrations', file), '')
  assert.match((await migration(home)).stderr, /^wrote migrations\/0010_passages\.sql$/m)
  assert.equal(await readFile(join(home, 'migrations/0010_passages.sql'), 'utf8'), await readFile(join(ROOT, 'migrations/0002_passages.sql'), 'utf8'))
  await rejects(/0010_passages\.sql exists already/, home)
  assert.match((await migration(home, '--vectors')).stderr, /^wrote migrations\/0011_vectors\.sql$/m)
  assert.equal(await readFile(join(home, 'migrations/0011_vectors.sql'), 'utf8'), await readFile(join(ROOT, 'src/rag/sqlite/migrations/0002_vectors.sql'), 'utf8'))
  await rejects(/0011_vectors\.sql exists already/, '--vectors', home)
  await rejects(/pass one folder/)
  await rejects(/pass one folder/, home, home)
  await rejects(/unknown option: --bogus/, '--bogus')
})

test('an empty folder is used, and a folder with files or a file is not changed', async () => {
  await mkdir(join(folder, 'empty'))
  await scriptsNew(join(folder, 'empty'))
  await mkdir(join(folder, 'full'))
  await writeFile(join(folder, 'full/notes.txt'), 'mine')
  await assert.rejects(scriptsNew(join(folder, 'full')), /full is not empty/)
  assert.deepEqual(await readdir(join(folder, 'full')), ['notes.txt'])
  await assert.rejects(scriptsNew(join(folder, 'full/notes.txt')), /notes\.txt is a file/)
})

for (const [args, message] of [
  [[], /pass the folder to create/],
  [['a', 'b'], /only one folder/],
  [['--bogus', 'a'], /unknown option: --bogus/],
  [['a', '--name'], /--name needs a value/],
  [['a', '--empty', '--rag'], /--rag needs the database that --empty leaves out/],
  [['Capital'], /"Capital" cannot be the name of a Worker.*--name/],
  [['a', '--name', '-x'], /"-x" cannot be the name/],
  [['a', '--name', 'x'.repeat(64)], /cannot be the name/],
]) {
  test(`scripts/new ${args.join(' ')} is rejected, and creates nothing`, async () => {
    const earlier = await readdir(folder)
    await assert.rejects(scriptsNew(...args), (error) => message.test(error.stderr))
    assert.deepEqual(await readdir(folder), earlier)
  })
}
