// Tests of scripts/skills: the skills that it reads from a folder, what it refuses, and the Rust file.

import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { skillEntry } from '@modelcontextprotocol/server/ext/skills'
import { parse } from 'yaml'
import { readFrontmatter } from '../../../scripts/lib/frontmatter.mjs'
import { readSkills, uriOf } from '../../../scripts/lib/skills.mjs'
import { ROOT } from '../worker.mjs'

const folders = []
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

async function folderOf(files) {
  const root = await mkdtemp(join(tmpdir(), 'skills-'))
  folders.push(root)
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
  return root
}

const skill = (name, more = '') => `---\nname: ${name}\ndescription: About ${name}.\n${more}---\nText.\n`
const problemsOf = async (files) => (await readSkills(await folderOf(files))).problems
const digest = (bytes) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

// S7, S8, S23
test('an entry lists every file once, with those of skills inside it, in the order of the URIs', async () => {
  const inner = skill('inner')
  const files = {
    'orders/refunds/SKILL.md': skill('refunds'), 'orders/refunds/a b.txt': '', 'orders/refunds/nested/inner/SKILL.md': inner,
    'orders/refunds/.git/config': 'left out', 'orders/cancel/SKILL.md': skill('cancel'), 'readme.txt': 'no skill',
  }
  const { skills, problems, warnings } = await readSkills(await folderOf(files), { prefix: 'team' })
  assert.deepEqual({ problems, warnings }, { problems: [], warnings: [] })
  assert.deepEqual(skills.map(({ root }) => root), [
    'skill://team/orders/cancel', 'skill://team/orders/refunds/nested/inner', 'skill://team/orders/refunds',
  ].sort((one, other) => (`${one}/SKILL.md` < `${other}/SKILL.md` ? -1 : 1)))
  const refunds = skills.find(({ root }) => root.endsWith('/refunds'))
  assert.deepEqual(refunds.entry, {
    uri: 'skill://team/orders/refunds/SKILL.md',
    frontmatter: { name: 'refunds', description: 'About refunds.' },
    resources: [
      ['SKILL.md', skill('refunds')], ['a%20b.txt', ''], ['nested/inner/SKILL.md', inner],
    ].map(([path, text]) => ({ uri: `skill://team/orders/refunds/${path}`, digest: digest(text), size: text.length })),
  })
  assert.deepEqual(refunds.files.map(({ path }) => path), ['orders/refunds/SKILL.md', 'orders/refunds/a b.txt'])
})

// S18
test('bytes are not changed: CRLF, a byte order mark in another file, no final newline', async () => {
  const files = { 'a/SKILL.md': skill('a').replaceAll('\n', '\r\n'), 'a/b.md': '\uFEFFtext', 'a/c.bin': Buffer.from([0, 255, 13, 10]) }
  const { skills: [{ entry }], problems } = await readSkills(await folderOf(files))
  assert.deepEqual(problems, [])
  assert.deepEqual(entry.resources.map(({ digest }) => digest), Object.values(files).map((bytes) => digest(Buffer.from(bytes))))
})

