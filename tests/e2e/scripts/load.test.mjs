// Tests of scripts/load: the documents that it reads from files, and its behavior when a server rejects them. A fake server records the
// requests. tests/e2e/load.test.mjs uses the knowledge base.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { firstToken } from '../../../scripts/lib/dev-vars.mjs'
import { collisions, markdownFiles, slugOf } from '../../../scripts/lib/documents.mjs'
import { isConfidential, RetryLater, withRetries } from '../../../scripts/lib/mcp.mjs'
import { plainText, titleOf } from '../../../scripts/lib/title.mjs'

// app/src/passages.rs and src/rag/chunks/heading.rs read the same table.
const { slugs: SLUGS, headings: HEADINGS } = JSON.parse(await readFile(new URL('../../documents.json', import.meta.url), 'utf8'))

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
    ['http://127.0.0.1:8787/mcp', true],
    ['http://kb.example.com/mcp', false],
    ['http://127.0.0.1.example.com/mcp', false],
    ['http://user:127.0.0.1@kb.example.com/mcp', false],
  ]) test(`${url}: ${isAllowed ? 'yes' : 'no'}`, () => assert.equal(isConfidential(new URL(url)), isAllowed))
})

describe('the slug of a path', () => {
  for (const [path, slug] of SLUGS) test(`${path} -> ${slug}`, () => assert.equal(slugOf(path), slug))

  test('is the same for both forms of a letter with a diacritic', () => assert.equal(slugOf('Cafe\u0301.md'), 'café'))

  test('has a hash of the path instead of a name without letters and digits', () => {
    const slugs = ['😀.md', '🚀.md', 'odd/😀.md', 'odd/---.md', '_.md'].map(slugOf)
    for (const slug of slugs) assert.match(slug, /^(odd-)?doc-[0-9a-f]{8}$/)
    assert.equal(new Set(slugs).size, slugs.length)
  })

  test('has at most 200 bytes, and a hash at the end of a long path', () => {
    assert.equal(slugOf(`${'a'.repeat(200)}.md`), 'a'.repeat(200))
    for (const letter of ['a', 'é', '語', '𠮷']) {
      const [one, other] = ['1', '2'].map((end) => slugOf(`${letter.repeat(201)}${end}.md`))
      assert.match(one, new RegExp(`^${letter}+-[0-9a-f]{8}$`, 'u'))
      assert.ok(Buffer.byteLength(one) <= 200 && one !== other, one)
    }
  })
})

describe('the title of a document', () => {
  for (const [name, text, title] of [
    ['comes from the front matter', '---\ntitle: One\n---\n# Two\n', 'One'],
    ['is the first heading if there is no front matter', 'Text\n\n# One #\n\n# Two\n', 'One'],
    ['is not in a code fence', '```sh\n# no\n```\n# One\n', 'One'],
    ['is not in a comment', '<!--\n# no\n-->\n# One\n', 'One'],
    ['is the name of the file if there is no heading', '', 'file'],
    ['can be in quotes', '---\ntitle: "One: \\"a\\"" # no\n---\n', 'One: "a"'],
    ['can have several lines in YAML', '---\ntitle: >\n  One\n  and two\ntags: [a]\n---\n', 'One and two'],
    ['can be a number in YAML', '---\ntitle: 1.10\n---\n', '1.10'],
    ['can be YAML that is not valid', '---\ntitle: One: a\n---\n', 'One: a'],
    ['is not the title of a part of the front matter', '---\nimage:\n  title: no\n---\n# One\n', 'One'],
    ['comes from a front matter that ends with dots', '---\ntitle: One\n...\n# Two\n', 'One'],
    ['comes from a front matter in TOML', '+++\ntitle = "One \\"a\\"" # no\n[extra]\ntitle = "no"\n+++\n# Two\n', 'One "a"'],
    ['comes from a literal text in TOML', "+++\ndate = 2026-01-02\ntitle = 'One\\a'\n+++\n", 'One\\a'],
    ['is not after a line of dashes that is no front matter', '---\n\n# One\n\ntitle: no\n---\n', 'One'],
    ['is the line above a line of equals signs', 'One\n===\n\n# Two\n', 'One'],
    ['can be several lines above a line of equals signs', 'Text\n\nOne\nand two\n=\n', 'One and two'],
    ['can be between two lines of equals signs', '===\nOne\n===\n', 'One'],
    ['is not a list above a line of equals signs', '- no\n===\n\n# One\n', 'One'],
    ['is an HTML heading of level 1', '<p>\n<img src="a.png">\n<h1 align="center">\n  <b>One</b>\n</h1>\n\n# Two\n', 'One'],
    ['is in a file whose lines end with CR', '---\rtags: a\r---\rText\r\r# One\r\r# Two\r', 'One'],
    ['is after a byte order mark', '\ufeff# One\n', 'One'],
    ['is the next heading if the first has only badges', '# [![build](https://a.example/b.svg)](https://a.example)\n\n# One\n', 'One'],
    ['has at most 300 characters', `# ${'😀'.repeat(301)}\n`, `${'😀'.repeat(299)}…`],
    ['has no badges, however long they are', `# One ${'[![b](https://a.example/b.svg)](https://a.example) '.repeat(20)}\n`, 'One'],
  ]) test(name, () => assert.equal(titleOf(text, 'folder/file.md'), title))

  for (const [markdown, text] of HEADINGS) test(`${markdown} -> ${text || '(none)'}`, () => assert.equal(plainText(markdown), text))
})

