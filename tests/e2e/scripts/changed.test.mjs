// Tests of scripts/lib/changed.mjs, which selects the parts of scripts/test --changed.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { describe, test } from 'node:test'

import { affected, namesIn, partsOf } from '../../../scripts/lib/changed.mjs'

const ROOT = new URL('../../../', import.meta.url).pathname

test('the names after `crate::` are found, also in braces', () => {
  assert.deepEqual([...namesIn('use crate::call::context::Context;')], ['call'])
  assert.deepEqual([...namesIn('use crate::{auth::{bearer, jwt}, text, http::guard};')], ['auth', 'text', 'http'])
  assert.deepEqual([...namesIn('fn f() -> crate::Endpoint { other::auth() }')], ['Endpoint'])
})

test('a room affects the rooms that use it, directly or indirectly', () => {
  const uses = new Map([['http', new Set(['rpc'])], ['rpc', new Set(['call'])], ['rag', new Set(['words'])]])
  assert.deepEqual([...affected(['call'], uses)], ['call', 'rpc', 'http'])
  assert.deepEqual([...affected(['http'], uses)], ['http'])
})

describe('a change of', () => {
  const testsOf = (...files) => partsOf(files).tests
  test('retrieval affects its tests, and not those of the protocol', () => {
    const tests = testsOf('src/rag/order.rs')
    assert.ok(tests.includes('rag_store') && !tests.includes('spec') && !tests.includes('client'), tests)
  })

  test('the client affects the tests of the gateway, and not those of retrieval', () => {
    const tests = testsOf('src/client/wire/sse.rs')
    assert.ok(tests.includes('client') && tests.includes('gateway') && !tests.includes('rag_store'), tests)
  })

  test('a test affects this test', () => assert.deepEqual(testsOf('tests/client/main.rs'), ['client']))

  for (const file of ['src/lib.rs', 'src/testing/host.rs', 'tests/support/src/lib.rs', 'crates/json/src/lib.rs', 'Cargo.lock']) {
    test(`${file} affects all tests`, () => {
      const { parts, tests } = partsOf(['src/rag/order.rs', file])
      assert.ok(parts.includes('core'))
      assert.deepEqual(tests, [])
    })
  }

  test('the template does not affect the tests of the library', () => {
    assert.deepEqual(partsOf(['template/scripts/build.js']).parts.sort(), ['build', 'e2e', 'scripts'])
  })
})

test('each part and each test exists', () => {
  const list = execFileSync(`${ROOT}scripts/test`, ['--list'], { encoding: 'utf8' })
  const parts = [...list.matchAll(/^([a-z0-9]+) {2,}\S/gm)].map(([, part]) => part)
  // These parts run every night. Only a change of their files selects them.
  const nightly = ['stress', 'chaos']
  assert.deepEqual([...partsOf(['Cargo.toml']).parts, ...nightly].sort(), parts.sort())
  for (const part of nightly) assert.ok(partsOf([`tests/${part}/run.mjs`]).parts.includes(part), part)
  for (const name of partsOf(['src/limits.rs']).tests) assert.ok(existsSync(`${ROOT}tests/${name}/main.rs`), name)
  // A room that no row of the table names would never select its tests.
  const rooms = /const MODULES: \[&str; \d+\] = \[(.*?)\];/s.exec(readFileSync(`${ROOT}tests/structure/main.rs`, 'utf8'))[1].match(/\w+/g)
  for (const room of rooms.filter((name) => name !== 'worker')) assert.ok(partsOf([`src/${room}/file.rs`]).tests.length > 0, room)
})