describe('a skill is refused', () => {
  // S3, S4, S5, S6, S10, S19
  for (const [name, files, words] of [
    ['without frontmatter', { 'a/SKILL.md': '# Text\n' }, 'must begin with a line `---`'],
    ['with a blank after the dashes', { 'a/SKILL.md': '--- \nname: a\n---\n' }, 'must begin with a line `---`'],
    ['with a byte order mark', { 'a/SKILL.md': `\uFEFF${skill('a')}` }, 'byte order mark'],
    ['with TOML', { 'a/SKILL.md': '+++\nname = "a"\n+++\n' }, 'must begin with a line `---`'],
    ['that `...` should close', { 'a/SKILL.md': '---\nname: a\n...\n' }, 'no closing line'],
    ['with another name than its folder', { 'a/SKILL.md': skill('b') }, 'must be the name of its folder, `a`'],
    ['with two hyphens', { 'a--b/SKILL.md': skill('a--b') }, 'single hyphens'],
    ['in a folder with capitals', { 'Orders/a/SKILL.md': skill('a') }, 'rename the folder `Orders`'],
    ['in a folder with a blank', { 'a b/a/SKILL.md': skill('a') }, 'rename the folder `a b`'],
    ['at the root', { 'SKILL.md': skill('a') }, 'move it into one'],
    ['without a description', { 'a/SKILL.md': '---\nname: a\n---\n' }, '`description` must be a text'],
    ['with a long description', { 'a/SKILL.md': `---\nname: a\ndescription: ${'x'.repeat(1025)}\n---\n` }, '1 to 1024'],
    ['with a number in metadata', { 'a/SKILL.md': skill('a', 'metadata:\n  version: 1.0\n') }, 'quote it'],
    ['with a list as metadata', { 'a/SKILL.md': skill('a', 'metadata: [a]\n') }, 'must have keys and values'],
    ['with a long compatibility', { 'a/SKILL.md': skill('a', `compatibility: ${'x'.repeat(501)}\n`) }, '1 to 500'],
    ['with NUL', { 'a/SKILL.md': `${skill('a')}\0` }, 'not UTF-8 text'],
    ['that is not UTF-8', { 'a/SKILL.md': Buffer.concat([Buffer.from(skill('a')), Buffer.from([255])]) }, 'not UTF-8 text'],
  ]) test(name, async () => assert.match((await problemsOf(files)).join('\n'), new RegExp(words.replace(/[.*+?^${}()|[\]\\`]/g, '\\$&'))))
})

// The client's reader has the same cases: tests/client/frontmatter.rs.
describe('frontmatter that all parsers read alike is taken, and other frontmatter is refused', async () => {
  // S20
  for (const { yaml, ...taken } of JSON.parse(await readFile(join(ROOT, 'tests/frontmatter.json'), 'utf8'))) {
    test(JSON.stringify(yaml), async () => {
      const file = (more) => `---\n${more}${yaml}\n---\nText.\n`
      if (!('value' in taken)) return assert.throws(() => readFrontmatter(file('')))
      assert.deepEqual(readFrontmatter(file('')), taken.value)
      assert.deepEqual(parse(`${yaml}\n`), taken.value, 'the package yaml')
      const { frontmatter } = await skillEntry('x', { 'SKILL.md': file('name: x\ndescription: About x.\n') })
      assert.deepEqual(frontmatter, { name: 'x', description: 'About x.', ...taken.value }, 'the official SDK')
    })
  }
})

// S20
test('a list of generated values is read like the official SDK reads it', async () => {
  let state = 7
  const random = (most) => (state = (state * 48271) % 2147483647) % most
  const words = ['a', 'x y', '7', 'true', 'null', '1.5', 'a: b', '#x', '- x', '@', '%', '"', "'", '[', '{', '&a', '*a', '!t', '|', '>', '~', 'é😀', '\t', 'x #y', '0x1', '1e3', '']
  let taken = 0
  for (let run = 0; run < 400; run++) {
    const value = () => {
      const word = words[random(words.length)]
      return [word, JSON.stringify(word), `'${word.replaceAll("'", "''")}'`, `|\n  ${word || 'x'}`, `[${word || 'x'}, b]`][random(5)]
    }
    const text = skill('x', `k1: ${value()}\nk2: ${value()}\n`)
    let ours
    try {
      ours = readFrontmatter(text)
    } catch {
      continue
    }
    taken += 1
    const theirs = await skillEntry('x', { 'SKILL.md': text }).catch((error) => ({ frontmatter: error.message }))
    assert.deepEqual(ours, theirs.frontmatter, text)
  }
  assert.ok(taken > 100, `${taken} taken`)
})

// extension case 15
test('large, deep and repeated frontmatter is refused', () => {
  for (const [yaml, words] of [
    [`a: ${'x'.repeat(2 ** 20)}`, /more than 64 KiB/],
    [`a: ${'{a: '.repeat(33)}1${'}'.repeat(33)}`, /nested more than 32/],
    [`a: ${'['.repeat(10_000)}${']'.repeat(10_000)}`, /nested more than 32|not valid YAML/],
    [Array.from({ length: 100_000 }, (_, nth) => `k${nth}: 1`).join('\n'), /more than 64 KiB/],
    [Array.from({ length: 3000 }, (_, nth) => `k${nth}: 1`).join('\n'), /more than 2000 values/],
    ['a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]', /anchors/],
    ['__proto__: {a: 1}', /__proto__/],
  ]) assert.throws(() => readFrontmatter(skill('x', `${yaml}\n`)), words)
})

// S25, extension case 16
test('names and URIs are bijective', () => {
  const names = ['a%41', 'aA', 'a b', '\u00e9', 'e\u0301', "it's!$&()*+,;=:@", '#?', '[]{}|^"<>`', 'x'.repeat(255), '%', '.x']
  const uris = names.map((name) => uriOf('', `a/${name}`))
  assert.equal(new Set(uris).size, names.length)
  for (const [nth, uri] of uris.entries()) {
    assert.equal(decodeURIComponent(uri.slice('skill://a/'.length)), names[nth])
    assert.equal(new URL(uri).href, uri, 'the URI is what a browser makes of it')
    assert.match(uri, /^skill:\/\/a\/([A-Za-z0-9\-._~!$&'()*+,;=:@]|%[0-9A-F]{2})+$/)
  }
})

// S24, extension case 16
test('names that differ only for some systems are a warning, and a backslash is refused', async () => {
  const similar = await readSkills(await folderOf({ 'a/SKILL.md': skill('a'), 'a/X.txt': '', 'a/x.txt': '', 'a/\u00e9': '', 'a/e\u0301': '', 'b/skill.md': '' }))
  assert.deepEqual(similar.problems, [])
  assert.equal(similar.warnings.length, 3, similar.warnings.join('\n'))
  assert.match((await problemsOf({ 'a/SKILL.md': skill('a'), 'a/x\\y': '' })).join(), /rename it/)
})

// S24, extension case 17
test('links and special files are refused, without waiting', async () => {
  const root = await folderOf({ 'a/SKILL.md': skill('a'), 'b/SKILL.md': skill('b') })
  await symlink('/etc/passwd', join(root, 'a/passwd'))
  await symlink(root, join(root, 'a/loop'))
  execFileSync('mkfifo', [join(root, 'b/pipe')])
  const { problems } = await readSkills(root)
  assert.deepEqual(problems.sort(), ['a/loop', 'a/passwd', 'b/pipe'].map((path) => `${path}: it is a link or a special file: replace it by a file`))
})

// S10, extension case 18
test('512 files and 16 MiB are the most. An empty file and a skill of one file are allowed', async () => {
  const many = (count) => Object.fromEntries(Array.from({ length: count - 1 }, (_, nth) => [`a/${nth}`, '']))
  assert.deepEqual(await problemsOf({ 'a/SKILL.md': skill('a'), ...many(512) }), [])
  assert.match((await problemsOf({ 'a/SKILL.md': skill('a'), ...many(513) })).join(), /at most 512/)
  const rest = 16 * 2 ** 20 - skill('a').length
  assert.deepEqual(await problemsOf({ 'a/SKILL.md': skill('a'), 'a/b': Buffer.alloc(rest) }), [])
  assert.match((await problemsOf({ 'a/SKILL.md': skill('a'), 'a/b': Buffer.alloc(rest + 1) })).join(), /at most 16 MiB/)
  assert.deepEqual(await problemsOf({ 'a/SKILL.md': skill('a'), 'a/a/SKILL.md': skill('a') }), [], 'a nested skill of the same name')
})

// S6
test('a key of the metadata that is reserved for the protocol is a warning', async () => {
  const { warnings, problems } = await readSkills(await folderOf({ 'a/SKILL.md': skill('a', 'metadata:\n  io.modelcontextprotocol/x: "1"\n  own/x: "1"\n') }))
  assert.deepEqual([problems, warnings], [[], ['a: the key `io.modelcontextprotocol/x` of `metadata` is reserved for the protocol']])
})

// S29
test('invisible characters are a warning', async () => {
  const { warnings, problems } = await readSkills(await folderOf({ 'a/SKILL.md': `${skill('a')}do\u200b this`, 'a/b.txt': 'x\u{e0041}' }))
  assert.deepEqual([problems, warnings.length], [[], 2])
})

describe('the script', () => {
  const run = (...args) => new Promise((resolve) => {
    execFile(join(ROOT, 'scripts/skills'), args, (error, _, stderr) => resolve({ code: error?.code ?? 0, stderr }))
  })

  test('writes a Rust file, and finds changes later', async () => {
    const root = await folderOf({ 'skills/a/SKILL.md': skill('a', 'license: "#\\"# \\"##"\n'), 'skills/a/pic.png': Buffer.from([255, 0]), 'src/x': '' })
    const args = [join(root, 'skills'), join(root, 'src/skills.rs')]
    assert.deepEqual(await run(...args), { code: 0, stderr: '' })
    const rust = await readFile(args[1], 'utf8')
    assert.match(rust, /include_str!\("\.\.\/skills\/a\/SKILL\.md"\)/)
    assert.match(rust, /include_bytes!\("\.\.\/skills\/a\/pic\.png"\)/)
    assert.match(rust, /r###"\{.*\}"###/)
    assert.equal((await run(...args, '--check')).code, 0)
    await writeFile(join(root, 'skills/a/pic.png'), 'new')
    assert.match((await run(...args, '--check')).stderr, /is not up to date/)
    await rename(join(root, 'skills/a'), join(root, 'skills/b'))
    const refused = await run(...args)
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /refused: b: the `name`/)
    assert.equal(await readFile(args[1], 'utf8'), rust, 'nothing was written')
  })

  test('with --strict, a warning is an error', async () => {
    const root = await folderOf({ 'skills/a/SKILL.md': `${skill('a')}\u200b`, 'src/x': '' })
    const args = [join(root, 'skills'), join(root, 'src/skills.rs')]
    assert.equal((await run(...args)).code, 0)
    assert.equal((await run(...args, '--strict')).code, 1)
  })

  test('the files of this repository are up to date', async () => {
    const check = (folder, file, ...options) => run(join(ROOT, folder), join(ROOT, file), '--check', '--strict', ...options)
    assert.deepEqual(await check('examples/everything/skills', 'examples/everything/src/skills.rs'), { code: 0, stderr: '' })
    assert.deepEqual(await check('skills', 'app/src/skills.rs', '--prefix', 'edge-mcp'), { code: 0, stderr: '' })
  })
})
