// Tests of scripts/load: the documents that it reads from files, and its behavior when a server rejects them. A fake server records the
// requests. tests/e2e/load.test.mjs uses the knowledge base.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { firstToken } from '../../../scripts/lib/dev-vars.mjs'
import { collisions, markdownFiles, slugOf, titleOf } from '../../../scripts/lib/documents.mjs'
import { isConfidential, RetryLater, withRetries } from '../../../scripts/lib/mcp.mjs'

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

describe('a token may be sent to', () => {
  for (const [url, isAllowed] of [
    ['https://kb.example.com/mcp', true],
    ['http://localhost:8787/mcp', true],
    ['http://LOCALHOST/mcp', true],
    ['http://127.0.0.1:8787/mcp', true],
    ['http://127.8.9.10/mcp', true],
    ['http://127.1/mcp', true],
    ['http://[::1]:8787/mcp', true],
    ['http://kb.example.com/mcp', false],
    ['http://localhost.example.com/mcp', false],
    ['http://127.0.0.1.example.com/mcp', false],
    ['http://user:127.0.0.1@kb.example.com/mcp', false],
    ['http://192.168.1.7:8787/mcp', false],
    ['http://0.0.0.0:8787/mcp', false],
    ['http://[2001:db8::1]/mcp', false],
    ['ftp://localhost/mcp', false],
  ]) test(`${url}: ${isAllowed ? 'yes' : 'no'}`, () => assert.equal(isConfidential(new URL(url)), isAllowed))
})

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
  for (const [name, text, title] of [
    ['comes from the front matter', '---\ntitle: One\n---\n# Two\n', 'One'],
    ['may be in double quotes', '---\nslug: x\ntitle: "A \\"B\\": C"\n---\n', 'A "B": C'],
    ['may be in single quotes', "---\ntitle: 'It''s'  # why\n---\n", "It's"],
    ['does not include a comment', '---\ntitle: One # two\n---\n', 'One'],
    ['is found in front matter with Windows line endings', '---\r\ntitle: One\r\n---\r\n# Two\r\n', 'One'],
    ['is the heading if the front matter has no title', '---\ntags: [a]\n---\n\n# Two\n', 'Two'],
    ['is the heading if the front matter is empty', '---\n---\n# Two\n', 'Two'],
    ['does not come from text between horizontal rules', 'Text\n---\ntitle: no\n---\n# Two\n', 'Two'],
    ['is the first heading if there is no front matter', 'Text\n\n# One #\n\n# Two\n', 'One'],
    ['is not a heading of a lower level', '## Sub\n# One\n', 'One'],
    ['is not in a code fence', '```sh\n# no\n```\n# One\n', 'One'],
    ['is not in a longer code fence', '````\n```\n# no\n````\n# One\n', 'One'],
    ['is not in a code fence without an end', '~~~\n# no\n', 'file'],
    ['is not a tag', '#tag\n', 'file'],
    ['is the name of the file if there is no heading', '', 'file'],
  ]) test(name, () => assert.equal(titleOf(text, 'folder/file.md'), title))
})

test('only .md files outside of dot folders and node_modules are loaded, and a cycle of symbolic links ends', async () => {
  const root = await folderOf({
    'b.md': '', 'a/c.md': '', '.git/x.md': '', 'node_modules/y.md': '', 'z.txt': '', 'a/node_modules/q.md': '',
  })
  await symlink(root, join(root, 'a/loop'))
  await symlink(join(root, 'nowhere'), join(root, 'gone.md'))
  assert.deepEqual(await markdownFiles(root), ['a/c.md', 'b.md'])
})

test('a collision lists every file with the slug', () => {
  const documents = ['a/b.md', 'a-b.md', 'c.md'].map((path) => ({ path, slug: slugOf(path) }))
  assert.deepEqual(collisions(documents), [['a-b', ['a/b.md', 'a-b.md']]])
})

describe('the token in .dev.vars', () => {
  test('is the first one in plain text', () =>
    assert.equal(firstToken(`X=1\nMCP_STATIC_TOKENS='[{"sha256":"00"},{"token":"t","scopes":[]}]'\n`), 't'))
  test('is undefined without a list', () => assert.equal(firstToken('X=1\n'), undefined))
  test('is undefined if the list has only hashes', () => assert.equal(firstToken(`MCP_STATIC_TOKENS='[{"sha256":"00"}]'`), undefined))
  test('is an error if the list is not JSON', () => assert.throws(() => firstToken('MCP_STATIC_TOKENS=abc'), /not JSON/))
})

describe('retries', () => {
  /** Runs withRetries with an attempt that fails with each of these errors, and then succeeds. */
  async function attempt(errors) {
    const waited = []
    let attempts = 0
    const result = await withRetries(async () => {
      const error = errors[attempts++]
      if (error) throw error
      return 'done'
    }, { say: (message) => waited.push(message), sleep: async (seconds) => waited.push(seconds) }).catch((error) => error)
    return { result, attempts, waited }
  }
  const later = (...seconds) => seconds.map((each) => new RetryLater('too many', each))

  test('wait for the requested time, at least 1 s and at most 120 s, and report it first', async () => {
    assert.deepEqual(await attempt(later(0, 7, 121, Infinity)), {
      result: 'done',
      attempts: 5,
      waited: [
        'waiting 1 s: too many', 1, 'waiting 7 s: too many', 7, 'waiting 120 s: too many', 120, 'waiting 120 s: too many', 120,
      ],
    })
  })
  test('happen at most five times', async () => {
    const five = await attempt(later(1, 1, 1, 1, 1))
    assert.deepEqual([five.result, five.attempts], ['done', 6])
    const six = await attempt(later(1, 1, 1, 1, 1, 1))
    assert.deepEqual([six.result.message, six.attempts, six.waited.length], ['too many', 6, 10])
  })
  test('do not happen after another error', async () => {
    const other = new Error('broken')
    assert.deepEqual(await attempt([other]), { result: other, attempts: 1, waited: [] })
    assert.deepEqual(await attempt([...later(1), other]), { result: other, attempts: 2, waited: ['waiting 1 s: too many', 1] })
  })
})

