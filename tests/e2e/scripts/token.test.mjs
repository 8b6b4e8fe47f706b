// Tests of scripts/token. Its output must have the format that src/auth/static_tokens.rs reads.

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

/** Runs the script. Returns the token, the line for the secret, the list in this line, and stderr. */
async function created(...args) {
  const { status, stdout, stderr } = await run(...args)
  assert.equal(status, 0, stderr)
  const lines = stdout.split('\n')
  assert.equal(lines.length, 3, 'two lines, and a line break after the second')
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
  test('contains only the digest of the token, the subject and the scopes', async () => {
    const { token, list } = await created('ada', 'kb:read', 'kb:write')
    assert.deepEqual(list, [{ sha256: sha256(token), subject: 'ada', scopes: ['kb:read', 'kb:write'] }])
  })

  test('without SCOPE, its list of scopes is empty', async () => {
    assert.deepEqual((await created('ada')).list[0].scopes, [])
  })

  test('contains the client id', async () => {
    const { token, list } = await created('ada', '--client-id', 'cli', 'kb:read')
    assert.deepEqual(list, [{ sha256: sha256(token), subject: 'ada', client_id: 'cli', scopes: ['kb:read'] }])
  })

  for (const [duration, seconds] of [['30d', 2_592_000], ['12h', 43_200], ['90m', 5_400]]) {
    test(`expires ${duration} from now`, async () => {
      const earliest = now()
      const { list: [{ expires }] } = await created('ada', '--expires', duration)
      const latest = now()
      assert.ok(Number.isSafeInteger(expires))
      assert.ok(earliest + seconds <= expires && expires <= latest + seconds, `${expires}`)
    })
  }

  test('accepts every valid character of a scope', async () => {
    const scope = '!#$%&()*+,-./0:;<=>?@A[]^_`a{|}~'
    assert.deepEqual((await created('ada', scope)).list[0].scopes, [scope])
  })
})

describe('the output', () => {
  test('the token has 32 random bytes, and only stdout contains it', async () => {
    const [one, other] = await Promise.all([created('ada'), created('ada')])
    assert.match(one.token, /^[A-Za-z0-9_-]{43}$/)
    assert.notEqual(one.token, other.token)
    assert.ok(!one.line.includes(one.token))
    assert.ok(!one.stderr.includes(one.token))
  })

  test('the instructions go to stderr', async () => {
    const { stderr } = await created('ada')
    assert.match(stderr, /npx wrangler secret put MCP_STATIC_TOKENS/)
    assert.match(stderr, /\.dev\.vars/)
    assert.match(stderr, /--list/)
  })

  test('the list is unchanged between single quotes in .dev.vars', async () => {
    const subject = `O'Hara "\\'$HOME\` #1\nü`
    const { line, list } = await created(subject, '--client-id', "it's")
    assert.equal(list[0].subject, subject)
    assert.ok(!line.includes("'"))
    const { MCP_STATIC_TOKENS } = parseEnv(`A=1\nMCP_STATIC_TOKENS='${line}'\nB=2\n`)
    assert.deepEqual(JSON.parse(MCP_STATIC_TOKENS), list)
  })

  test('--help prints the comment at the top of the script', async () => {
    const { status, stdout } = await run('--help')
    assert.equal(status, 0)
    assert.match(stdout, /scripts\/token SUBJECT/)
  })
})

