// Tests the pages of the documentation: their links, the list of pages in docs/SUMMARY.md, their first paragraphs, and their form in the
// site that scripts/docs builds. These tests do not need mdBook.

import assert from 'node:assert/strict'
import { readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { bookPages, listedPages } from '../../../scripts/lib/book.mjs'
import { ROOT } from '../worker.mjs'

const docs = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)
const pages = docs.filter((page) => page !== 'docs/SUMMARY.md')
const read = (page) => readFile(join(ROOT, page), 'utf8')

// The anchor that GitHub and mdBook generate for a heading.
const anchorOf = (heading) => heading.toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-')
const withoutCode = (text) => text.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, (code) => code.slice(1, -1).replace(/[[\]]/g, ''))
const linksOf = (text) => [...withoutCode(text).matchAll(/\]\((?!https?:)([^)]+)\)/g)].map(([, link]) => link)
const hasHeading = (text, anchor) => [...withoutCode(text).matchAll(/^#+ (.+)$/gm)].some(([, heading]) => anchorOf(heading) === anchor)

test('each link in the pages points to a file that exists, and to a heading in it', async () => {
  const others = ['AGENTS.md', 'README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'template/AGENTS.md',
    'template/README.md', 'tests/rag/README.md', 'tests/simulation/README.md']
  for (const page of [...others, ...docs]) {
    for (const link of linksOf(await read(page))) {
      const [path, anchor] = link.split('#')
      const target = path ? join(page, '..', path) : page
      const linked = await read(target).catch((error) => assert.equal(error.code, 'EISDIR', `${page} links to ${link}`))
      if (anchor) assert.ok(hasHeading(linked, anchor), `${page} links to ${link}`)
    }
  }
})

test('docs/SUMMARY.md lists each page of docs/ once', async () => {
  const listed = await listedPages(ROOT)
  assert.deepEqual(listed.filter((page) => page.startsWith('docs/')).sort(), pages.sort())
})

test('the first paragraph of each page says what the page is for', async () => {
  for (const page of pages) {
    const [title, first] = (await read(page)).split('\n\n')
    assert.match(title, /^# .+$/, page)
    assert.match(first, /\b(This page|This tutorial|These pages)\b/, page)
  }
})

test('in the site, each link points to a page, to a heading in it, to a picture, or to a file of the repository', async () => {
  const book = await bookPages(ROOT)
  const [, repository] = /^repository = "(.*)"$/m.exec(await read('Cargo.toml'))
  const pictures = (await readdir(join(ROOT, 'docs'))).filter((name) => /\.(png|svg)$/.test(name))
  assert.equal(new Set([...book.keys()].map((name) => name.toLowerCase())).size, (await listedPages(ROOT)).length + 1)
  for (const [name, text] of book) {
    for (const link of linksOf(text)) {
      const [path, anchor] = link.split('#')
      const linked = book.get(path || name)
      assert.ok(linked ?? pictures.includes(path), `${name} links to ${link}`)
      if (anchor) assert.ok(hasHeading(linked, anchor), `${name} links to ${link}`)
    }
  }
  assert.ok(book.get('SUMMARY.md').includes('[edge-mcp](index.md)'))
  assert.ok(book.get('decisions.md').includes('](ARCHITECTURE.md#rooms)'))
  assert.ok(book.get('tutorial.md').includes(`](${repository}/blob/main/examples/tutorial)`))
  assert.match(book.get('concepts.md'), /^<pre class="mermaid">flowchart LR$/m)
  assert.match(book.get('concepts.md'), /<script src="mermaid.js" defer>/)
  assert.doesNotMatch(book.get('tools.md'), /<script/)
})

test('the code in docs/complete-server.md is from examples/expenses', async () => {
  const folder = join(ROOT, 'examples/expenses')
  const names = (await readdir(folder, { recursive: true })).filter((name) => /^(src|migrations)\/.*\.\w+$|^wrangler\.toml$/.test(name))
  const files = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  const blocks = [...(await read('docs/complete-server.md')).matchAll(/^```(?:rs|sql|toml)\n(.*?)^```$/gms)].map(([, block]) => block)
  assert.ok(blocks.length >= 10)
  for (const block of blocks) assert.ok(files.some((file) => file.includes(block)), `examples/expenses does not contain:\n${block}`)
})
