// What wasm-opt cannot know of the module that a Worker is.
//
//   node scripts/smaller.mjs exports MODULE JAVASCRIPT
//   node scripts/smaller.mjs order MODULE
//
// `exports` drops the methods of classes that no program can get an object of: worker and wasm-streams export all of theirs, and
// wasm-opt keeps what is exported. `order` names the functions so that those which are alike are beside each other in the order of
// their names: a module is deployed with gzip, which finds what two functions share only where they are near. After it, wasm-opt's
// --reorder-functions-by-name puts them there, and --strip-debug takes the names away.

import { readFileSync, writeFileSync } from 'node:fs'

const [task, path, script] = process.argv.slice(2)
const module = readFileSync(path)

const CUSTOM = 0
const IMPORTS = 2
const EXPORTS = 7
const CODE = 10

/** How far back a likeness counts, in functions and in bytes: less than gzip's 32 KiB, since what is near costs less. */
const WINDOW = { functions: 40, bytes: 30_000 }
/** Likeness is counted in sequences of so many bytes; those in more functions than this say nothing. */
const SEQUENCE = 6
const COMMONEST = 400

function leb(at) {
  let value = 0
  for (let shift = 0; ; shift += 7) {
    const byte = module[at++]
    value += (byte & 127) * 2 ** shift
    if (byte < 128) return [value, at]
  }
}

function* sections() {
  for (let at = 8; at < module.length;) {
    const [size, start] = leb(at + 1)
    yield { id: module[at], at, start, end: start + size }
    at = start + size
  }
}

/** How many functions are imported: they come first in the numbering. */
function imported({ start }) {
  let functions = 0
  let [count, at] = leb(start)
  const skip = () => { [, at] = leb(at) }
  const skipName = () => {
    const [length, after] = leb(at)
    at = after + length
  }
  const skipLimits = () => {
    const [flags, after] = leb(at)
    at = after
    skip()
    if (flags & 1) skip()
  }
  const kinds = [() => { functions++, skip() }, () => { at++, skipLimits() }, skipLimits, () => { at += 2 }, () => { at++, skip() }]
  for (; count > 0; count--) {
    skipName()
    skipName()
    kinds[module[at++]]()
  }
  return functions
}

function bodies({ start }) {
  let [count, at] = leb(start)
  return Array.from({ length: count }, () => {
    const [size, body] = leb(at)
    at = body + size
    return module.subarray(body, at)
  })
}

/** The numbers of the functions: after each the one that has most in common with those before it. */
function ordered(bodies) {
  const { sequences, holders } = shared(bodies)
  const weight = holders.map((all) => all.length ** -0.4)
  const size = bodies.map(({ length }) => length ** 0.8)
  const left = new Set(bodies.keys())
  const order = []
  const likeness = new Float64Array(bodies.length)
  const counted = new Int32Array(holders.length).fill(-1)
  for (let step = 0; left.size > 0; step++) {
    likeness.fill(0)
    for (let nth = order.length - 1, bytes = 0; nth >= 0 && nth >= order.length - WINDOW.functions && bytes <= WINDOW.bytes; nth--) {
      bytes += bodies[order[nth]].length
      for (const sequence of sequences[order[nth]]) {
        if (counted[sequence] === step) continue
        counted[sequence] = step
        for (const holder of holders[sequence]) likeness[holder] += weight[sequence]
      }
    }
    let next
    let most = -1
    for (const candidate of left) {
      const score = likeness[candidate] / size[candidate]
      if (score > most) [next, most] = [candidate, score]
    }
    left.delete(next)
    order.push(next)
  }
  return order
}

/** The sequences of bytes that some of the functions share: which ones each function has, and which functions have each. */
function shared(bodies) {
  const found = new Map()
  for (const [index, body] of bodies.entries()) {
    for (let at = 0; at + SEQUENCE <= body.length; at++) {
      const sequence = body.readUIntBE(at, SEQUENCE)
      const all = found.get(sequence)
      if (all === undefined) found.set(sequence, [index])
      else if (all.at(-1) !== index) all.push(index)
    }
  }
  const holders = [...found.values()].filter(({ length }) => length > 1 && length <= COMMONEST)
  const sequences = bodies.map(() => [])
  for (const [sequence, all] of holders.entries()) for (const index of all) sequences[index].push(sequence)
  return { sequences, holders }
}

function bytesOf(value) {
  const bytes = []
  do {
    bytes.push((value & 127) | (value > 127 ? 128 : 0))
    value >>>= 7
  } while (value > 0)
  return bytes
}

const named = (name) => [...bytesOf(name.length), ...Buffer.from(name)]

/** The section that names these functions in this order. */
function nameSection(order, first) {
  const digits = String(order.length).length
  const names = order.map((index, nth) => [index + first, String(nth).padStart(digits, '0')]).sort(([one], [other]) => one - other)
  const entries = [...bytesOf(names.length), ...names.flatMap(([index, name]) => [...bytesOf(index), ...named(name)])]
  const FUNCTIONS = 1
  const content = [...named('name'), FUNCTIONS, ...bytesOf(entries.length), ...entries]
  return Buffer.from([CUSTOM, ...bytesOf(content.length), ...content])
}

/** The section of exports, without the methods of classes that `script` has no way to make an object of. */
function exportSection({ start }, script) {
  // wasm-bindgen's classes: those that the module makes objects of have __wrap, those that JavaScript can have a constructor.
  const idle = script.split(/\bclass\b/).filter((text) => !/\b(__wrap|constructor)\(/.test(text.split('__wbg_', 1)[0]))
    .flatMap((text) => /__wbg_(\w+)_free\(/.exec(text.slice(0, 2000))?.[1] ?? [])
  const isIdle = (name) => idle.some((one) => name.startsWith(`${one}_`) || /^__wbg_(?:[gs]et_)?(\w+?)_/.exec(name)?.[1] === one)
  const kept = []
  let [count, at] = leb(start)
  for (; count > 0; count--) {
    const entry = at
    const [length, name] = leb(at)
    at = leb(name + length + 1)[1]
    if (!isIdle(module.toString('latin1', name, name + length))) kept.push(module.subarray(entry, at))
  }
  const content = Buffer.concat([Buffer.from(bytesOf(kept.length)), ...kept])
  return Buffer.concat([Buffer.from([EXPORTS, ...bytesOf(content.length)]), content])
}

const all = [...sections()]
const find = (wanted) => all.find(({ id }) => id === wanted)
const bytes = ({ at, end }) => module.subarray(at, end)
const tasks = {
  exports: () => all.map((section) => section.id === EXPORTS ? exportSection(section, readFileSync(script, 'utf8')) : bytes(section)),
  order: () => [
    ...all.filter(({ id }) => id !== CUSTOM).map(bytes),
    nameSection(ordered(bodies(find(CODE))), imported(find(IMPORTS))),
  ],
}
writeFileSync(path, Buffer.concat([module.subarray(0, 8), ...tasks[task]()]))
