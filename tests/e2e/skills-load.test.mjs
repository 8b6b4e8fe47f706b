// Loads folders of skills into the real knowledge base with scripts/load, and reads them with the official skills client and the MCP
// Inspector. tests/e2e/scripts/load-skills.test.mjs tests what the script refuses.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, readdir, rm, symlink, unlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'

import { CLIENTS } from './official-clients.mjs'
import { ROOT } from './worker.mjs'
import { startApp } from './workerd.mjs'

const skill = (name) => `---\nname: ${name}\ndescription: About ${name}.\n---\nText of ${name}.\n`

let worker, folder
before(async () => {
  worker = await startApp()
  folder = await mkdtemp(join(tmpdir(), 'skills-load-'))
  await cp(join(ROOT, 'examples/everything/skills'), folder, { recursive: true })
  for (const [path, content] of Object.entries({
    // Extension case 16: names that are easily confused. Case 18: an empty file, a skill of one file, a nested skill of the same name.
    'names/SKILL.md': skill('names').replaceAll('\n', '\r\n'), 'names/a%41': 'percent', 'names/aA': 'letters', 'names/a b': 'blank',
    'names/\u00e9': 'composed', 'names/e\u0301': 'decomposed', [`names/${'x'.repeat(255)}`]: 'long', "names/it's!$&()*+,;=:@[]{}^`|": 'special',
    'names/empty': '', 'names/bom.md': '\uFEFFtext\r\n', 'names/nul.txt': 'a\0b', 'names/bin': Buffer.from([0, 0xff, 0xfe, 13, 10]),
    'alone/SKILL.md': skill('alone'), 'alone/alone/SKILL.md': skill('alone'), 'large/SKILL.md': skill('large'),
    'large/a.bin': Buffer.from(Array.from({ length: 1_500_000 }, (_, nth) => nth * 7919 % 256)),
  })) {
    await mkdir(dirname(join(folder, path)), { recursive: true })
    await writeFile(join(folder, path), content)
  }
})
after(async () => {
  await worker?.stop()
  await rm(folder, { recursive: true, force: true })
})

const load = (...args) => new Promise((resolve) =>
  execFile(join(ROOT, 'scripts/load'), [folder, '--skills', '--url', worker.url, ...args], { env: { ...process.env, MCP_TOKEN: worker.token } },
    (error, stdout, stderr) => resolve({ status: error ? error.code : 0, output: stdout + stderr })))
const loadTeam = () => load('--set', 'team', '--prefix', 'team')

const modern = CLIENTS.find(({ name }) => name === 'client 2.4, auto')
async function withClient({ connect }, use) {
  const client = await connect(worker)
  try {
    return await use(new SkillsClient(client))
  } finally {
    await client.close()
  }
}

test('a folder of skills is an MCP server by one command', async () => {
  const { status, output } = await loadTeam()
  assert.equal(status, 0, output)
  assert.match(output, /^5 skills with 17 different files for the set team$/m)
  assert.match(output, /^published skill:\/\/team\/write-a-letter\/SKILL\.md$/m)
  assert.match(output, /^5 published, 0 unchanged, 0 removed, 17 of 17 files uploaded$/m)
  const list = `curl -s ${worker.url} -H 'Authorization: Bearer ${worker.token}' -H 'Content-Type: application/json' \
    -d '{"jsonrpc":"2.0","id":1,"method":"skills/list"}'`
  const { stdout } = await promisify(execFile)('bash', ['-c', list])
  assert.deepEqual(JSON.parse(stdout).result.skills.map(({ uri }) => uri), [
    'skill://edge-mcp/write-an-mcp-server/SKILL.md', 'skill://team/alone/SKILL.md', 'skill://team/alone/alone/SKILL.md',
    'skill://team/large/SKILL.md', 'skill://team/names/SKILL.md', 'skill://team/write-a-letter/SKILL.md',
  ])
})

for (const client of CLIENTS.filter(({ name }) => name.startsWith('client 2.4'))) {
  test(`S17, S18, extension case 16: ${client.name}: the official client reads and verifies each file`, () => withClient(client, async (skills) => {
    const { skills: listed } = await skills.list()
    const read = new Map()
    for (const entry of listed.filter(({ uri }) => uri.startsWith('skill://team/'))) {
      for (const { uri, size } of entry.resources) {
        const file = await skills.read(entry, uri)
        const bytes = Buffer.from(file.bytes ?? file.text)
        assert.equal(bytes.length, size, uri)
        read.set(decodeURIComponent(uri.slice('skill://team/'.length)), bytes)
      }
    }
    const paths = (await readdir(folder, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
      .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1))
    assert.deepEqual([...read.keys()].sort(), paths.sort())
    for (const path of paths) assert.ok(read.get(path).equals(await readFile(join(folder, path))), path)
    const { resources } = await skills.readDirectory('skill://team/alone')
    assert.deepEqual(resources.map(({ name, mimeType }) => [name, mimeType]), [['SKILL.md', 'text/markdown'], ['alone', 'inode/directory']])
  }))
}

