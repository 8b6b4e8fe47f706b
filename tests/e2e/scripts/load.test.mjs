// scripts/load: what it makes of files, and what it does when a server refuses. The server here is
// a small fake that keeps what it is sent; the real one is met in the tests of the app.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { firstToken } from '../../../scripts/lib/dev-vars.mjs'
import { collisions, markdownFiles, slugOf, titleOf } from '../../../scripts/lib/documents.mjs'

const LOAD = new URL('../../../scripts/load', import.meta.url).pathname

const folders = []
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

async function folderOf(files) {
  const root = await mkdtemp(join(tmpdir(), 'load-'))
  folders.push(root)
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true })
    await writeFile(join(root, path), content)
  }
  return root
}

describe('the slug of a path', () => {
  for (const [path, slug] of [
    ['README.md', 'readme'],
    ['docs/Getting Started.md', 'docs-getting-started'],
    ['a/b/c.MD', 'a-b-c'],
    ["what's new?.md", 'whats-new'],
    ['a  -  b.md', 'a-b'],
    ['-draft-.md', 'draft'],
    ['v1.2.md', 'v12'],
    ['ü.md', ''],
  ]) test(`${path} -> ${slug || '(none)'}`, () => assert.equal(slugOf(path), slug))
})

describe('the title of a document', () => {
  for (const [what, text, title] of [
    ['front matter', '---\ntitle: One\n---\n# Two\n', 'One'],
    ['front matter, quoted', '---\nslug: x\ntitle: "A \\"B\\": C"\n---\n', 'A "B": C'],
    ['front matter, single quotes', "---\ntitle: 'It''s'  # why\n---\n", "It's"],
    ['front matter with a comment', '---\ntitle: One # two\n---\n', 'One'],
    ['front matter, Windows lines', '---\r\ntitle: One\r\n---\r\n# Two\r\n', 'One'],
    ['front matter without a title', '---\ntags: [a]\n---\n\n# Two\n', 'Two'],
    ['front matter that is empty', '---\n---\n# Two\n', 'Two'],
    ['a rule is no front matter', 'Text\n---\ntitle: no\n---\n# Two\n', 'Two'],
    ['the first heading', 'Text\n\n# One #\n\n# Two\n', 'One'],
    ['a lower heading does not count', '## Sub\n# One\n', 'One'],
    ['not in a fence', '```sh\n# no\n```\n# One\n', 'One'],
    ['not in a longer fence', '````\n```\n# no\n````\n# One\n', 'One'],
    ['not in a fence that is never closed', '~~~\n# no\n', 'file'],
    ['a tag is no heading', '#tag\n', 'file'],
    ['the name of the file', '', 'file'],
  ]) test(what, () => assert.equal(titleOf(text, 'folder/file.md'), title))
})

test('files: dot folders, node_modules and other endings are left out; a loop of links ends', async () => {
  const root = await folderOf({ 'b.md': '', 'a/c.md': '', '.git/x.md': '', 'node_modules/y.md': '', 'z.txt': '', 'a/node_modules/q.md': '' })
  await symlink(root, join(root, 'a/loop'))
  await symlink(join(root, 'nowhere'), join(root, 'gone.md'))
  assert.deepEqual(await markdownFiles(root), ['a/c.md', 'b.md'])
})

test('collisions name every file of a slug', () => {
  const documents = ['a/b.md', 'a-b.md', 'c.md'].map((path) => ({ path, slug: slugOf(path) }))
  assert.deepEqual(collisions(documents), [['a-b', ['a/b.md', 'a-b.md']]])
})

describe('the token in .dev.vars', () => {
  test('the first plain one', () =>
    assert.equal(firstToken(`X=1\nMCP_STATIC_TOKENS='[{"sha256":"00"},{"token":"t","scopes":[]}]'\n`), 't'))
  test('none', () => assert.equal(firstToken('X=1\n'), undefined))
  test('only hashes', () => assert.equal(firstToken(`MCP_STATIC_TOKENS='[{"sha256":"00"}]'`), undefined))
  test('not JSON', () => assert.throws(() => firstToken('MCP_STATIC_TOKENS=abc'), /not JSON/))
})

