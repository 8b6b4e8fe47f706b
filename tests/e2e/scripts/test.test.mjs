// Tests of how scripts/test counts tests. A fake cargo prints prepared output.

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
  // `cargo test -p PACKAGE…` prints $OUTPUT_PACKAGE of the first package and exits with $STATUS. `cargo fmt` and `cargo test --doc`
  // succeed.
  await writeFile(join(folder, 'cargo'), `#!/usr/bin/env bash
[[ $1 == test && " $* " != *" --doc "* ]] || exit 0
output=OUTPUT_\${3//-/_}
printf '%b' "\${!output}"
exit "\${STATUS:-0}"
`, { mode: 0o755 })
})
after(() => rm(folder, { recursive: true, force: true }))

const scriptsTest = (args, environment = {}) => new Promise((resolve) => {
  const env = { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}`, ...environment }
  execFile(TEST, args, { env }, (error, stdout, stderr) =>
    resolve({ status: error ? error.code : 0, output: stdout + stderr, last: stdout.trimEnd().split('\n').at(-1) }))
})

/** The output of a successful run of cargo test. */
const ok = (passed, ignored = 0) =>
  `running\\ntest result: ok. ${passed} passed; 0 failed; ${ignored} ignored; 0 measured; 0 filtered out; finished in 0.00s\\n`

describe('the count', () => {
  test('is the sum over all runners and all parts', async () => {
    const { status, last } = await scriptsTest(['core', 'app'], { OUTPUT_edge_mcp: ok(12) + ok(0) + ok(3), OUTPUT_knowledge_base: ok(5) })
    assert.equal(last, '20 passed, 0 failed')
    assert.equal(status, 0)
  })

  test('of a part that runs no test runner is one', async () => {
    assert.equal((await scriptsTest(['format'])).last, '1 passed, 0 failed')
  })

  test('shows the number of skipped tests', async () => {
    assert.match((await scriptsTest(['core'], { OUTPUT_edge_mcp: ok(1, 2) })).output, /^core: 1 passed, 0 failed, 2 skipped/m)
  })

  test('comes after the results of a part that succeeds', async () => {
    const results = '  weather: 7 bytes of wasm, 5 with gzip'
    const { output, last } = await scriptsTest(['app'], { OUTPUT_knowledge_base: `${results}\\n${ok(3)}` })
    assert.ok(output.includes(`${results}\n`), output)
    assert.equal(last, '3 passed, 0 failed')
  })

  test('includes failures, and comes after the output of the failed part', async () => {
    const failed = `thread panicked at 7\\ntest result: FAILED. 3 passed; 2 failed; 0 ignored; 0 measured\\n`
    const { status, last, output } = await scriptsTest(['core', 'format'], { OUTPUT_edge_mcp: failed, STATUS: '101' })
    assert.equal(last, '4 passed, 2 failed')
    assert.equal(status, 1)
    assert.match(output, /panicked at 7/)
  })

  test('of a runner that stops before its tests is one failure', async () => {
    const { status, last } = await scriptsTest(['core'], { OUTPUT_edge_mcp: 'error: could not compile\\n', STATUS: '101' })
    assert.equal(last, '0 passed, 1 failed')
    assert.equal(status, 1)
  })

  test('of a runner without tests is one failure', async () => {
    const { status, last, output } = await scriptsTest(['app'], { OUTPUT_knowledge_base: ok(0) })
    assert.equal(last, '0 passed, 1 failed')
    assert.equal(status, 1)
    assert.match(output, /no test ran/)
  })
})

test('--list prints the names of the parts', async () => {
  const { output } = await scriptsTest(['--list'])
  assert.deepEqual(output.trim().split('\n').map((line) => line.split(' ')[0]),
    ['format', 'lint', 'docs', 'core', 'app', 'package', 'scripts', 'build', 'deploy', 'e2e', 'conformance', 'stress', 'chaos'])
})

test('quick checks the format, and runs clippy and the native tests', async () => {
  const { status, last, output } = await scriptsTest(['quick'], { OUTPUT_edge_mcp: ok(7) })
  assert.match(output, /^format: 1 passed.*\n.*\nlint-native: 1 passed.*\n.*\ncore-native: 7 passed/m)
  assert.equal(last, '9 passed, 0 failed')
  assert.equal(status, 0)
})

test('an unknown part is an error', async () => {
  const { status, output } = await scriptsTest(['core', 'nope'])
  assert.equal(status, 1)
  assert.match(output, /there is no part "nope"/)
})
