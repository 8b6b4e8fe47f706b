// Tests of scripts/lib/sizes.mjs: the sizes of the Workers in docs/performance.md.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import { differences, sizesOf, withSizes } from '../../../scripts/lib/sizes.mjs'

const page = readFileSync(new URL('../../../docs/performance.md', import.meta.url), 'utf8')
const BUILT = [{ name: 'one', raw: 1_234_567, gzip: 500_000 }, { name: 'two', raw: 999, gzip: 100 }]
const changed = (change) => BUILT.with(0, { ...BUILT[0], ...change })

test('the page has a place for the sizes, and what is written there is read again', () => {
  assert.ok(sizesOf(page).length > 0)
  const written = withSizes(page, BUILT)
  assert.deepEqual(sizesOf(written), BUILT)
  assert.ok(written.includes('\n| one | 1 234 567 | 500 000 |\n'))
  assert.equal(withSizes(written, sizesOf(page)), page)
})

test('a page without a place for the sizes is an error', () => assert.throws(() => sizesOf('# A page\n'), /no place/))

for (const [difference, written, found] of [
  ['equal sizes', BUILT, []],
  ['a size that differs by 1 %', changed({ gzip: 505_000 }), []],
  ['a larger size with gzip', changed({ gzip: 505_001 }), ['one has 500000 bytes with gzip, and docs/performance.md says 505001']],
  ['a smaller size', changed({ raw: 1_200_000 }), ['one has 1234567 bytes, and docs/performance.md says 1200000']],
  ['a Worker that is not on the page', BUILT.slice(1), ['one is not in docs/performance.md']],
  ['a Worker that is not built', [...BUILT, { name: 'three', raw: 1, gzip: 1 }], ['three is not built']],
]) test(`${difference}: ${found.length === 0 ? 'no difference' : found}`, () => assert.deepEqual(differences(written, BUILT), found))
