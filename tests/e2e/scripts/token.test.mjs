// scripts/token: what it prints is what src/auth/static_tokens.rs reads.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { parseEnv } from 'node:util'

const TOKEN = new URL('../../../scripts/token', import.meta.url).pathname

const run = (...args) => new Promise((resolve) =>
  execFile(TOKEN, args, (error, stdout, stderr) => resolve({ status: error ? error.code : 0, stdout, stderr })))

/** What it made: the token, the line for the secret, and the list that the line is. */
async function made(...args) {
  const { status, stdout, stderr } = await run(...args)
  assert.equal(status, 0, stderr)
  const lines = stdout.split('\n')
  assert.equal(lines.length, 3, 'two lines, and their ends')
  assert.equal(lines[2], '')
  const [token, line] = lines
  return { token, line, list: JSON.parse(line), stderr }
}

const sha256 = (text) => createHash('sha256').update(text).digest('hex')
const now = () => Math.floor(Date.now() / 1000)

let folder
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'token-'))
})
after(() => rm(folder, { recursive: true, force: true }))

async function fileOf(text) {
  const file = join(folder, 'tokens.json')
  await writeFile(file, text)
  return file
}

describe('the entry', () => {
  test('has the digest of the token, the subject and the scopes, and nothing else', async () => {
    const { token, list } = await made('ada', 'kb:read', 'kb:write')
    assert.deepEqual(list, [{ sha256: sha256(token), subject: 'ada', scopes: ['kb:read', 'kb:write'] }])
  })

  test('no scope is a list without scopes', async () => {
    assert.deepEqual((await made('ada')).list[0].scopes, [])
  })

  test('the program that calls', async () => {
    const { token, list } = await made('ada', '--client-id', 'cli', 'kb:read')
    assert.deepEqual(list, [{ sha256: sha256(token), subject: 'ada', client_id: 'cli', scopes: ['kb:read'] }])
  })

  for (const [duration, seconds] of [['30d', 2_592_000], ['12h', 43_200], ['90m', 5_400]]) {
    test(`${duration} from now`, async () => {
      const earliest = now()
      const { list: [{ expires }] } = await made('ada', '--expires', duration)
      const latest = now()
      assert.ok(Number.isSafeInteger(expires))
      assert.ok(earliest + seconds <= expires && expires <= latest + seconds, `${expires}`)
    })
  }

  test('a scope may have every character that a scope can have', async () => {
    const scope = '!#$%&()*+,-./0:;<=>?@A[]^_`a{|}~'
    assert.deepEqual((await made('ada', scope)).list[0].scopes, [scope])
  })
})

describe('the output', () => {
  test('the token is 32 random bytes, and only stdout has it', async () => {
    const [one, other] = await Promise.all([made('ada'), made('ada')])
    assert.match(one.token, /^[A-Za-z0-9_-]{43}$/)
    assert.notEqual(one.token, other.token)
    assert.ok(!one.line.includes(one.token))
    assert.ok(!one.stderr.includes(one.token))
  })

  test('what to do with it goes to stderr', async () => {
    const { stderr } = await made('ada')
    assert.match(stderr, /npx wrangler secret put MCP_STATIC_TOKENS/)
    assert.match(stderr, /\.dev\.vars/)
    assert.match(stderr, /--list/)
  })

  test('in .dev.vars, between single quotes, it is the same list', async () => {
    const subject = `O'Hara "\\'$HOME\` #1\nü`
    const { line, list } = await made(subject, '--client-id', "it's")
    assert.equal(list[0].subject, subject)
    assert.ok(!line.includes("'"))
    const { MCP_STATIC_TOKENS } = parseEnv(`A=1\nMCP_STATIC_TOKENS='${line}'\nB=2\n`)
    assert.deepEqual(JSON.parse(MCP_STATIC_TOKENS), list)
  })

  test('--help is the comment at its top', async () => {
    const { status, stdout } = await run('--help')
    assert.equal(status, 0)
    assert.match(stdout, /scripts\/token SUBJECT/)
  })
})

