// Tests of scripts/load --skills with a fake server: what it sends, and what it does if the server rejects something.
// tests/e2e/skills-load.test.mjs uses the knowledge base.

import assert from 'node:assert/strict'
import { execFile, execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { loadSkills } from '../../../scripts/lib/load-skills.mjs'
import { readRegularFile } from '../../../scripts/lib/regular-file.mjs'
import { ROOT } from '../worker.mjs'

const folders = []
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

async function folderOf(files) {
  const root = await mkdtemp(join(tmpdir(), 'load-skills-'))
  folders.push(root)
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
  return root
}

const skill = (name) => `---\nname: ${name}\ndescription: About ${name}.\n---\n`
const digest = (bytes) => `sha256:${createHash('sha256').update(bytes).digest('hex')}`

/** A server that stores files by their digests. `publish` is called with the arguments of publish-skills, and may throw. */
function server(publish = () => {}) {
  const calls = []
  const stored = new Map()
  const tools = {
    'missing-skill-files': ({ digests }) => digests.filter((digest) => !stored.has(digest)).join('\n'),
    'save-skill-files': ({ files }) => {
      for (const { digest, base64 } of files) stored.set(digest, Buffer.from(base64, 'base64'))
      return `${files.length} files stored`
    },
    'publish-skills': (args) => {
      publish(args, stored)
      return `${args.entries.length} published, 0 unchanged, 0 removed`
    },
  }
  const said = []
  const load = (folder, options) => loadSkills({
    folder, set: 's', say: (line) => said.push(line), ...options,
    call: async (name, args) => {
      calls.push({ name, args })
      return tools[name](args)
    },
  })
  return { calls, stored, said, load, names: () => calls.map(({ name }) => name) }
}

test('S18: the bytes of files are sent: a byte order mark, CRLF, NUL and bytes that are not UTF-8', async () => {
  const files = {
    'a/SKILL.md': skill('a').replaceAll('\n', '\r\n'), 'a/bom.md': '\uFEFFtext\r\n', 'a/bin': Buffer.from([0, 255, 13, 10]), 'a/empty': '',
    'a/same': '\uFEFFtext\r\n',
  }
  const { stored, calls, said, load, names } = server()
  await load(await folderOf(files), { prefix: 'team' })
  assert.deepEqual(names(), ['missing-skill-files', 'save-skill-files', 'publish-skills'])
  const expected = new Map(Object.values(files).map((bytes) => [digest(bytes), Buffer.from(bytes)]))
  assert.deepEqual(new Map([...stored].sort()), new Map([...expected].sort()))
  const { set, entries, types } = calls.at(-1).args
  assert.deepEqual([set, entries.map((entry) => JSON.parse(entry).uri), types.includes('md=text/markdown')],
    ['s', ['skill://team/a/SKILL.md'], true])
  assert.equal(said.at(-1), '1 published, 0 unchanged, 0 removed, 4 of 4 files uploaded')
})

test('a call has at most 40 files and 2.5 MB of base64, and only missing files are sent', async () => {
  const large = (letter) => Buffer.alloc(1_200_000, letter)
  const small = Object.fromEntries(Array.from({ length: 90 }, (_, nth) => [`a/${nth}`, `${nth}`]))
  const folder = await folderOf({ 'a/SKILL.md': skill('a'), ...small, 'a/x': large('x'), 'a/y': large('y') })
  const { calls, load } = server()
  await load(folder)
  const sent = () => calls.filter(({ name }) => name === 'save-skill-files').map(({ args }) => args.files)
  for (const files of sent()) {
    assert.ok(files.length <= 40 && files.reduce((sum, { base64 }) => sum + base64.length, 0) <= 2_500_000)
  }
  assert.equal(sent().flat().length, 93)
  calls.length = 0
  await load(folder)
  assert.equal(sent().length, 0)
})

test('files that another program deletes before they are used are sent again, and another error is reported', async () => {
  let failures = 1
  const deleting = server((_, stored) => {
    if (failures-- > 0) {
      stored.clear()
      throw new Error('No stored file has the digest')
    }
  })
  const folder = await folderOf({ 'a/SKILL.md': skill('a') })
  await deleting.load(folder)
  assert.deepEqual(deleting.names().filter((name) => name !== 'missing-skill-files'),
    ['save-skill-files', 'publish-skills', 'save-skill-files', 'publish-skills'])
  failures = Infinity
  await assert.rejects(deleting.load(folder), /No stored file/)
  const refusing = server(() => { throw new Error('belongs to the set') })
  await assert.rejects(refusing.load(folder), /belongs to the set/)
  assert.equal(refusing.names().filter((name) => name === 'publish-skills').length, 1)
})

describe('nothing is sent if a skill is refused', () => {
  for (const [name, files, words] of [
    ['without a description', { 'a/SKILL.md': '---\nname: a\n---\n', 'b/SKILL.md': skill('b') }, /`description`/],
    ['with a file of more than 1.5 MB', { 'a/SKILL.md': skill('a'), 'a/b': Buffer.alloc(1_500_001) }, /a\/b: it has 1500001 bytes/],
    ['extension case 15: with an alias bomb', { 'a/SKILL.md': '---\na: &a [x]\nb: [*a, *a]\n---\n' }, /anchors/],
    ['extension case 16: with a backslash in a name', { 'a/SKILL.md': skill('a'), 'a/x\\y': '' }, /rename it/],
    ['extension case 18: with 513 files', { 'a/SKILL.md': skill('a'), ...Object.fromEntries(Array.from({ length: 512 }, (_, nth) => [`a/${nth}`, ''])) }, /at most 512/],
    ['if there is none', { 'a/readme.md': '' }, /there is no folder with a SKILL\.md/],
  ]) {
    test(name, async () => {
      const { calls, said, load } = server()
      await assert.rejects(load(await folderOf(files)))
      const error = await load(await folderOf(files)).catch(({ message }) => message)
      assert.match([...said, error].join('\n'), words)
      assert.equal(calls.length, 0)
    })
  }

  test('with --strict and invisible characters', async () => {
    const { calls, load } = server()
    const folder = await folderOf({ 'a/SKILL.md': `${skill('a')}\u200b` })
    await assert.rejects(load(folder, { strict: true }), /nothing was sent/)
    assert.equal(calls.length, 0)
    await load(folder)
    assert.notEqual(calls.length, 0)
  })

  test('S24, extension case 17: links, loops and special files are refused, without waiting', async () => {
    const root = await folderOf({ 'a/SKILL.md': skill('a'), 'b/SKILL.md': skill('b') })
    await symlink('/etc/passwd', join(root, 'a/passwd'))
    await symlink(root, join(root, 'a/loop'))
    execFileSync('mkfifo', [join(root, 'b/pipe')])
    const { calls, said, load } = server()
    await assert.rejects(load(root), /nothing was sent/)
    assert.equal(said.filter((line) => line.includes('it is a link or a special file')).length, 3)
    assert.equal(calls.length, 0)
  })
})

test('S24, extension case 17: a file that became a link, a pipe or a folder since the walk is not read', async () => {
  const root = await folderOf({ 'folder/x': '', file: 'text' })
  await symlink('/etc/passwd', join(root, 'link'))
  execFileSync('mkfifo', [join(root, 'pipe')])
  for (const name of ['link', 'pipe', 'folder']) await assert.rejects(readRegularFile(join(root, name), 100), name)
  await assert.rejects(readRegularFile(join(root, 'file'), 3), /at most 3/)
  assert.equal((await readRegularFile(join(root, 'file'), 4)).toString(), 'text')
})

describe('wrong options are reported', () => {
  const run = (...args) => new Promise((resolve) => execFile(join(ROOT, 'scripts/load'), args, { env: { ...process.env, MCP_TOKEN: 't' } },
    (error, _, stderr) => resolve({ code: error?.code ?? 0, stderr })))
  for (const [args, words] of [
    [['.', '--skills', '--keep'], /--keep is only for documents/],
    [['.', '--skills', '--again'], /--again is only for documents/],
    [['.', '--prefix', 'x'], /--prefix is only for --skills/],
    [['nowhere', '--skills'], /nowhere is not a folder/],
  ]) {
    test(args.join(' '), async () => {
      const { code, stderr } = await run(...args)
      assert.equal(code, 1)
      assert.match(stderr, words)
    })
  }
})