test('the MCP Inspector verifies the skills', async () => {
  const inspector = join(ROOT, 'node_modules/.bin/mcp-inspector')
  const args = ['--cli', worker.url, '--transport', 'http', '--header', `Authorization: Bearer ${worker.token}`, '--method', 'skills/list',
    '--verify', '--require-digests']
  const { stdout } = await promisify(execFile)(inspector, args, { timeout: 60_000, maxBuffer: 1e8 })
  for (const name of ['write-a-letter', 'names', 'large', 'write-an-mcp-server']) assert.match(stdout, new RegExp(name))
})

test('an unchanged folder sends no file, and a change sends only its file', async () => {
  assert.match((await loadTeam()).output, /^0 published, 5 unchanged, 0 removed, 0 of 17 files uploaded$/m)
  await writeFile(join(folder, 'names/empty'), 'no longer')
  await rm(join(folder, 'alone'), { recursive: true })
  const { output } = await loadTeam()
  assert.match(output, /^removed skill:\/\/team\/alone\/SKILL\.md\nremoved skill:\/\/team\/alone\/alone\/SKILL\.md$/m)
  assert.match(output, /^1 published, 2 unchanged, 2 removed, 1 of 16 files uploaded$/m)
  const [{ files }] = await worker.sql('SELECT count(*) AS files FROM skill_files')
  assert.equal(files, 16, 'files that no set uses are deleted')
})

test('S27, extension case 14: a client with an old entry never gets new bytes as those of the entry', () => withClient(modern, async (skills) => {
  const uri = 'skill://team/names/SKILL.md'
  const listed = (await skills.list()).skills.find((entry) => entry.uri === uri)
  await writeFile(join(folder, 'names/SKILL.md'), `${skill('names')}More.\n`)
  assert.equal((await loadTeam()).status, 0)
  await assert.rejects(skills.read(listed, uri))
  const { skill: entry } = await skills.get(uri).then((answer) => (answer.skill ? answer : { skill: answer }))
  const file = await skills.read(entry, uri)
  assert.match(file.text, /More\.\n$/)
}))

test('S24, extension case 17: a folder with a link is refused, and the skills stay', async () => {
  await symlink('/etc/passwd', join(folder, 'names/passwd'))
  try {
    const { status, output } = await loadTeam()
    assert.equal(status, 1)
    assert.match(output, /names\/passwd: it is a link or a special file/)
    assert.match(output, /^load: nothing was sent/m)
  } finally {
    await unlink(join(folder, 'names/passwd'))
  }
  assert.match((await loadTeam()).output, /^0 published, 3 unchanged, 0 removed, 0 of 16 files uploaded$/m)
})

test('another set cannot take skills, and the message says what to do', async () => {
  const { status, output } = await load('--set', 'other', '--prefix', 'team')
  assert.equal(status, 1)
  assert.match(output, /^load: `skill:\/\/team\/.*` belongs to the set `team`.*Choose another prefix/m)
  assert.match((await load('--set', 'other', '--prefix', 'other')).output, /^3 published, 0 unchanged, 0 removed, 0 of 16 files uploaded$/m)
})

test('S12, extension case 13: other URIs are unknown skills, with one text', async () => {
  const texts = new Set()
  for (const uri of [
    'skill://team/names/aA', 'skill://team/names', 'skill://team/names/./SKILL.md', 'skill://team/x/%2e%2e/names/SKILL.md',
    'skill://team/names/SKILL.md#f', 'skill://team/names/SKILL.md?q', 'skill://team/names/SKILL.md/', 'skill://hidden/SKILL.md',
  ]) {
    const response = await fetch(worker.url, {
      method: 'POST',
      headers: { Authorization: `Bearer ${worker.token}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'skills/get', params: { uri } }),
    })
    const { error } = await response.json()
    assert.deepEqual([response.status, error.code], [200, -32602], uri)
    texts.add(error.message)
  }
  assert.equal(texts.size, 1)
})

test('extension case 18: 512 files of one skill are served, also with 40 files in a call', async () => {
  const many = await mkdtemp(join(tmpdir(), 'skills-load-'))
  try {
    await mkdir(join(many, 'many'))
    await writeFile(join(many, 'many/SKILL.md'), skill('many'))
    await Promise.all(Array.from({ length: 511 }, (_, nth) => writeFile(join(many, `many/${nth}.txt`), `File ${nth}`)))
    const { stderr } = await promisify(execFile)(join(ROOT, 'scripts/load'), [many, '--skills', '--url', worker.url], { env: { ...process.env, MCP_TOKEN: worker.token } })
    assert.match(stderr, /^1 published, 0 unchanged, 0 removed, 512 of 512 files uploaded$/m)
    await withClient(modern, async (skills) => {
      const answer = await skills.get('skill://many/SKILL.md')
      const entry = answer.skill ?? answer
      assert.equal(entry.resources.length, 512)
      assert.equal((await skills.read(entry, 'skill://many/510.txt')).text, 'File 510')
    })
  } finally {
    await rm(many, { recursive: true, force: true })
  }
})
