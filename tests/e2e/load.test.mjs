// Tests scripts/load with the real knowledge base. scripts/load.test.mjs tests how the command reads files.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { callTool } from '../../scripts/lib/mcp.mjs'
import { ROOT, startWorker } from './worker.mjs'

describe('scripts/load', () => {
  let worker, folder
  before(async () => {
    worker = await startWorker()
    folder = await mkdtemp(join(tmpdir(), 'load-'))
    await mkdir(join(folder, 'guides'))
    await writeFile(join(folder, 'README.md'), '# Read me\n\nStart at the beginning.\n')
    await writeFile(join(folder, 'guides/Getting Started.md'), '---\ntitle: Getting started\n---\nInstall the zeppelin.\n')
    await writeFile(join(folder, 'latin1.md'), Buffer.from('# Caf\xe9\n', 'latin1'))
    await writeFile(join(folder, 'long.md'), `# Long\n${'word '.repeat(1_000_000)}`)
  })
  after(async () => {
    await worker?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  const load = (token = worker.token) => new Promise((resolve) =>
    execFile(join(ROOT, 'scripts/load'), [folder, '--url', worker.url], { env: { ...process.env, MCP_TOKEN: token } },
      (error, stdout, stderr) => resolve({ status: error ? error.code : 0, output: stdout + stderr })))

  test('loads the valid files, names the invalid files, and exits with status 1', async () => {
    const { status, output } = await load()
    assert.equal(status, 1)
    assert.match(output, /README\.md -> readme$/m)
    assert.match(output, /guides\/Getting Started\.md -> guides-getting-started$/m)
    assert.match(output, /latin1\.md: NOT LOADED: it is not UTF-8/)
    assert.match(output, /long\.md: NOT LOADED: ./)
    assert.match(output, /2 loaded, 2 not loaded/)
  })

  test('loads documents that the search finds', async () => {
    const result = await callTool({ ...worker, name: 'search-documents', arguments: { query: 'zeppelin' } })
    assert.match(JSON.stringify(result.structuredContent), /guides-getting-started/)
  })

  test('replaces documents that are already loaded', async () => {
    await writeFile(join(folder, 'README.md'), '# Read me\n\nStart at the end.\n')
    assert.match((await load()).output, /2 loaded/)
    const result = await callTool({ ...worker, name: 'read-document', arguments: { slug: 'readme' } })
    assert.match(JSON.stringify(result), /at the end/)
  })

  test('prints the error of the server if the token is wrong', async () => {
    assert.match((await load('wrong')).output, /README\.md: NOT LOADED: /)
  })
})
