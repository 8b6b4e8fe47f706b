// The requests within all limits that need the most memory to parse, to validate and to reject. tests/faults has their tools.

/** The limit of a body in bytes. */
const BODY = 4 << 20

/** The number of values that a case repeats. A body may have 500 000 values, keys included, and a few of them are around these. */
const VALUES = 499_980

const call = (name, args) => `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`
const paint = (item, count) => call('paint', `{"pixels":[${Array(count).fill(item).join()}]}`)
const take = (name, value) => call(name, `{"value":${value}}`)
const list = (count, item) => `[${Array.from({ length: count }, (_, n) => item(n)).join()}]`
const object = (count, key) => `{${Array.from({ length: count }, (_, n) => `"${key(n)}":0`).join()}}`
const nested = (value, depth) => {
  const lit = (value) => `{"op":"lit","value":${value}}`
  let expression = lit(value)
  for (let n = 0; n < depth; n++) expression = `{"op":"add","left":${expression},"right":${lit(1)}}`
  return call('calculate', `{"expression":${expression}}`)
}
/** Repeats `item` until the body is full. */
const full = (item, rest = 200) => item.repeat(Math.floor((BODY - rest) / item.length))

const lastTwice = (n) => (n === 239_999 ? 239_998 : n).toString(36)
const uniqueObject = (n) => `{"a":${100_000 + n},"b":"${'x'.repeat(370)}"}`

/** Each case: its name, its body, and a pattern that its answer matches. */
export const COSTLY = [
  ['an array of 490 000 valid alternatives', () => paint('"H"', 490_000), /^490000 pixels|takes too long to check/],
  ['an array of 250 000 valid alternatives', () => paint('"H"', 250_000), /^250000 pixels/],
  ['an array of 440 000 alternatives with a wrong type', () => paint('7', 440_000), /`pixels\[0\]` must be "A" or .*got 7/],
  ['an array of 400 000 alternatives with a wrong value', () => paint('"Z"', 400_000), /`pixels\[0\]` must be "A" or .*got "Z"/],
  ['500 000 values in arrays of two numbers', () => take('take', list(Math.floor(VALUES / 3), () => '[1,2]')), /^taken/],
  ['500 000 empty arrays', () => take('take', list(VALUES, () => '[]')), /^taken/],
  ['500 000 values in objects with one member', () => take('take', list(Math.floor(VALUES / 3), () => '{"a":1}')), /^taken/],
  ['more than 500 000 values', () => take('take', list(1_000_000, () => '[]')), /more than 500000 values/],
  ['240 000 keys', () => take('take', object(240_000, (n) => `k${n.toString(36)}`)), /^taken/],
  ['240 000 keys with the last one twice', () => take('take', object(240_000, (n) => `k${lastTwice(n)}`)), /occurs twice/],
  ['240 000 escaped keys', () => take('take', object(240_000, (n) => `\\u006b${n.toString(36)}`)), /^taken/],
  ['240 000 escaped keys with the last one twice', () => take('take', object(240_000, (n) => `\\u006b${lastTwice(n)}`)), /occurs twice/],
  ['a string of 4 MiB', () => take('take', `"${full('x')}"`), /^taken/],
  ['a string of 4 MiB of escapes', () => take('take', `"${full('\\n')}"`), /^taken/],
  ['a string of 4 MiB of escapes as an argument of type string', () => call('echo', `{"text":"${full('\\n')}"}`), /^\n\n/],
  ['a tool name of 4 MiB of escapes', () => call(full('\\n'), '{}'), /^Unknown tool/],
  ['a key of 4 MiB of escapes', () => take('take', `{"${full('\\n')}":1}`), /^taken/],
  ['a number of 4 million digits', () => take('take_number', full('7')), /^taken/],
  ['a number of 4 million decimals', () => take('take_number', `1.${full('7')}`), /must be a multiple/],
  ['400 000 unique items', () => take('take_unique', list(400_000, (n) => n.toString())), /^taken/],
  ['400 000 equal items', () => take('take_unique', list(400_000, () => '1')), /must have unique items \(\[0\] and \[1\] are equal\)/],
  ['10 000 unique objects of equal length', () => take('take_unique', list(10_000, uniqueObject)), /^taken/],
  ['an expression with a wrong leaf 8 deep', () => nested('"x"', 8), /must be a number \(got "x"\)/],
  ['an expression with a wrong leaf 45 deep', () => nested('"x"', 45), /must be a number \(got "x"\)/],
  ['an expression with a wrong leaf 90 deep', () => nested('"x"', 90), /must be a number \(got "x"\)/],
  ['a batch of 100 large strings', () => batch(`{"text":"${'\\n'.repeat(20_000)}"}`, 'echo'), /^\n\n/],
  ['a batch of 100 large arrays', () => batch(`{"pixels":[${Array(4900).fill('"H"').join()}]}`, 'paint'), /^4900 pixels/],
  ['a batch of 100 large arrays with a wrong type', () => batch(`{"pixels":[${Array(4900).fill('7').join()}]}`, 'paint'), /got 7/],
  ['invalid UTF-8 at the end of 4 MiB', () => Buffer.concat([Buffer.from(full('x')), Buffer.from([0xff])]), /not UTF-8/],
  ['4 MiB of invalid UTF-8', () => Buffer.alloc(BODY, 0xff), /not UTF-8/],
  ['JSON that is cut off after 500 000 values', () => take('take', list(VALUES, () => '[]')).slice(0, -1), /not valid JSON/],
].map(([name, body, says]) => {
  const revision = name.startsWith('a batch') ? '2025-03-26' : '2025-11-25'
  return { name, body, says, headers: { 'MCP-Protocol-Version': revision } }
})

function batch(args, name) {
  const one = (id) => `{"jsonrpc":"2.0","id":${id},"method":"tools/call","params":{"name":"${name}","arguments":${args}}}`
  return list(100, one)
}
