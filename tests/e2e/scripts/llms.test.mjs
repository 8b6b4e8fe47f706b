// Tests of llms.txt and llms-full.txt, which scripts/docs writes into the site of the documentation. These tests do not need mdBook.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { listedPages, nameOf } from '../../../scripts/lib/book.mjs'
import { ROOT } from '../worker.mjs'

const run = promisify(execFile)

let folder, pages
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'llms-'))
  await run('node', [join(ROOT, 'scripts/lib/llms.mjs'), folder])
  pages = await listedPages(ROOT)
})
after(() => rm(folder, { recursive: true, force: true }))

const read = (name) => readFile(join(folder, name), 'utf8')

test('llms.txt has a title, a summary, and lists of links, each with a description', async () => {
  const [title, summary, , ...lists] = (await read('llms.txt')).trimEnd().split('\n\n')
  assert.equal(title, '# edge-mcp')
  assert.match(summary, /^> edge-mcp is .+\.$/)
  for (const [index, block] of lists.entries()) {
    if (index % 2 === 0) assert.match(block, /^## .+$/)
    else for (const line of block.split('\n')) assert.match(line, /^- \[[^\]]+\]\([\w-]+\.md\): [^[]+[.)]$/)
  }
  const sections = lists.filter((_, index) => index % 2 === 0)
  const summarySections = (await readFile(join(ROOT, 'docs/SUMMARY.md'), 'utf8')).match(/^# .+$/gm).slice(1).map((line) => `#${line}`)
  assert.deepEqual(sections, ['## Overview', ...summarySections])
})

test('llms.txt links to each page of docs/SUMMARY.md once, and the page is in the site', async () => {
  const links = [...(await read('llms.txt')).matchAll(/^- \[.+?\]\((.+?)\)/gm)].map(([, link]) => link)
  assert.deepEqual(links, pages.map(nameOf))
  assert.deepEqual((await readdir(folder)).sort(), ['llms.txt', 'llms-full.txt', ...links].sort())
})

test('llms-full.txt contains each page of docs/SUMMARY.md below its path, and changes only headings', async () => {
  let rest = await read('llms-full.txt')
  for (const path of pages) {
    const text = await read(nameOf(path))
    const start = rest.indexOf(`\n# ${path}\n\n#${text.split('\n')[0]}\n`)
    assert.ok(start >= 0, path)
    rest = rest.slice(start + `\n# ${path}\n\n`.length)
    const copy = rest.slice(0, text.length + text.split('\n').length * 2)
    const asBefore = copy.split(/(^```.*?^```$)/gms).map((part, index) => (index % 2 ? part : part.replace(/^##/gm, '#'))).join('')
    assert.ok(asBefore.startsWith(text), path)
  }
})

test('the Markdown of a page has its diagrams as source, and links to other pages of the site', async () => {
  const concepts = await read('concepts.md')
  assert.match(concepts, /^```mermaid$/m)
  assert.doesNotMatch(concepts, /<script/)
  assert.ok((await read('decisions.md')).includes('](ARCHITECTURE.md#rooms)'))
})