describe('against a server', () => {
  let server, url, received
  // What the fake says to a document, by its slug.
  const answers = {
    refused: { result: { isError: true, content: [{ type: 'text', text: 'title is too long' }] } },
    invalid: { error: { code: -32602, message: 'no such tool' } },
  }
  before(async () => {
    server = createServer(async (request, response) => {
      const chunks = []
      for await (const chunk of request) chunks.push(chunk)
      const message = JSON.parse(Buffer.concat(chunks))
      received.push({ headers: request.headers, message })
      const { slug } = message.params.arguments
      if (slug === 'down') return response.writeHead(500).end('it broke\nsecret detail')
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...(answers[slug] ?? { result: { content: [] } }) }))
    })
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${server.address().port}/mcp`
  })
  after(() => server.close())

  const load = (...args) => {
    received = []
    return new Promise((resolve) =>
      execFile(LOAD, args, { env: { ...process.env, MCP_TOKEN: 'secret-token' } }, (error, stdout, stderr) =>
        resolve({ status: error ? error.code : 0, output: stdout + stderr })))
  }

  test('every file is one save-document call in the 2026-07-28 revision', async () => {
    const root = await folderOf({ 'README.md': '# Hello\n', 'docs/Guide.md': '---\ntitle: The guide\n---\nText é\n' })
    const { status, output } = await load(root, '--url', url)
    assert.equal(status, 0, output)
    assert.match(output, /2 loaded, 0 not loaded/)
    assert.doesNotMatch(output, /secret-token/)
    assert.deepEqual(received.map(({ message }) => message.params.arguments), [
      { slug: 'readme', title: 'Hello', text: '# Hello\n' },
      { slug: 'docs-guide', title: 'The guide', text: '---\ntitle: The guide\n---\nText é\n' },
    ])
    const { headers, message } = received[0]
    assert.equal(headers.authorization, 'Bearer secret-token')
    assert.equal(headers['mcp-protocol-version'], '2026-07-28')
    assert.equal(headers['mcp-method'], message.method)
    assert.equal(headers['mcp-name'], message.params.name)
    assert.equal(message.params._meta['io.modelcontextprotocol/protocolVersion'], '2026-07-28')
  })

  test('what is refused is named with the reason, the rest go on, the status is 1', async () => {
    const root = await folderOf({
      'bad.md': Buffer.from([0x23, 0x20, 0xff]), 'down.md': '', 'invalid.md': '', 'refused.md': '', 'zz.md': '', 'é.md': '',
    })
    const { status, output } = await load(root, '--url', url)
    assert.equal(status, 1)
    for (const line of [
      /bad\.md: NOT LOADED: it is not UTF-8/,
      /down\.md: NOT LOADED: HTTP 500: it broke$/m,
      /invalid\.md: NOT LOADED: no such tool/,
      /refused\.md: NOT LOADED: title is too long/,
      /zz\.md -> zz/,
      /é\.md: NOT LOADED: no slug/,
      /1 loaded, 5 not loaded/,
    ]) assert.match(output, line)
    assert.equal(received.length, 4)
  })

  test('two files with one slug: both are named and nothing is sent', async () => {
    const { status, output } = await load(await folderOf({ 'a b.md': '', 'a/b.md': '', 'c.md': '' }), '--url', url)
    assert.equal(status, 1)
    assert.match(output, /a-b: a b\.md, a\/b\.md/)
    assert.equal(received.length, 0)
  })

  test('wrong use says so', async () => {
    assert.match((await load()).output, /name one folder/)
    assert.match((await load('/nowhere')).output, /is not a folder/)
    assert.match((await load(await folderOf({ 'a.txt': '' }))).output, /no \.md file/)
    assert.match((await load('.', '--url', 'nonsense')).output, /not a URL/)
    assert.match((await load('.', '--bogus')).output, /bogus/)
  })
})
