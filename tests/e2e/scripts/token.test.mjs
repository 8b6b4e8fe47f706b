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

  test('contains the client id', async () => {
    const { token, list } = await created('ada', '--client-id', 'cli', 'kb:read')
    assert.deepEqual(list, [{ sha256: sha256(token), subject: 'ada', client_id: 'cli', scopes: ['kb:read'] }])
  })

  for (const [duration, seconds] of [['30d', 2_592_000]]) {
    test(`expires ${duration} from now`, async () => {
      const earliest = now()
      const { list: [{ expires }] } = await created('ada', '--expires', duration)
      const latest = now()
      assert.ok(Number.isSafeInteger(expires))
      assert.ok(earliest + seconds <= expires && expires <= latest + seconds, `${expires}`)
    })
  }
})

describe('the output', () => {
  test('the token has 32 random bytes, and only stdout contains it', async () => {
    const [one, other] = await Promise.all([created('ada'), created('ada')])
    assert.match(one.token, /^[A-Za-z0-9_-]{43}$/)
    assert.notEqual(one.token, other.token)
    assert.ok(!one.line.includes(one.token))
    assert.ok(!one.stderr.includes(one.token))
  })

  test('the list is unchanged between single quotes in .dev.vars', async () => {
    const subject = `O'Hara "\\'$HOME\` #1\nü`
    const { line, list } = await created(subject, '--client-id', "it's")
    assert.equal(list[0].subject, subject)
    assert.ok(!line.includes("'"))
    const { MCP_STATIC_TOKENS } = parseEnv(`A=1\nMCP_STATIC_TOKENS='${line}'\nB=2\n`)
    assert.deepEqual(JSON.parse(MCP_STATIC_TOKENS), list)
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

  for (const [what, text, message] of [
    ['text that is not JSON', 's3cret', /must contain a JSON array/],
    ['an entry with token and digest', '[{"token":"s3cret","sha256":"00","subject":"a","scopes":[]}]', /entry 1 must have/],
  ]) {
    test(`${what} is rejected, and the error does not quote the file`, async () => {
      const { stderr } = await rejected(['ada', '--list', await fileOf(text)], message)
      assert.ok(!stderr.includes('s3cret'), stderr)
    })
  }
})

describe('wrong arguments give an error of one line and an empty stdout', () => {
  for (const [args, message] of [
    [[], /SUBJECT is missing/],
    [['ada', 'kb:read kb:write'], /SCOPE must contain only printable ASCII characters, .*\(got "kb:read kb:write"\)/],
    [['ada', '--expires', '30'], /--expires must be a duration in days, hours or minutes: .*\(got "30"\)/],
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
