// Tests the table of scripts/interop, and the list of its subjects. The subjects themselves need a network, so these tests do not run them.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'

import { problemsOf } from '../../interop/clients.mjs'
import { COMMON, KNOWN } from '../../interop/known.mjs'
import { differences } from '../../interop/servers.mjs'
import { SUBJECTS } from '../../interop/subjects.mjs'
import { tables, verdict, withTables } from '../../interop/table.mjs'
import { ROOT } from '../worker.mjs'

const FOLDERS = { server: 'servers', client: 'clients', 'sign-in': 'sign-ins' }
const known = [{ problem: /schemas/, reason: 'It rejects a valid schema.', fault: 'theirs' }]

test('each subject has a unique name, exact versions and scripts that exist', () => {
  const names = SUBJECTS.map(({ name }) => name)
  assert.deepEqual(names.filter((name, index) => names.indexOf(name) !== index), [])
  for (const { name, kind, registry, packages, driver, start } of SUBJECTS) {
    if (!packages) continue
    assert.match(packages[0], registry === 'npm' ? /^(@[\w-]+\/)?[\w.-]+@\d[\w.-]*$/ : /^[\w.-]+(\[[\w,]+\])?==\d[\w.]*$/, name)
    const script = driver ?? (/\.(mjs|py)$/.test(start[0]) ? start[0] : undefined)
    if (script) assert.ok(existsSync(join(ROOT, 'tests/interop', FOLDERS[kind], script)), `${name}: ${script}`)
  }
})

test('each known problem is about a subject, and has a reason', () => {
  for (const [name, rows] of [['common', COMMON], ...Object.entries(KNOWN)]) {
    assert.ok(name === 'common' || SUBJECTS.some((subject) => subject.name === name), name)
    for (const { problem, reason, fault } of rows) {
      assert.ok(problem instanceof RegExp && reason.endsWith('.') && ['theirs', 'ours', 'open'].includes(fault), name)
    }
  }
})

test('a problem without an explanation is found, also if the client fails at the reference too', () => {
  assert.deepEqual(verdict({ status: 'done', problems: [] }, known), { word: 'works', fault: '', reasons: [], unexplained: [], used: [] })
  assert.deepEqual(verdict({ status: 'done', problems: ['schemas'] }, known),
    { word: 'breaks', fault: 'theirs', reasons: ['It rejects a valid schema.'], unexplained: [], used: known })
  const atReference = verdict({ status: 'done', problems: ['call: another'], facts: { reference: ['call: another'] } }, known)
  assert.deepEqual([atReference.fault, atReference.unexplained], ['theirs', ['call: another']])
  assert.deepEqual(verdict({ status: 'done', problems: ['call: another'] }, known).fault, 'unknown')
  assert.equal(verdict({ status: 'not installed', problems: [], reason: 'a\nb' }, known).word, 'not installed')
})

test('a list through the gateway is compared by names, and tools by their texts and schemas', () => {
  const of = (tools, resources = []) => ({ tools, resources, templates: [], prompts: [] })
  const add = { name: 'add', description: 'Adds.', inputSchema: { type: 'object' }, outputSchema: { type: 'object' } }
  const mounted = { ...add, name: 'm_add', annotations: { readOnlyHint: true } }
  assert.deepEqual(differences(of([add], [{ uri: 'a:b' }]), of([mounted], [{ uri: 'm+a:b' }])), [])
  assert.deepEqual(differences(of([add], [{ uri: 'a:b' }]), of([{ ...mounted, outputSchema: undefined }])),
    ['`outputSchema` differs: 1 of 1 tools', 'resources are missing: a:b'])
  assert.equal(verdict({ status: 'done', problems: differences(of([add]), of([{ ...mounted, title: 'Other' }])) }, []).word, 'differs')
})

test('what a client has seen is compared with the answers', () => {
  assert.deepEqual(problemsOf({ tools: ['a'], call: 'x 2.5' }, { tools: 1 }, { call: '2.5', read: 'no function for this' }), [])
  assert.deepEqual(problemsOf({ tools: [], call: 'error' }, { tools: 1 }, { call: '2.5' }).length, 2)
})

test('the page has a table for each kind, with counts, and keeps the text around it', () => {
  const subjects = [
    { name: 'one', kind: 'client', title: '`one@1`', known },
    { name: 'two', kind: 'client', title: '`two@2`', known },
    { name: 'three', kind: 'server', title: '`three@3`', known },
  ]
  const results = {
    one: { date: '2026-11-27', status: 'done', problems: [], facts: { 'knowledge base': true } },
    two: { date: '2026-11-28', status: 'done', problems: ['a | schemas'], facts: { 'knowledge base': false, everything: true } },
  }
  const text = tables(subjects, results)
  assert.ok(text.includes('### Clients\n\n2 rows: 1 works, 1 breaks. Run from 2026-11-27 to 2026-11-28.'), text)
  assert.ok(text.includes('| `two@2` | breaks | works | breaks | theirs | It rejects a valid schema. |'), text)
  assert.ok(!text.includes('three'))
  const page = 'before\n<!-- interop: written by scripts/interop --write -->\nold\n<!-- /interop -->\nafter'
  assert.equal(withTables(page, 'new'), page.replace('\nold\n', '\n\nnew\n\n'))
  assert.throws(() => withTables('no marker', 'new'), /must contain/)
})