describe('a list that there is', () => {
  test('has the new entry at its end, and its file is as it was', async () => {
    const before = [
      { token: 'plain', subject: 'bob', scopes: ['kb:read'] },
      { sha256: sha256('x'), subject: 'eve', client_id: 'cli', scopes: [], expires: 1000 },
    ]
    const text = JSON.stringify(before, null, 2)
    const file = await fileOf(text)
    const { token, list } = await made('ada', 'kb:read', '--list', file)
    assert.deepEqual(list, [...before, { sha256: sha256(token), subject: 'ada', scopes: ['kb:read'] }])
    assert.equal(await readFile(file, 'utf8'), text)
  })

  test('may be empty', async () => {
    assert.equal((await made('ada', '--list', await fileOf('[]\n'))).list.length, 1)
  })

  test('may be what it printed before', async () => {
    const first = await made('ada')
    const { list } = await made('bob', '--list', await fileOf(`${first.line}\n`))
    assert.deepEqual(list.map(({ subject }) => subject), ['ada', 'bob'])
    assert.deepEqual(list[0], first.list[0])
  })

  for (const [what, text, says] of [
    ['no JSON', 's3cret', /is not a JSON array/],
    ['nothing', '', /is not a JSON array/],
    ['two lines of output', 's3cret\n[]', /is not a JSON array/],
    ['an object', '{"s3cret":1}', /is not a JSON array/],
    ['no entries', '["s3cret"]', /entry 1 must have/],
    ['null', '[null]', /entry 1 must have/],
    ['an entry without a token', '[{"token":"s3cret","subject":"a","scopes":[]},{"subject":"b","scopes":[]}]', /entry 2 must have/],
    ['an entry with token and digest', '[{"token":"s3cret","sha256":"00","subject":"a","scopes":[]}]', /entry 1 must have/],
    ['an entry without scopes', '[{"token":"s3cret","subject":"a"}]', /entry 1 must have/],
    ['an entry without a subject', '[{"token":"s3cret","scopes":[]}]', /entry 1 must have/],
  ]) {
    test(`${what}: refused, and not quoted`, async () => {
      const { stderr } = await refused(['ada', '--list', await fileOf(text)], says)
      assert.ok(!stderr.includes('s3cret'), stderr)
    })
  }

  test('is not there', () => refused(['ada', '--list', '/nowhere/tokens.json'], /cannot be read \(ENOENT\)/))
})

describe('wrong arguments: one sentence, nothing on stdout', () => {
  for (const [args, says] of [
    [[], /name who calls/],
    [[''], /SUBJECT is empty/],
    [[' '], /SUBJECT is empty/],
    [['ada', ''], /a SCOPE is empty/],
    [['ada', 'kb:read kb:write'], /SCOPE "kb:read kb:write": it has a space/],
    [['ada', 'a. b'], /SCOPE "a\. b": it has a space/],
    [['ada', 'a"b'], /it has a space, a quote/],
    [['ada', 'a\\b'], /a backslash/],
    [['ada', 'a\nb'], /SCOPE "a\\nb"/],
    [['ada', 'kb:é'], /what is not ASCII/],
    [['ada', 'kb:read', 'offline_access'], /offline_access is no scope/],
    [['ada', '--client-id', ''], /--client-id is empty/],
    [['ada', '--client-id'], /--client-id/],
    [['ada', '--client-id', '--expires', '1d'], /--client-id/],
    [['ada', '--list'], /--list/],
    [['ada', '--bogus'], /bogus/],
    [['ada', '--expires', '30'], /--expires "30": a number of days, hours or minutes/],
    [['ada', '--expires', '0d'], /--expires "0d"/],
    [['ada', '--expires=-1d'], /--expires "-1d"/],
    [['ada', '--expires', '1.5h'], /--expires "1\.5h"/],
    [['ada', '--expires', '1w'], /--expires "1w"/],
    [['ada', '--expires', '1d12h'], /--expires "1d12h"/],
    [['ada', '--expires', ''], /--expires ""/],
    [['ada', '--expires', '9999999d'], /--expires "9999999d"/],
  ]) test(JSON.stringify(args), () => refused(args, says))
})

async function refused(args, says) {
  const result = await run(...args)
  assert.equal(result.status, 1)
  assert.equal(result.stdout, '')
  assert.match(result.stderr, says)
  assert.match(result.stderr, /^token: .+\n$/, 'one line')
  return result
}
