// Computes the size of each crate in a WebAssembly module, from the names of the functions.

/**
 * @param {Uint8Array} wasm the module with its names, as cargo builds it. wasm-opt has not run yet, so the sum exceeds the deployed size
 * @returns {{ crate: string, bytes: number }[]} the size of the code of each crate, the largest first. A generic function counts for the
 *   crate that defines it. A function without a crate in its name counts for `(other)`
 */
export function crates(wasm) {
  const { imported, sizes, names } = functions(wasm)
  const bytes = new Map()
  for (const [index, size] of sizes.entries()) {
    const name = names.get(imported + index) ?? ''
    // These functions only describe the module to wasm-bindgen, which removes them.
    if (name.startsWith('__wbindgen_describe')) continue
    const crate = crateOf(name)
    bytes.set(crate, (bytes.get(crate) ?? 0) + size)
  }
  return [...bytes].map(([crate, bytes]) => ({ crate, bytes })).sort((one, other) => other.bytes - one.bytes)
}

/**
 * Returns the crate in a mangled name. In a name with `_ZN`, the first path follows its length. In a name with `_R`, a crate is `C`, a
 * disambiguator, the length of the crate's name, and the name.
 */
export function crateOf(name) {
  const [, length, path] = /^_ZN(\d+)(.*)$/s.exec(name) ?? []
  // `<T as alloc::slice::SpecCloneIntoVec>::clone_into` belongs to alloc. `$LT$` encodes `<`, and `..` encodes `::`.
  if (length !== undefined) {
    const first = path.slice(0, Number(length))
    return first.startsWith('_') ? /\b([a-z]\w*)::/.exec(first.replaceAll(/\$\w+?\$/g, ' ').replaceAll('..', '::'))?.[1] ?? OTHER : first
  }
  const [, digits, rest] = /^_R.*?Cs[0-9A-Za-z]*_(\d+)(.*)$/s.exec(name) ?? []
  return digits === undefined ? OTHER : rest.replace(/^_/, '').slice(0, Number(digits))
}

const OTHER = '(other)'

const IMPORTS = 2
const CODE = 10
const CUSTOM = 0

/** Returns the number of imported functions, the sizes of the other functions, and the names of all functions by index. */
function functions(wasm) {
  const found = { imported: 0, sizes: [], names: new Map() }
  // The first eight bytes are the magic number and the version.
  const module = reader(wasm.subarray(8))
  while (!module.ended()) {
    const id = module.byte()
    const section = reader(module.take(module.number()))
    if (id === IMPORTS) found.imported = importedFunctions(section)
    if (id === CODE) found.sizes = list(section, () => section.take(section.number()).length)
    if (id === CUSTOM && section.text() === 'name') found.names = namesIn(section)
  }
  return found
}

function importedFunctions(section) {
  const kinds = list(section, () => {
    section.text()
    section.text()
    const kind = section.byte()
    if (kind === 0) section.number()
    if (kind === 1 || kind === 3 || kind === 4) section.take(1)
    if (kind === 1 || kind === 2) {
      const hasMaximum = section.number() & 1
      section.number()
      if (hasMaximum) section.number()
    }
    if (kind === 3) section.take(1)
    if (kind === 4) section.number()
    return kind
  })
  return kinds.filter((kind) => kind === 0).length
}

function namesIn(section) {
  const names = new Map()
  while (!section.ended()) {
    const kind = section.byte()
    const part = reader(section.take(section.number()))
    if (kind === 1) for (const [index, name] of list(part, () => [part.number(), part.text()])) names.set(index, name)
  }
  return names
}

const list = (from, each) => Array.from({ length: from.number() }, each)

const text = new TextDecoder()

function reader(bytes) {
  let at = 0
  const read = {
    ended: () => at >= bytes.length,
    byte: () => bytes[at++],
    take: (length) => bytes.subarray(at, at += length),
    text: () => text.decode(read.take(read.number())),
    // LEB128: each byte has seven bits of the number, the lowest bits first.
    number: () => {
      let number = 0
      for (let weight = 1; ; weight *= 128) {
        const byte = bytes[at++]
        number += (byte & 127) * weight
        if (byte < 128) return number
      }
    },
  }
  return read
}