test('only .md files without a dot at the beginning and outside of dot folders and node_modules are loaded, and no symbolic link is followed', async () => {
  const outside = await folderOf({ 'secret.key': 'SECRET', 'more.md': '' })
  const root = await folderOf({
    'b.md': '', 'a/c.md': '', '.git/x.md': '', 'node_modules/y.md': '', 'z.txt': '', 'a/node_modules/q.md': '',
    '.hidden.md': '', '.hidden.txt': '',
  })
  await symlink(root, join(root, 'a/loop'))
  await symlink(join(root, 'nowhere'), join(root, 'gone.md'))
  await symlink(join(outside, 'secret.key'), join(root, 'notes.md'))
  await symlink(join(outside, 'secret.key'), join(root, 'notes.txt'))
  await symlink(outside, join(root, 'more'))
  assert.deepEqual(await markdownFiles(root), {
    files: ['a/c.md', 'b.md'],
    skipped: ['.git', '.hidden.md', 'a/node_modules', 'node_modules'],
    links: ['a/loop', 'gone.md', 'more', 'notes.md'],
  })
})

test('a collision lists every file with the slug', () => {
  const documents = ['a/b.md', 'a-b.md', 'c.md'].map((path) => ({ path, slug: slugOf(path) }))
  assert.deepEqual([...collisions(documents)], [['a-b', ['a/b.md', 'a-b.md']]])
})

