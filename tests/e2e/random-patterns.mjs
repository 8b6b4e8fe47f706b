// Generates random patterns, and texts that match or almost match them, for the comparison with the RegExp of ECMAScript. The same seed
// generates the same patterns.

/** Returns a function that generates random integers from 0 to `below` - 1, with the algorithm mulberry32. */
function generator(seed) {
  let state = seed
  return (below) => {
    state = (state + 0x6d2b79f5) | 0
    let bits = Math.imul(state ^ (state >>> 15), 1 | state)
    bits = (bits + Math.imul(bits ^ (bits >>> 7), 61 | bits)) ^ bits
    return Math.floor((((bits ^ (bits >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

/** The characters of the patterns and the texts: common characters, and the characters at the limits of classes such as `\s` and `\w`. */
const CHARACTERS = [
  ...'aaaabbbccZz_0079- ~/=<>@[`{^$.,\0\t\n\v\f\r\b\x01\x1a\x1f\x7f', ...'éÉßſK日本', ...'💡😀😁\u{10000}\u{10ffff}',
  '\x85', '\xa0', '\u180e', '\u2000', '\u200a', '\u200b', '\u2028', '\u2029', '\u202f', '\ufeff', '\ud7ff', '\ue000', '\uffff', '\u0663',
]
/** The class escapes, each with the characters that it matches. */
const CLASSES = [...'dDwWsS'].map((letter) => [`\\${letter}`, CHARACTERS.filter((char) => new RegExp(`\\${letter}`, 'u').test(char))])
const SYNTAX = new Set('^$\\.*+?()[]{}|/')
const NAMED = { '\t': '\\t', '\n': '\\n', '\v': '\\v', '\f': '\\f', '\r': '\\r', '\0': '\\0' }

/** Pieces of strings that look like patterns, for mostly invalid patterns. */
const PIECES = [
  ...'^$\\\\.*+?()[]{}|-,:=!<>/&abd01xucpk89 é💡', '\\d', '\\W', '\\s', '\\b', '\\B', '(?:', '(?<a>', '(?<b>', '(?=', '(?<!', '(?i:', '(?<', '[^', '{2}', '{,2}',
  '{1,', '\\u{+61}', '(?=a)', '(?!b)', '(?<=c)', '(?<!d)', '(a)\\1', '(?<c>d)\\k<c>', '\\u', '\\u{', '\\ud83d', '\\udca1', '\\x', '\\x4', '\\c', '\\0', '\\1', '\\k<a>', '\\p{L}', '[a-', '\\u{110000}', '\\u{1f4a1}', '\\-', '\\_', '\\ ', '0041',
]

/**
 * Yields an endless sequence of cases, in turns of three kinds:
 *
 * 1. Simple patterns of the grammar. Their last text is long. RegExp must not need exponential time for it, so these patterns repeat only
 *    single characters and classes, which a text cannot match in several ways.
 * 2. Any patterns of the grammar, with short texts.
 * 3. Mostly invalid patterns: patterns of the grammar with a few changes, or a sequence of pieces.
 *
 * @param {number} seed the seed of the random numbers
 * @returns {Generator<{ pattern: string, texts: string[] }>}
 */
export function* randomCases(seed) {
  const below = generator(seed)
  const chance = (part) => below(part) === 0
  const pick = (list) => list[below(list.length)]
  const times = (count, make) => Array.from({ length: count }, make)
  const character = () => pick(CHARACTERS)

  /** The numbers of group names, repetitions and unbounded repetitions in the pattern until now, and whether the pattern is simple. */
  let names, repeated, unbounded, isSimple

  const hex = (code, digits) => (chance(2) ? code.toString(16) : code.toString(16).toUpperCase()).padStart(digits, '0')

  function escaped(char) {
    const code = char.codePointAt(0)
    const ways = [() => `\\u{${hex(code, 1 + below(7))}}`]
    if (code < 0x100) ways.push(() => `\\x${hex(code, 2)}`)
    if (code > 0 && code < 27) ways.push(() => `\\c${String.fromCharCode(code + pick([64, 96]))}`)
    ways.push(() => times(char.length, (_, n) => `\\u${hex(char.charCodeAt(n), 4)}`).join(''))
    if (NAMED[char]) ways.push(() => NAMED[char])
    if (SYNTAX.has(char)) ways.push(() => `\\${char}`)
    return pick(ways)()
  }

  const literal = (char, reserved = SYNTAX) => (reserved.has(char) || chance(4) ? escaped(char) : char)

  function classEscape() {
    const [escape, chars] = pick(CLASSES)
    return [escape, () => pick(chars)]
  }

  function characterClass() {
    const reserved = new Set('^-]\\')
    const parts = times(below(4), () => {
      if (chance(4)) return classEscape()
      if (chance(6)) return [chance(2) ? '\\-' : '\\b', () => pick('-\b')]
      const ends = [character(), character()].sort((one, other) => one.codePointAt(0) - other.codePointAt(0))
      if (chance(12)) return [pick(['\\ud800-\\udfff', '\\ud83d', '\\ud7ff-\\udbff', '\\u{dfff}-\\uffff']), character]
      if (chance(2)) return [`${literal(ends[0], reserved)}-${literal(ends[1], reserved)}`, () => pick(ends)]
      return [literal(ends[0], reserved), () => ends[0]]
    })
    const hyphens = [chance(8) ? '-' : '', chance(8) ? '-' : '']
    const inner = hyphens[0] + parts.map(([source]) => source).join('') + hyphens[1]
    if (chance(3)) return [`[^${inner}]`, character]
    return [`[${inner}]`, parts.length ? () => pick(parts)[1]() : character]
  }

  /**
   * Generates a part of a pattern. Returns its source, a function that generates a text for it, and whether the part is a single character
   * or class (`undefined` for an assertion).
   */
  function atom(depth) {
    const kind = below(20)
    if (kind < 8) {
      const char = character()
      return [literal(char), () => char, true]
    }
    if (kind < 10) return ['.', character, true]
    if (kind < 12) return [...classEscape(), true]
    if (kind < 14) return [...characterClass(), true]
    if (kind < 17) return [pick(['^', '$', '\\b', '\\B']), () => '', undefined]
    if (kind === 17 && chance(4)) return [pick(['\\ud83d', '\\udca1', '\\u{d83d}']), () => '', true]
    if (depth >= 3) return ['a', () => 'a', true]
    const [source, text] = alternatives(depth + 1)
    const name = `${pick(['n', '$', '_', 'é', '日', '\\u{61}', '\\u{62}'])}${names++}`
    return [pick([`(${source})`, `(?:${source})`, `(?<${name}>${source})`]), text, false]
  }

  function quantified(depth) {
    const before = repeated
    const [source, text, isSingle] = atom(depth)
    // An assertion cannot be repeated.
    if (isSingle === undefined || !chance(3) || (isSimple && !isSingle)) return [source, text]
    const least = below(4)
    const most = least + below(3)
    const bounded = [['?', 0, 1], [`{${least}}`, least, least], [`{${least},${most}}`, least, most]]
    // RegExp needs exponential time for nested unbounded repetitions. For several unbounded repetitions it needs polynomial time.
    const canBeUnbounded = repeated === before && unbounded < (isSimple ? 1 : 4)
    const endless = [['*', 0, 3], ['+', 1, 3], [`{${least},}`, least, least + 2]]
    const [quantifier, first, last] = pick(canBeUnbounded ? [...bounded, ...endless] : bounded)
    repeated++
    if (/[*+]|,\}/.test(quantifier)) unbounded++
    return [source + quantifier + (chance(3) ? '?' : ''), () => times(first + below(last - first + 1), text).join('')]
  }

  function sequence(depth) {
    const parts = times((depth === 0 ? 1 : 0) + below(5 - depth), () => quantified(depth))
    return [parts.map(([source]) => source).join(''), () => parts.map(([, text]) => text()).join('')]
  }

  function alternatives(depth) {
    const list = times(1 + (chance(3) ? 1 + below(2) : 0), () => sequence(depth))
    return [list.map(([source]) => source).join('|'), () => pick(list)[1]()]
  }

  function grown(simple) {
    names = repeated = unbounded = 0
    isSimple = simple
    return alternatives(0)
  }

  /** Makes at most two random changes to `text`. */
  function changed(text, pieces) {
    const chars = [...text]
    for (let changes = below(3); changes > 0; changes--) chars.splice(below(chars.length + 1), below(2), ...(chance(3) ? [] : [pick(pieces)]))
    return chars.join('')
  }

  const short = (text) => changed([...text].slice(0, 14).join(''), CHARACTERS)
  const near = (text) => () => (chance(6) ? times(below(4), character).join('') : short(text()))
  const filling = () => {
    const some = times(1 + below(4), character)
    return times(100 + below(300), () => pick(some)).join('')
  }

  for (;;) {
    const [simple, simpleText] = grown(true)
    yield { pattern: simple, texts: [...times(5, near(simpleText)), chance(2) ? filling() + simpleText() : filling() + simpleText() + filling()] }
    const [any, text] = grown(false)
    yield { pattern: any, texts: times(6, near(text)) }
    const pattern = chance(2) ? changed(changed(any, PIECES), PIECES) : times(1 + below(8), () => pick(PIECES)).join('')
    yield { pattern, texts: times(6, near(text)) }
  }
}