describe('the current list', () => {
  test('gets the new entry at its end, and its file does not change', async () => {
    const before = [
      { token: 'plain', subject: 'bob', scopes: ['kb:read'] },
      { sha256: sha256('x'), subject: 'eve', client_id: 'cli', scopes: [], expires: 1000 },
    ]
    const text = JSON.stringify(before, null, 2)
    const file = await fileOf(text)
    const { token, list } = await created('ada', 'kb:read', '--list', file)
    assert.deepEqual(list, [...before, { sha256: sha256(token), subject: 'ada', scopes: ['kb:read'] }])
    assert.equal(await readFile(file, 'utf8'), text)
  })

  test('may be empty', async () => {
    assert.equal((await created('ada', '--list', await fileOf('[]\n'))).list.length, 1)
  })

  test('may be an earlier output', async () => {
    const first = await created('ada')
    const { list } = await created('bob', '--list', await fileOf(`${first.line}\n`))
    assert.deepEqual(list.map(({ subject }) => subject), ['ada', 'bob'])
    assert.deepEqual(list[0], first.list[0])
  })

  for (const [what, text, message] of [
    ['text that is not JSON', 's3cret', /must contain a JSON array/],
    ['an empty file', '', /must contain a JSON array/],
    ['two lines of output', 's3cret\n[]', /must contain a JSON array/],
    ['an object', '{"s3cret":1}', /must contain a JSON array/],
    ['an entry that is a string', '["s3cret"]', /entry 1 must have/],
    ['an entry that is null', '[null]', /entry 1 must have/],
    ['an entry without a token', '[{"token":"s3cret","subject":"a","scopes":[]},{"subject":"b","scopes":[]}]', /entry 2 must have/],
    ['an entry with token and digest', '[{"token":"s3cret","sha256":"00","subject":"a","scopes":[]}]', /entry 1 must have/],
    ['an entry without scopes', '[{"token":"s3cret","subject":"a"}]', /entry 1 must have/],
    ['an entry without a subject', '[{"token":"s3cret","scopes":[]}]', /entry 1 must have/],
  ]) {
    test(`${what} is rejected, and the error does not quote the file`, async () => {
      const { stderr } = await rejected(['ada', '--list', await fileOf(text)], message)
      assert.ok(!stderr.includes('s3cret'), stderr)
    })
  }

  test('a missing file is rejected', () => rejected(['ada', '--list', '/nowhere/tokens.json'], /cannot be read \(ENOENT\)/))
})

describe('wrong arguments give an error of one line and an empty stdout', () => {
  for (const [args, message] of [
    [[], /SUBJECT is missing/],
    [[''], /SUBJECT must not be empty/],
    [[' '], /SUBJECT must not be empty/],
    [['ada', ''], /SCOPE must not be empty/],
    [['ada', 'kb:read kb:write'], /SCOPE must contain only printable ASCII characters, .*\(got "kb:read kb:write"\)/],
    [['ada', 'a. b'], /SCOPE must contain only printable ASCII characters, .*\(got "a\. b"\)/],
    [['ada', 'a"b'], /only printable ASCII characters, without space, " and \\/],
    [['ada', 'a\\b'], /only printable ASCII characters, without space, " and \\/],
    [['ada', 'a\nb'], /\(got "a\\nb"\)/],
    [['ada', 'kb:é'], /only printable ASCII characters/],
    [['ada', 'kb:read', 'offline_access'], /SCOPE must not be offline_access/],
    [['ada', '--client-id', ''], /--client-id must not be empty/],
    [['ada', '--client-id'], /--client-id/],
    [['ada', '--client-id', '--expires', '1d'], /--client-id/],
    [['ada', '--list'], /--list/],
    [['ada', '--bogus'], /bogus/],
    [['ada', '--expires', '30'], /--expires must be a duration in days, hours or minutes: .*\(got "30"\)/],
    [['ada', '--expires', '0d'], /--expires must be .*\(got "0d"\)/],
    [['ada', '--expires=-1d'], /--expires must be .*\(got "-1d"\)/],
    [['ada', '--expires', '1.5h'], /--expires must be .*\(got "1\.5h"\)/],
    [['ada', '--expires', '1w'], /--expires must be .*\(got "1w"\)/],
    [['ada', '--expires', '1d12h'], /--expires must be .*\(got "1d12h"\)/],
    [['ada', '--expires', ''], /--expires must be .*\(got ""\)/],
    [['ada', '--expires', '9999999d'], /--expires must be .*\(got "9999999d"\)/],
  ]) test(`${JSON.stringify(args)} is rejected`, () => rejected(args, message))
})

async function rejected(args, message) {
  const result = await run(...args)
  assert.equal(result.status, 1)
  assert.equal(result.stdout, '')
  assert.match(result.stderr, message)
  assert.match(result.stderr, /^token: .+\n$/, 'one line')
  return result
}
