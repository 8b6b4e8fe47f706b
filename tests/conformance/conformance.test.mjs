// The official conformance suite: its server scenarios against examples/everything in workerd, and its client scenarios.

import assert from 'node:assert/strict'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { after, before, test } from 'node:test'

import { ROOT, startWorker } from '../e2e/worker.mjs'
import { ofServer, suite as runSuite } from './suite.mjs'

// The suite splits the command at spaces, so the path is relative to the repository.
const CLIENT = relative(ROOT, join(process.env.CARGO_TARGET_DIR ?? join(ROOT, 'target'), 'debug/conformance-client'))

let worker, folder
before(async () => {
  worker = await startWorker({ name: 'everything' })
  folder = await mkdtemp(join(tmpdir(), 'edge-mcp-conformance-'))
})
after(async () => {
  await worker?.stop()
  await rm(folder, { recursive: true, force: true })
})

const suite = (...args) => runSuite(folder, ...args)
const server = (...args) => ofServer(folder, worker, ...args)

/** Returns the file with the expected failures of a revision. */
const baseline = (revision) => join(ROOT, `tests/conformance/baseline-${revision}.yml`)

test('2026-07-28: every scored scenario passes', async () => {
  const { code, stdout, outcomes } = await server('--requirements', '2026-07-28')
  assert.equal(code, 0, stdout)
  const scored = [...outcomes].filter(([name]) => !/^sep-2640-/.test(name))
  assert.ok(scored.length >= 37, stdout)
  // The scenarios of tasks are not scored, but they must pass too, as three others.
  assert.deepEqual(scored.filter(([, passed]) => !passed).map(([name]) => name), [], stdout)
  for (const name of ['http-header-validation', 'http-custom-header-server-validation', 'json-schema-2020-12']) {
    assert.equal(outcomes.get(name), true, name)
  }
})

test('2025-11-25: all scenarios that do not need a session pass', async () => {
  const { code, stdout } =
    await server('--requirements', '2025-11-25', '--expected-failures', baseline('2025-11-25'))
  assert.equal(code, 0, stdout)
})

/** Returns the number of checks of a scenario by their status. */
async function checks(run, scenario, ...args) {
  const results = () => readdir(folder, { recursive: true })
  const before = await results()
  const { stdout } = await run('--scenario', scenario, ...args)
  const files = (await results()).filter((path) => path.includes(scenario) && path.endsWith('checks.json') && !before.includes(path))
  assert.equal(files.length, 1, stdout)
  const statuses = JSON.parse(await readFile(join(folder, files[0]), 'utf8')).map(({ status }) => status)
  await rm(join(folder, files[0]))
  return Object.fromEntries([...Map.groupBy(statuses, (status) => status)].map(([status, all]) => [status, all.length]))
}

// A server without the extension skips these scenarios with exit status 0, so the test counts the checks. The reference server of the
// official TypeScript SDK passes as many.
// Older revisions have no cache hints, so the suite skips two checks.
for (const [scenario, modern, legacy] of [
  ['sep-2640-skills-enumeration', { SUCCESS: 32 }, { SUCCESS: 30, SKIPPED: 2 }],
  ['sep-2640-skills-manifest', { SUCCESS: 6 }, { SUCCESS: 6 }],
  ['sep-2640-skills-directory', { SUCCESS: 7 }, { SUCCESS: 7 }],
]) {
  test(`${scenario}: every check passes`, async () => {
    assert.deepEqual(await checks(server, scenario), modern)
    assert.deepEqual(await checks(server, scenario, '--spec-version', '2025-11-25', '--force'), legacy)
  })
}

// The suite always skips `tasks-status-notifications`.
for (const [scenario, expected] of [
  ['tasks-lifecycle', { SUCCESS: 9 }],
  ['tasks-capability-negotiation', { SUCCESS: 5 }],
  ['tasks-wire-fields', { SUCCESS: 4 }],
  ['tasks-request-state-removal', { SUCCESS: 3 }],
  ['tasks-mrtr-input', { SUCCESS: 4 }],
  ['tasks-request-headers', { SUCCESS: 5 }],
  ['tasks-dispatch-and-envelope', { SUCCESS: 9 }],
  ['tasks-required-task-error', { SUCCESS: 3 }],
  ['tasks-mrtr-composition', { SUCCESS: 2 }],
]) {
  test(`${scenario}: every check passes`, async () => assert.deepEqual(await checks(server, scenario), expected))
}

// The suite skips the check of a client that does not list, with exit status 0.
for (const name of ['no-prefetch', 'verify-digest', 'verify-size', 'verify-frontmatter']) {
  test(`sep-2640-client-${name}: the check passes`, async () => {
    const client = (...args) => suite('client', '--command', CLIENT, ...args)
    for (const revision of ['2026-07-28', '2025-11-25']) {
      assert.deepEqual(await checks(client, `sep-2640-client-${name}`, '--spec-version', revision, '--force'), { SUCCESS: 1 }, revision)
    }
  })
}

for (const [revision, count] of [['2026-07-28', 35], ['2025-11-25', 21]]) {
  test(`client, ${revision}: all scored scenarios and those of client credentials pass`, async () => {
    const { code, stdout, outcomes } =
      await suite('client', '--command', CLIENT, '--requirements', revision, '--expected-failures', baseline(revision))
    assert.equal(code, 0, stdout)
    const names = (passed) => [...outcomes].filter(([, outcome]) => outcome === passed).map(([name]) => name)
    // The suite compares only the scored scenarios with the file.
    const expected = (await readFile(baseline(revision), 'utf8')).split('client:')[1].matchAll(/^ +- (.+)$/gm)
    assert.deepEqual(names(false).sort(), [...expected].map(([, name]) => name).sort(), stdout)
    assert.ok(names(true).length >= count, stdout)
    console.log(`  client ${revision}: ${names(true).length} of ${outcomes.size} scenarios pass`)
  })
}
