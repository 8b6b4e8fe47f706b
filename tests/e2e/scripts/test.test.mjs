// scripts/test: how it counts, with a cargo that says what it is told to.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, describe, test } from 'node:test'

const TEST = new URL('../../../scripts/test', import.meta.url).pathname

let folder
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'test-'))
  // `cargo test -p PACKAGE` prints $SAYS_PACKAGE; its status is $STATUS. `cargo fmt` and `cargo test --doc` succeed.
  await writeFile(join(folder, 'cargo'), `#!/usr/bin/env bash
[[ $1 == test && " $* " != *" --doc "* ]] || exit 0
says=SAYS_\${3//-/_}
printf '%b' "\${!says}"
exit "\${STATUS:-0}"
`, { mode: 0o755 })
})
after(() => rm(folder, { recursive: true, force: true }))

const scriptsTest = (args, environment = {}) => new Promise((resolve) =>
  execFile(TEST, args, { env: { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}`, ...environment } },
    (error, stdout, stderr) => resolve({ status: error ? error.code : 0, output: stdout + stderr, last: stdout.trimEnd().split('\n').at(-1) })))

const ok = (passed, ignored = 0) =>
  `running\\ntest result: ok. ${passed} passed; 0 failed; ${ignored} ignored; 0 measured; 0 filtered out; finished in 0.00s\\n`

describe('the count', () => {
  test('is the sum over all runners and all parts', async () => {
    const { status, last } = await scriptsTest(['core', 'app'], { SAYS_edge_mcp: ok(12) + ok(0) + ok(3), SAYS_knowledge_base: ok(5) })
    assert.equal(last, '20 passed, 0 failed')
    assert.equal(status, 0)
  })

  test('a part without tests of its own is one', async () => {
    assert.equal((await scriptsTest(['format'])).last, '1 passed, 0 failed')
  })

  test('what is left out is named', async () => {
    assert.match((await scriptsTest(['core'], { SAYS_edge_mcp: ok(1, 2) })).output, /^core: 1 passed, 0 failed, 2 skipped/m)
  })

  test('what a part has to tell is shown, although it succeeds', async () => {
    const tells = '  json-schema: 7 tests in 2 groups of 1 files; left out: none'
    const { output, last } = await scriptsTest(['schema'], { SAYS_edge_mcp_schema_tests: `${tells}\\n${ok(3)}` })
    assert.ok(output.includes(`${tells}\n`), output)
    assert.equal(last, '3 passed, 0 failed')
  })

  test('failures are counted, and what was printed is shown', async () => {
    const says = `thread panicked at 7\\ntest result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured\\n`
    const { status, last, output } = await scriptsTest(['core', 'format'], { SAYS_edge_mcp: says, STATUS: '101' })
    assert.equal(last, '4 passed, 2 failed')
    assert.equal(status, 1)
    assert.match(output, /panicked at 7/)
  })

  test('a runner that stops before its tests has failed', async () => {
    const { status, last } = await scriptsTest(['core'], { SAYS_edge_mcp: 'error: could not compile\\n', STATUS: '101' })
    assert.equal(last, '0 passed, 1 failed')
    assert.equal(status, 1)
  })

  test('so has one that ran none', async () => {
    const { status, last, output } = await scriptsTest(['app'], { SAYS_knowledge_base: ok(0) })
    assert.equal(last, '0 passed, 1 failed')
    assert.equal(status, 1)
    assert.match(output, /no test ran/)
  })
})

test('--list names the parts', async () => {
  const { output } = await scriptsTest(['--list'])
  assert.deepEqual(output.trim().split('\n').map((line) => line.split(' ')[0]),
    ['format', 'lint', 'docs', 'core', 'app', 'schema', 'build', 'deploy', 'package', 'scripts', 'e2e', 'conformance'])
})

test('a part that is not there is an error', async () => {
  const { status, output } = await scriptsTest(['core', 'nope'])
  assert.equal(status, 1)
  assert.match(output, /there is no part "nope"/)
})