describe('with a server', () => {
  let server, url, received
  // The answers of the fake server to documents, by slug.
  const answers = {
    refused: { result: { isError: true, content: [{ type: 'text', text: 'title is too long' }] } },
    invalid: { error: { code: -32602, message: 'no such tool' } },
  }
  // The answers of the fake server to the first request with a slug: status, Retry-After, body.
  const busy = {
    limited: [429, '0', '{"jsonrpc":"2.0","error":{"code":-32000,"message":"Too many requests."}}'],
    outage: [503, '1', 'try later'],
    'limited-without-time': [429, undefined, 'too many'],
    'limited-until-a-date': [429, 'Wed, 21 Oct 2099 07:28:00 GMT', 'too many'],
    'down-with-time': [500, '0', 'it broke'],
  }
  before(async () => {
    server = createServer(async (request, response) => {
      const chunks = []
      for await (const chunk of request) chunks.push(chunk)
      const message = JSON.parse(Buffer.concat(chunks))
      const { slug } = message.params.arguments
      const first = !received.some((one) => one.message.params.arguments.slug === slug)
      received.push({ headers: request.headers, message, at: performance.now() })
      if (busy[slug] && first) {
        const [status, after, body] = busy[slug]
        return response.writeHead(status, after && { 'retry-after': after }).end(body)
      }
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

  test('each file is one call of save-document in revision 2026-07-28', async () => {
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

  test('a rejected file is reported with the reason, the other files are loaded, and the status is 1', async () => {
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
      /é\.md: NOT LOADED: its path has no slug/,
      /1 loaded, 5 not loaded/,
    ]) assert.match(output, line)
    assert.equal(received.length, 4)
  })

  test('if the server sends Retry-After in seconds, the same file is sent again after that time', async () => {
    const { status, output } = await load(await folderOf({ 'limited.md': '# One\n', 'outage.md': '' }), '--url', url)
    assert.equal(status, 0, output)
    assert.match(output, /^limited\.md: waiting 1 s: Too many requests\.\n\[1\/2\] limited\.md -> limited$/m)
    assert.match(output, /^outage\.md: waiting 1 s: HTTP 503: try later\n\[2\/2\] outage\.md -> outage$/m)
    assert.match(output, /2 loaded, 0 not loaded/)
    const [first, again, ...others] = received
    assert.equal(others.length, 2)
    assert.deepEqual(again.message.params, first.message.params)
    // A timer may fire a little early.
    assert.ok(again.at - first.at > 990, `${again.at - first.at} ms`)
  })

  test('without Retry-After in seconds, or after another error, the file is not sent again', async () => {
    const root = await folderOf({ 'limited-without-time.md': '', 'limited-until-a-date.md': '', 'down-with-time.md': '' })
    const { status, output } = await load(root, '--url', url)
    assert.equal(status, 1)
    for (const line of [
      /limited-without-time\.md: NOT LOADED: HTTP 429: too many$/m,
      /limited-until-a-date\.md: NOT LOADED: HTTP 429: too many$/m,
      /down-with-time\.md: NOT LOADED: HTTP 500: it broke$/m,
      /0 loaded, 3 not loaded/,
    ]) assert.match(output, line)
    assert.doesNotMatch(output, /waiting/)
    assert.equal(received.length, 3)
  })

  test('if two files have the same slug, both are reported and nothing is sent', async () => {
    const { status, output } = await load(await folderOf({ 'a b.md': '', 'a/b.md': '', 'c.md': '' }), '--url', url)
    assert.equal(status, 1)
    assert.match(output, /several files have the slug a-b: a b\.md, a\/b\.md/)
    assert.equal(received.length, 0)
  })

  test('the token is not sent in clear text to another machine without --allow-clear-text', async () => {
    const root = await folderOf({ 'a.md': '# A\n' })
    // This address is not a loopback address, but it reaches the fake server.
    const remote = url.replace('127.0.0.1', '0.0.0.0')
    const rejected = await load(root, '--url', remote)
    assert.equal(rejected.status, 1)
    assert.match(rejected.output,
      /^load: --url http:\/\/0\.0\.0\.0:\d+\/mcp would send the token in clear text: use https, or add --allow-clear-text\n$/)
    assert.equal(received.length, 0)
    const allowed = await load(root, '--url', remote, '--allow-clear-text')
    assert.equal(allowed.status, 0, allowed.output)
    assert.equal(received[0].headers.authorization, 'Bearer secret-token')
  })

  test('wrong arguments are reported', async () => {
    assert.match((await load()).output, /pass one folder/)
    assert.match((await load('/nowhere')).output, /is not a folder/)
    assert.match((await load(await folderOf({ 'a.txt': '' }))).output, /no \.md file/)
    assert.match((await load('.', '--url', 'nonsense')).output, /--url must be a URL \(got nonsense\)/)
    assert.match((await load('.', '--bogus')).output, /bogus/)
  })
})