describe('the token in .dev.vars', () => {
  test('is the first one in plain text', () =>
    assert.equal(firstToken(`X=1\nMCP_STATIC_TOKENS='[{"sha256":"00"},{"token":"t","scopes":[]}]'\n`), 't'))
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
  let server, url, received, stored
  /** The failures of the next requests that contain a slug: status, Retry-After, body. */
  let failing
  // The answers of the fake server to requests that contain one of these slugs.
  const answers = {
    refused: { result: { isError: true, content: [{ type: 'text', text: 'title is too long' }] } },
    invalid: { error: { code: -32602, message: 'no such tool' } },
  }
  const tools = {
    'list-set': ({ set, after }) => {
      const documents = [...stored].filter(([slug, one]) => one.set === set && slug > after).sort().slice(0, 3)
      return { documents: documents.map(([slug, { hash }]) => ({ slug, hash })), next: documents.length === 3 ? documents[2][0] : undefined }
    },
    run_ingest: ({ documents }) => {
      for (const one of documents) stored.set(one.slug, one)
      return { documents: [] }
    },
    'delete-document': ({ slug, set }) => ({ existed: stored.get(slug)?.set === set && stored.delete(slug) }),
  }
  before(async () => {
    server = createServer(async (request, response) => {
      const chunks = []
      for await (const chunk of request) chunks.push(chunk)
      const message = JSON.parse(Buffer.concat(chunks))
      if (message.method === 'tools/list') {
        response.writeHead(200, { 'content-type': 'application/json' })
        return response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, result: { tools: Object.keys(tools).map((name) => ({ name })) } }))
      }
      const { name, arguments: args } = message.params
      received.push({ headers: request.headers, message, name, args, at: performance.now() })
      const slugs = args.documents?.map(({ slug }) => slug) ?? []
      const slug = slugs.find((one) => failing[one]?.length > 0)
      if (slug) {
        const [status, after, body] = failing[slug].shift()
        if (!status) return response.destroy()
        return response.writeHead(status, after && { 'retry-after': after }).end(body)
      }
      const rejected = slugs.find((one) => answers[one])
      const answer = answers[rejected] ?? { result: { content: [], structuredContent: tools[name](args) } }
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: message.id, ...answer }))
    })
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    url = `http://127.0.0.1:${server.address().port}/mcp`
  })
  after(() => server.close())
  beforeEach(() => {
    stored = new Map()
    failing = {}
  })

  /** Runs the script. `interrupt` is called with the process for each of its lines. */
  const run = (args, interrupt) => {
    received = []
    return new Promise((resolve) => {
      const child = execFile(LOAD, args, { env: { ...process.env, MCP_TOKEN: 'secret-token' } }, (error, stdout, stderr) =>
        resolve({ status: error ? error.code ?? error.signal : 0, output: stdout + stderr }))
      if (interrupt) child.stderr.on('data', (text) => interrupt(child, text))
    })
  }
  const load = (...args) => run(args)
  const calls = () => received.map(({ name, args }) => (args.documents ? args.documents.map(({ slug }) => slug) : name))
  const numbered = (count) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`n${String(n).padStart(3, '0')}.md`, `# ${n}\n`]))

  test('the documents are sent with their set and hash in revision 2026-07-28', async () => {
    const root = await folderOf({ 'README.md': '# Hello\n', 'docs/Guide.md': '---\ntitle: The guide\n---\nText é\n' })
    const { status, output } = await load(root, '--url', url, '--set', 'notes')
    assert.equal(status, 0, output)
    assert.match(output, /^2 files for the set notes, which has 0 documents$/m)
    assert.match(output, /^README\.md -> readme\ndocs\/Guide\.md -> docs-guide\n\[2\/2\] \d+ files\/s, 0 not loaded$/m)
    assert.match(output, /^2 loaded, 0 unchanged, 0 deleted, 0 not loaded \(\d+\.\d s\)$/m)
    assert.doesNotMatch(output, /secret-token/)
    assert.deepEqual(calls(), ['list-set', ['readme', 'docs-guide']])
    const [readme, guide] = received[1].args.documents
    assert.partialDeepStrictEqual(readme, { slug: 'readme', title: 'Hello', text: '# Hello\n', set: 'notes' })
    assert.partialDeepStrictEqual(guide, { slug: 'docs-guide', title: 'The guide', text: '---\ntitle: The guide\n---\nText é\n', set: 'notes' })
    assert.match(guide.hash, /^[\w-]{43}$/)
    const { headers, message } = received[1]
    assert.equal(headers.authorization, 'Bearer secret-token')
    assert.equal(headers['mcp-protocol-version'], '2026-07-28')
    assert.equal(headers['mcp-method'], message.method)
    assert.equal(headers['mcp-name'], message.params.name)
    assert.equal(message.params._meta['io.modelcontextprotocol/protocolVersion'], '2026-07-28')
  })

  test('only files that changed are sent, and documents without a file are deleted', async () => {
    const root = await folderOf({ 'a.md': '# A\n', 'b.md': '# B\n', 'c.md': '# C\n', 'd.md': '# D\n', 'e.md': '# E\n' })
    assert.equal((await load(root, '--url', url)).status, 0)
    // Another program has saved `e` meanwhile, and has a document without a set.
    stored.set('e', { slug: 'e', text: 'other' })
    stored.set('f', { slug: 'f', set: 'other' })
    await writeFile(join(root, 'b.md'), '# B2\n')
    await writeFile(join(root, 'bad.md'), Buffer.from([0xff]))
    for (const file of ['d.md', 'e.md']) await rm(join(root, file))
    const { status, output } = await load(root, '--url', url)
    assert.equal(status, 1)
    assert.deepEqual(calls(), ['list-set', 'list-set', ['b'], 'delete-document'])
    assert.match(output, /^deleted d$/m)
    assert.match(output, /1 loaded, 2 unchanged, 1 deleted, 1 not loaded/)
    assert.deepEqual([...stored.keys()].sort(), ['a', 'b', 'c', 'e', 'f'])
  })

  test('--keep deletes nothing, and most of a set is deleted only with --delete-many', async () => {
    const root = await folderOf(numbered(24))
    await load(root, '--url', url, '--set', 's')
    const other = await folderOf({ 'n000.md': '# 0\n' })
    const refused = await load(other, '--url', url, '--set', 's')
    assert.equal(refused.status, 1)
    assert.match(refused.output, /23 of the 24 documents of the set s have no file\. Nothing was deleted/)
    assert.doesNotMatch(refused.output, /stopped after/)
    assert.equal((await load(other, '--url', url, '--set', 's', '--keep')).status, 0)
    assert.equal(stored.size, 24)
    const deleted = await load(other, '--url', url, '--set', 's', '--delete-many')
    assert.match(deleted.output, /0 loaded, 1 unchanged, 23 deleted, 0 not loaded/)
    assert.equal(stored.size, 1)
  })

  test('an interrupted load continues with the files that are missing', async () => {
    const root = await folderOf(numbered(100))
    for (const [signal, status] of [['SIGINT', 130], ['SIGKILL', 'SIGKILL']]) {
      const before = stored.size
      const interrupted = await run([root, '--url', url, '--set', 's'], (child, text) => {
        if (/^\[\d+\/100\]/m.test(text)) process.kill(child.pid, signal)
      })
      assert.equal(interrupted.status, status, interrupted.output)
      if (signal === 'SIGINT') assert.match(interrupted.output, /interrupted after \d+ of 100 files\. Run the same command again/)
      assert.ok(stored.size >= before + 25 && stored.size < 100, `${stored.size} documents`)
    }
    const before = stored.size
    const { status, output } = await load(root, '--url', url, '--set', 's')
    assert.equal(status, 0, output)
    assert.match(output, new RegExp(`${100 - before} loaded, ${before} unchanged, 0 deleted, 0 not loaded`))
    assert.equal(stored.size, 100)
  })

  test('a rejected file is reported with the reason, the other files are loaded, and the status is 1', async () => {
    failing = { down: Array(9).fill([500, '0', 'it broke\nsecret detail']) }
    const root = await folderOf({
      'bad.md': Buffer.from([0x23, 0x20, 0xff]), 'down.md': '', 'invalid.md': '', 'large.md': Buffer.alloc(1_600_001), 'refused.md': '',
      'zz.md': '',
    })
    await symlink('/etc/hostname', join(root, 'notes.md'))
    const { status, output } = await load(root, '--url', url)
    assert.equal(status, 1)
    for (const line of [
      /bad\.md: NOT LOADED: it is not UTF-8/,
      /down\.md: NOT LOADED: HTTP 500: it broke$/m,
      /invalid\.md: NOT LOADED: no such tool/,
      /large\.md: NOT LOADED: it has 1600001 bytes, and a file has at most 1600000/,
      /notes\.md: NOT LOADED: it is a link, which is not followed: replace it by what it points to/,
      /refused\.md: NOT LOADED: title is too long/,
      /zz\.md -> zz/,
      /1 loaded, 0 unchanged, 0 deleted, 6 not loaded/,
    ]) assert.match(output, line)
    assert.deepEqual([...stored.keys()], ['zz'])
    assert.doesNotMatch(output, /waiting|secret detail/)
  })

  test('files with the same slug are reported and keep their document, the other files are loaded, and the status is 1', async () => {
    stored.set('a-b', { slug: 'a-b', set: 's', hash: 'before' })
    const root = await folderOf({ 'a b.md': '', 'a/b.md': '', 'c.md': '', '.d.md': '', 'odd/日本語.md': '', 'odd/😀.md': '' })
    const { status, output } = await load(root, '--url', url, '--set', 's')
    assert.equal(status, 1)
    assert.match(output, /^a b\.md: NOT LOADED: its slug a-b is also that of a\/b\.md: rename one of them$/m)
    assert.match(output, /^a\/b\.md: NOT LOADED: its slug a-b is also that of a b\.md: rename one of them$/m)
    assert.match(output, /3 loaded, 0 unchanged, 0 deleted, 2 not loaded/)
    assert.deepEqual([...stored.keys()].sort(), ['a-b', 'c', slugOf('odd/😀.md'), 'odd-日本語'])
  })

  test('names that begin with a dot and node_modules are skipped, and the first of them are named', async () => {
    const many = Object.fromEntries(Array.from({ length: 12 }, (_, n) => [`.n${n % 10}${n}.md`, '']))
    const { status, output } = await load(await folderOf({ 'a.md': '', 'b/node_modules/c.md': '', ...many }), '--url', url)
    assert.equal(status, 0)
    assert.match(output, /^load: skipped, because names that begin with a dot and node_modules are not loaded: \.n00\.md, \.n010\.md, .*, and 3 others$/m)
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

  test('missing vectors are made until none is pending, if the server has a model', async (t) => {
    const answers = [{ embedded: 200, pending: 130 }, { embedded: 130, pending: 0 }]
    tools.run_reindex = () => answers.shift()
    t.after(() => { delete tools.run_reindex })
    const root = await folderOf({ 'a.md': '# A\n' })
    const { status, output } = await load(root, '--url', url)
    assert.equal(status, 0, output)
    assert.deepEqual(calls(), ['list-set', ['a'], 'run_reindex', 'run_reindex'])
    assert.match(output, /^200 vectors made, 130 pending\n330 vectors made, 0 pending$/m)

    answers.push({ embedded: 0, pending: 0 })
    const again = await load(root, '--url', url)
    assert.deepEqual([again.status, calls()], [0, ['list-set', 'run_reindex']])
    assert.doesNotMatch(again.output, /vectors/)

    answers.push({ embedded: 0, pending: 3 })
    const stuck = await load(root, '--url', url)
    assert.equal(stuck.status, 1)
    assert.match(stuck.output, /run_reindex makes no more vectors: run the same command again later/)
  })

  test('wrong arguments are reported', async () => {
    assert.match((await load()).output, /pass one folder/)
  })
})
