// Tests that `pattern` in a schema matches the same texts as a RegExp with the flag `u`. The module and JavaScript match random patterns
// with random texts.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { randomCases } from './random-patterns.mjs'
import { modern } from './requests.mjs'
import { startWorkerd } from './workerd.mjs'

/** The seed of the random cases. It is the same in each run, and a failure shows it with the case. */
const SEED = 20_261_122
const CASES = 4500
/** The number of cases in one request. */
const BATCH = 500

/** The errors of the module for syntax that only RegExp supports. */
const UNSUPPORTED = /lookahead|lookbehind|back reference|Unicode property|too large|nested deeper/
const MODIFIERS = /\(\?[ims]*(-[ims]*)?:/

let worker
before(async () => { worker = await startWorkerd() })
after(() => worker?.stop())

const match = async (cases) =>
  (await modern(worker, 'tools/call', { name: 'match_patterns', arguments: { cases } })).body.result.structuredContent.answers

/** Returns the RegExp, or the error if RegExp rejects the pattern. */
const compile = (pattern) => {
  try {
    return new RegExp(pattern, 'u')
  } catch (error) {
    return error
  }
}

/**
 * Rewrites escapes that only the module accepts. The module accepts a backslash before all ASCII punctuation, and RegExp only before syntax
 * characters.
 */
const withoutLeniency = (pattern) => pattern.replace(/\\(.)/gsu, (escape, char) =>
  (/[!-/:-@[-`{-~]/.test(char) && !/[$^\\.*+?()[\]{}|/]/.test(char) ? `\\x${char.charCodeAt(0).toString(16)}` : escape))

/**
 * Whether `regex` matches a part of `text`. ECMA-262 (RegExpBuiltinExec) tries a match only at the start of each character. V8 also matches
 * `\B` between the halves of a surrogate pair. So this function tries such patterns at the start of each character.
 */
function isFound(regex, text) {
  if (!(regex.source.includes('\\B') && /[\u{10000}-\u{10ffff}]/u.test(text))) return regex.test(text)
  const sticky = new RegExp(regex.source, 'uy')
  let start = 0
  return [...text, ''].some((char) => {
    sticky.lastIndex = start
    start += char.length
    return sticky.test(text)
  })
}

/**
 * Returns the results of RegExp for the texts of a case, or the error of RegExp. Returns `undefined` for duplicate group names in
 * alternatives, because some versions of Node do not support them.
 */
function expected({ pattern, texts }) {
  let regex = compile(pattern)
  if (regex instanceof Error) regex = compile(withoutLeniency(pattern))
  if (regex instanceof Error && /Duplicate/.test(regex.message) && pattern.includes('|')) return undefined
  return regex instanceof Error ? regex : texts.map((text) => isFound(regex, text))
}

/** Asserts that the module and RegExp agree about a case. Returns the kind of the case. */
function compare(test, answer) {
  const right = expected(test)
  if (right === undefined) return 'other'
  const description = () => `seed ${SEED}: ${JSON.stringify(test)} returned ${JSON.stringify(answer)}`
  if (right instanceof Error) {
    assert.ok(answer.error, `${description()}, and the error of RegExp is: ${right.message}`)
    return 'invalid'
  }
  if (answer.error) {
    const isKnown = UNSUPPORTED.test(answer.error) || (/unknown group/.test(answer.error) && MODIFIERS.test(test.pattern))
    assert.ok(isKnown, description())
    return 'unsupported'
  }
  assert.deepEqual([answer.found, answer.found_after_long], [right, right], description())
  return 'equal'
}

test('random patterns match the same texts as RegExp', async () => {
  const random = randomCases(SEED)
  const counts = { equal: 0, invalid: 0, unsupported: 0, other: 0, long: 0, found: 0 }
  for (let made = 0; made < CASES; made += BATCH) {
    const cases = Array.from({ length: BATCH }, () => random.next().value)
    const answers = await match(cases)
    assert.equal(answers.length, cases.length)
    for (const [n, answer] of answers.entries()) {
      counts[compare(cases[n], answer)]++
      counts.found += answer.found.filter(Boolean).length
      counts.long += answer.found.length > 0 && cases[n].texts.some((text) => Buffer.byteLength(text) > 256) ? 1 : 0
    }
  }
  // The test is only useful if there are many cases of each kind.
  const { equal, invalid, unsupported, long, found } = counts
  assert.ok(equal > 3000 && invalid > 500 && unsupported > 20 && long > 1000, JSON.stringify(counts))
  assert.ok(found > equal && found < 5 * equal, JSON.stringify(counts))
})
