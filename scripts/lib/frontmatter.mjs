// The frontmatter of a SKILL.md: the part of YAML that the parsers of all hosts read alike.
//
// Hosts compare the frontmatter of a file with that of the server's list, and their parsers differ. So this reader refuses each form that
// two of them read differently, and says what to write instead.

import { isAlias, isMap, isScalar, isSeq, parseDocument } from 'yaml'

/** The most bytes of a frontmatter, and its deepest nesting. */
const MOST_BYTES = 65_536
const DEEPEST = 32
/** The most values of a frontmatter. */
const MOST_VALUES = 2000
/** Characters that only some parsers take, and characters that only some parsers read as line breaks. */
const SPECIAL = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u2028\u2029\ufeff\ufffe\uffff]|\r(?!\n)/

/**
 * Returns the frontmatter of a SKILL.md as an object.
 *
 * @param {string} text the text of the file, with its byte order mark if it has one
 * @throws {Error} with a sentence that says what to change
 */
export function readFrontmatter(text) {
  const yaml = yamlOf(text)
  // The parser would take far longer than this to read many of these characters.
  if (Buffer.byteLength(yaml) > MOST_BYTES) throw new Error('its frontmatter has more than 64 KiB: move text below it')
  if (SPECIAL.test(yaml)) throw new Error('its frontmatter has a control character or an unusual line break: remove it')
  if (/^(%|(---|\.\.\.)([ \t\r]|$))/m.test(yaml)) throw new Error('a line of its frontmatter begins with `%`, `---` or `...`: quote it')
  const document = parseDocument(yaml, {
    version: '1.2', schema: 'core', uniqueKeys: true, strict: true, keepSourceTokens: true, logLevel: 'silent',
  })
  const [problem] = [...document.errors, ...document.warnings]
  if (problem) throw new Error(`its frontmatter is not valid YAML: ${problem.message.split('\n')[0]}`)
  if (!isMap(document.contents) || document.contents.flow) throw new Error('its frontmatter must have lines such as `name: refunds`')
  const counted = { values: 0 }
  return valueOf(document.contents, yaml, 0, counted)
}

/** Returns the text between the two lines with `---`. */
function yamlOf(text) {
  if (text.startsWith('\uFEFF')) throw new Error('it begins with a byte order mark: save it without one')
  const begin = /^---\r?\n/.exec(text)
  if (!begin) throw new Error('it must begin with a line `---`, and nothing after the dashes')
  const rest = text.slice(begin[0].length)
  const end = /^---[ \t]*\r?$/m.exec(rest)
  if (!end) throw new Error('its frontmatter has no closing line `---`')
  return rest.slice(0, end.index)
}

/** Returns the value of a node, or throws if two parsers would read it differently. */
function valueOf(node, yaml, depth, counted) {
  counted.values += 1
  if (counted.values > MOST_VALUES) throw new Error(`its frontmatter has more than ${MOST_VALUES} values`)
  if (depth > DEEPEST) throw new Error(`its frontmatter is nested more than ${DEEPEST} levels deep`)
  if (isAlias(node) || node?.anchor) throw refused('anchors and aliases (`&`, `*`)', 'write the value out, or quote it')
  if (node?.tag) throw refused(`the tag \`${node.tag}\``, 'remove it')
  const begin = node?.range?.[0] ?? 0
  if (/^ *\t/.test(yaml.slice(yaml.lastIndexOf('\n', begin - 1) + 1, begin))) throw refused('a tab as indentation', 'use spaces')
  if (isMap(node)) return objectOf(node, yaml, depth, counted)
  if (isSeq(node)) return listOf(node, yaml, depth, counted)
  return scalarOf(node, yaml)
}

function objectOf(node, yaml, depth, counted) {
  refuseManyLines(node, yaml)
  const object = {}
  for (const { key, value, srcToken } of node.items) {
    if (srcToken?.start?.some(({ type }) => type === 'explicit-key-ind')) throw refused('a key with `?`', 'write `key: value`')
    // The official SDK does not read `?a: b` and `"a" : b`.
    const isOdd = !node.flow && (sourceOf(key, yaml).startsWith('?') || (key?.type?.startsWith('QUOTE') && yaml[key.range[1]] !== ':'))
    const name = isScalar(key) && !isOdd ? scalarOf(key, yaml) : undefined
    if (typeof name !== 'string' || name === '') throw refused(`the key \`${sourceOf(key, yaml)}\``, 'quote it, or use a word')
    if (name === '<<' || name === '__proto__') throw refused(`the key \`${name}\``, 'use another name')
    if (value === null) throw refused(`the key \`${name}\` without a value`, 'give it one, or remove it')
    object[name] = valueOf(value, yaml, depth + 1, counted)
  }
  return object
}

function listOf(node, yaml, depth, counted) {
  refuseManyLines(node, yaml)
  return node.items.map((item) => {
    // `[a, b: c]`
    if (node.flow && isMap(item) && yaml[item.range[0]] !== '{') throw refused('`key: value` in a list', 'write `{key: value}`')
    return valueOf(item, yaml, depth + 1, counted)
  })
}

/** Refuses a collection in brackets that has several lines. */
function refuseManyLines(node, yaml) {
  if (node.flow && sourceOf(node, yaml).includes('\n')) throw refused('brackets over several lines', 'write them in one line')
}

function scalarOf(node, yaml) {
  const source = sourceOf(node, yaml)
  if (source === '') throw refused('a key without a value', 'give it one, or remove it')
  const isBlock = node.type === 'BLOCK_LITERAL' || node.type === 'BLOCK_FOLDED'
  if (isBlock && /^[|>][-+]?\d/.test(source)) throw refused('a block with a number of blanks', 'remove the number')
  if (!isBlock && source.includes('\n')) throw refused('a text over several lines', 'write it in one line, or use `>-`')
  const { value } = node
  if (typeof value === 'string') {
    // Half of a character, or one of 0b1, -0x1F, -0o7 and -.nan, which are numbers for some parsers.
    const isSplit = node.type === 'QUOTE_DOUBLE' && /(?<!\\)(\\\\)*\\u[dD][89a-fA-F]/.test(source)
    const isNumber = node.type === 'PLAIN' && /^[-+]?0[xob][\da-fA-F]|^[-+]\.(nan|NaN|NAN)$/.test(source)
    if (isSplit || isNumber || !value.isWellFormed()) throw refused(`\`${source}\``, isNumber ? 'quote it' : 'write the character')
    return value
  }
  // Only the plainest form of other values is the same everywhere.
  const isPlainest = value === null ? source === 'null'
    : typeof value === 'boolean' ? source === String(value)
    : Number.isFinite(value) && !Object.is(value, -0) && Math.abs(value) <= Number.MAX_SAFE_INTEGER &&
      /^-?(0|[1-9]\d*)(\.\d+)?([eE][-+]?\d+)?$/.test(source)
  if (!isPlainest) throw refused(`\`${source}\``, 'quote it')
  return value
}

const sourceOf = (node, yaml) => (node?.range ? yaml.slice(node.range[0], node.range[1]) : '')

const refused = (what, remedy) => new Error(`its frontmatter has ${what}, which hosts read differently: ${remedy}`)
