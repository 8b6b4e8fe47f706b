// The skills of examples/everything, with the official skills client and the MCP Inspector.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills'

import { CLIENTS } from './official-clients.mjs'
import { ROOT } from './worker.mjs'
import { startWorkerd } from './workerd.mjs'

const FOLDER = 'examples/everything/skills/write-a-letter'
const URI = 'skill://write-a-letter/SKILL.md'

let worker
before(async () => { worker = await startWorkerd({ name: 'everything' }) })
after(() => worker?.stop())

for (const { name, connect } of CLIENTS.filter(({ name }) => name.startsWith('client 2.4'))) {
  test(`${name}: the official skills client lists, gets, reads and verifies a skill`, async () => {
    const client = await connect(worker)
    try {
      const skills = new SkillsClient(client)
      const { skills: [listed], nextCursor } = await skills.list()
      assert.deepEqual([listed.uri, listed.frontmatter.name, nextCursor], [URI, 'write-a-letter', undefined])
      const entry = await skills.get(URI)
      assert.deepEqual(entry.skill ?? entry, listed)
      for (const { uri } of listed.resources) {
        const file = await skills.read(listed, uri)
        const path = uri.slice('skill://write-a-letter/'.length)
        const bytes = Buffer.from(file.bytes ?? file.text)
        assert.ok(bytes.equals(await readFile(join(ROOT, FOLDER, path))), uri)
      }
      const { resources } = await skills.readDirectory('skill://write-a-letter')
      assert.deepEqual(resources.map(({ name, mimeType }) => [name, mimeType]), [['SKILL.md', 'text/markdown'], ['references', 'inode/directory']])
      await assert.rejects(skills.get('skill://write-a-letter/references/FORMS.md'), /There is no such skill/)
    } finally {
      await client.close()
    }
  })
}

test('the MCP Inspector verifies the skills', async () => {
  const inspector = join(ROOT, 'node_modules/.bin/mcp-inspector')
  const args = ['--cli', worker.url, '--transport', 'http', '--method', 'skills/list', '--verify', '--require-digests']
  const { stdout } = await promisify(execFile)(inspector, args, { timeout: 60_000 })
  assert.match(stdout, /write-a-letter/)
})
