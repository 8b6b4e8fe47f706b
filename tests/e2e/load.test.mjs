// Tests scripts/load with the real knowledge base. scripts/load.test.mjs tests how the command reads files.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { callTool } from '../../scripts/lib/mcp.mjs'
import { ROOT } from './worker.mjs'
import { startApp } from './workerd.mjs'

describe('scripts/load', () => {
  let worker, folder
  before(async () => {
    worker = await startApp()
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
    execFile(join(ROOT, 'scripts/load'), [folder, '--url', worker.url, '--set', 'notes'], { env: { ...process.env, MCP_TOKEN: token } },
      (error, stdout, stderr) => resolve({ status: error ? error.code : 0, output: stdout + stderr })))

  test('loads the valid files, names the invalid files, and exits with status 1', async () => {
    const { status, output } = await load()
    assert.equal(status, 1)
    assert.match(output, /README\.md -> readme$/m)
    assert.match(output, /guides\/Getting Started\.md -> guides-getting-started$/m)
    assert.match(output, /latin1\.md: NOT LOADED: it is not UTF-8/)
    assert.match(output, /long\.md: NOT LOADED: ./)
    assert.match(output, /2 loaded, 0 unchanged, 0 deleted, 2 not loaded/)
  })

  test('loads documents that the search finds', async () => {
    const result = await callTool({ ...worker, name: 'search-documents', arguments: { query: 'zeppelin' } })
    assert.match(JSON.stringify(result.structuredContent), /guides-getting-started/)
  })

  const passages = async () => new Map((await worker.sql('SELECT chunk.id AS id, name AS document FROM rag_chunks AS chunk JOIN rag_documents AS document ON document.id = chunk.document')).map(({ id, document }) => [id, document]))

  test('replaces a document that changed, and leaves the passages of the others', async () => {
    await writeFile(join(folder, 'README.md'), '# Read me\n\nStart at the end.\n')
    const before = await passages()
    assert.match((await load()).output, /1 loaded, 1 unchanged, 0 deleted, 2 not loaded/)
    const after = await passages()
    const changed = [...after].filter(([id]) => !before.has(id)).map(([, document]) => document)
    assert.deepEqual(changed, ['readme'])
    assert.equal(after.size, before.size)
    const result = await callTool({ ...worker, name: 'read-document', arguments: { slug: 'readme' } })
    assert.match(JSON.stringify(result), /at the end/)
  })

  test('deletes documents without a file, but no document that another client saved', async () => {
    const text = 'Another zeppelin.'
    await callTool({ ...worker, name: 'save-document', arguments: { slug: 'person', title: 'Person', text } })
    await callTool({ ...worker, name: 'save-document', arguments: { slug: 'readme', title: 'Person', text } })
    for (const file of ['README.md', 'guides/Getting Started.md']) await rm(join(folder, file))
    assert.match((await load()).output, /^deleted guides-getting-started$[^]*0 loaded, 0 unchanged, 1 deleted, 2 not loaded/m)
    const { structuredContent } = await callTool({ ...worker, name: 'search-documents', arguments: { query: 'zeppelin' } })
    assert.deepEqual(structuredContent.documents.map(({ slug }) => slug).sort(), ['person', 'readme'])
  })

  test('prints the error of the server if the token is wrong', async () => {
    const { status, output } = await load('wrong')
    assert.equal(status, 1)
    assert.match(output, /^load: .*token/m)
  })

  test('continues after a kill', async () => {
    const many = await mkdtemp(join(tmpdir(), 'load-'))
    try {
      const text = (n) => `# Number ${n}\n\n${`Part ${n} of the airship. `.repeat(100)}`
      await Promise.all(Array.from({ length: 150 }, (_, n) => writeFile(join(many, `n${n}.md`), text(n))))
      const args = [many, '--url', worker.url, '--set', 'many']
      const child = spawn(join(ROOT, 'scripts/load'), args, { env: { ...process.env, MCP_TOKEN: worker.token }, stdio: ['ignore', 'ignore', 'pipe'] })
      child.stderr.on('data', (text) => { if (/^\[\d+\/150\]/m.test(text)) child.kill('SIGKILL') })
      await new Promise((resolve) => child.once('exit', resolve))
      const output = await new Promise((resolve) => execFile(join(ROOT, 'scripts/load'), args, { env: { ...process.env, MCP_TOKEN: worker.token } },
        (_, stdout, stderr) => resolve(stdout + stderr)))
      const [, loaded, unchanged] = /(\d+) loaded, (\d+) unchanged, 0 deleted, 0 not loaded/.exec(output)
      assert.equal(Number(loaded) + Number(unchanged), 150)
      assert.ok(Number(unchanged) >= 25 && Number(loaded) > 0, output)
      const [{ documents, chunked }] = await worker.sql(
        "SELECT count(*) AS documents, count(rag_documents.id) AS chunked FROM documents LEFT JOIN rag_documents ON name = slug WHERE set_name = 'many'")
      assert.deepEqual([documents, chunked], [150, 150])
    } finally {
      await rm(many, { recursive: true, force: true })
    }
  })
})
