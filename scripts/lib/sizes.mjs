// Compares the sizes in docs/performance.md with those of the built Workers. scripts/test build runs this program after the builds.
//
//   node scripts/lib/sizes.mjs            fails if a size on the page differs from the build by more than 1 %
//   node scripts/lib/sizes.mjs --write    writes the sizes of the built Workers to the page

import { execFileSync } from 'node:child_process'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const ROOT = new URL('../../', import.meta.url)
const PAGE = 'docs/performance.md'
const COMMAND = 'node scripts/lib/sizes.mjs --write'
const BEGIN = `<!-- sizes: written by ${COMMAND} -->`
const END = '<!-- /sizes -->'
/** The Workers on the page, and their folders. */
const WORKERS = { 'examples/weather': 'examples/weather', 'examples/gateway': 'examples/gateway', 'the knowledge base': 'app' }
const TOLERANCE = 0.01

/** @typedef {{ name: string, raw: number, gzip: number }} Size */

/** Returns the sizes between the markers of the page. */
export function sizesOf(page) {
  const rows = page.slice(...place(page)).matchAll(/^\| (.+) \| ([\d ]+) \| ([\d ]+) \|$/gm)
  const number = (text) => Number(text.replaceAll(' ', ''))
  return [...rows].map(([, name, raw, gzip]) => ({ name, raw: number(raw), gzip: number(gzip) }))
}

/** Returns `page` with these sizes between its markers. */
export function withSizes(page, sizes) {
  const [begin, end] = place(page)
  const grouped = (number) => String(number).replace(/\B(?=(\d{3})+$)/g, ' ')
  const rows = sizes.map(({ name, raw, gzip }) => `| ${name} | ${grouped(raw)} | ${grouped(gzip)} |\n`)
  return `${page.slice(0, begin)}\n\n| Worker | bytes of wasm | bytes with gzip |\n| --- | ---: | ---: |\n${rows.join('')}\n${page.slice(end)}`
}

/** Returns a sentence for each difference between the sizes on the page and those of the builds. */
export function differences(written, built) {
  const names = new Set([...written, ...built].map(({ name }) => name))
  return [...names].flatMap((name) => {
    const [page, build] = [written, built].map((sizes) => sizes.find((size) => size.name === name))
    if (!page || !build) return [`${name} is ${page ? 'not built' : `not in ${PAGE}`}`]
    return ['raw', 'gzip'].filter((kind) => Math.abs(page[kind] - build[kind]) > build[kind] * TOLERANCE)
      .map((kind) => `${name} has ${build[kind]} bytes${kind === 'gzip' ? ' with gzip' : ''}, and ${PAGE} says ${page[kind]}`)
  })
}

function place(page) {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`${PAGE} has no place for the sizes: it must contain ${BEGIN} and, after it, ${END}`)
  return [begin + BEGIN.length, end]
}

/** Returns the sizes of the built Workers. */
function measure() {
  return Object.entries(WORKERS).map(([name, folder]) => {
    const file = fileURLToPath(new URL(`${folder}/build/index_bg.wasm`, ROOT))
    const raw = statSync(file).size
    // scripts/test build prints sizes of the same program. The gzip of Node.js is up to 1 % worse.
    return { name, raw, gzip: execFileSync('gzip', ['-9', '-c', file], { maxBuffer: 2 * raw }).length }
  })
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const file = new URL(PAGE, ROOT)
  const page = readFileSync(file, 'utf8')
  if (process.argv[2] === '--write') {
    writeFileSync(file, withSizes(page, measure()))
  } else {
    const found = differences(sizesOf(page), measure())
    for (const difference of found) console.error(difference)
    if (found.length > 0) {
      console.error(`Run \`${COMMAND}\`.`)
      process.exitCode = 1
    }
  }
}
