// `pattern` in a schema means what RegExp means with the `u` flag: random patterns and texts, in the module and in JavaScript.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { modern } from './requests.mjs'
import { randomCases } from './random-patterns.mjs'
import { startWorkerd } from './workerd.mjs'

/** Gives the same cases in each run. A failure names it, with the case. */
const SEED = 20_261_122
const CASES = 4500
/** Cases of one request. */
const BATCH = 500

/** What RegExp accepts and the module does not. */
const UNSUPPORTED = /lookahead|lookbehind|back reference|Unicode property|too large|nested deeper/
const MODIFIERS = /\(\?[ims]*(-[ims]*)?:/

let worker
before(async () => { worker = await startWorkerd() })
after(() => worker?.stop())

const match = async (cases) => (await modern(worker, 'tools/call', { name: 'match_patterns', arguments: { cases } })).body.result.structuredContent.answers

const compiled = (pattern) => {
  try {
    return new RegExp(pattern, 'u')
  } catch (error) {
    return error
  }
}

/** The module accepts a backslash before any ASCII punctuation; RegExp, only before its syntax characters. */
const withoutLeniency = (pattern) => pattern.replace(/\\(.)/gsu, (escape, char) =>
  (/[!-/:-@[-`{-~]/.test(char) && !/[$^\\.*+?()[\]{}|/]/.test(char) ? `\\x${char.charCodeAt(0).toString(16)}` : escape))

/**
 * Whether `regex` is found in `text`. V8 also finds `\B` between the halves of a surrogate pair, where ECMA-262 (RegExpBuiltinExec) does
 * not look: it goes on by whole characters. So such patterns are tried at the start of each character.
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

/** What RegExp says of a case. Names of groups that are in several alternatives are newer than some versions of Node. */
function expected({ pattern, texts }) {
  let regex = compiled(pattern)
  if (regex instanceof Error) regex = compiled(withoutLeniency(pattern))
  if (regex instanceof Error && /Duplicate/.test(regex.message) && pattern.includes('|')) return undefined
  return regex instanceof Error ? regex : texts.map((text) => isFound(regex, text))
}

function compare(test, answer) {
  const right = expected(test)
  if (right === undefined) return 'other'
  const about = () => `seed ${SEED}: ${JSON.stringify(test)} gives ${JSON.stringify(answer)}`
  if (right instanceof Error) {
    assert.ok(answer.error, `${about()}, and RegExp says: ${right.message}`)
    return 'invalid'
  }
  if (answer.error) {
    const isKnown = UNSUPPORTED.test(answer.error) || (/unknown group/.test(answer.error) && MODIFIERS.test(test.pattern))
    assert.ok(isKnown, about())
    return 'unsupported'
  }
  assert.deepEqual([answer.found, answer.found_after_long], [right, right], about())
  return 'equal'
}

test('random patterns match the texts that RegExp matches', async () => {
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
  // The cases would prove little if most of them were of one kind.
  const { equal, invalid, unsupported, long, found } = counts
  assert.ok(equal > 3000 && invalid > 500 && unsupported > 20 && long > 1000, JSON.stringify(counts))
  assert.ok(found > equal && found < 5 * equal, JSON.stringify(counts))
})
