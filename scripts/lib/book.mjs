// The pages of the documentation site, in the form that mdBook reads: all pages are in one folder, and docs/SUMMARY.md lists them.

import { createHash } from 'node:crypto'
import { readFile, readdir, writeFile } from 'node:fs/promises'
import { basename, dirname, join, posix } from 'node:path'
import { fileURLToPath } from 'node:url'

/** Matches a fenced block or code in a line. Text in code is not a link. */
const CODE = /(^```.*?^```$|`[^`\n]*`)/gms
const LINK = /\]\((?![a-z]+:)([^)#\s]*)(#[^)\s]*)?\)/g
const DIAGRAM = /^```mermaid\n(.*?)^```$/gms

/** Returns the paths of the pages that docs/SUMMARY.md lists, from the root of the repository. */
export async function listedPages(root) {
  const summary = await readFile(join(root, 'docs/SUMMARY.md'), 'utf8')
  return [...summary.matchAll(LINK)].map(([, link]) => posix.join('docs', link))
}

/** Returns the name of a page in the book. mdBook serves index.md at the URL of the site. */
export const nameOf = (path) => (path === 'README.md' ? 'index.md' : basename(path))

/**
 * Returns a map from the name in the book to the text, for SUMMARY.md and each page that it lists. Links to these pages and to pictures of
 * docs/ have the name in the book. All other links lead to the repository.
 */
export async function linkedPages(root) {
  const [, repository] = /^repository = "(.*)"$/m.exec(await readFile(join(root, 'Cargo.toml'), 'utf8'))
  const paths = await listedPages(root)
  const pictures = (await readdir(join(root, 'docs'))).filter((name) => /\.(png|svg)$/.test(name)).map((name) => `docs/${name}`)
  const inBook = new Set([...paths, ...pictures])
  const pages = new Map()
  for (const path of ['docs/SUMMARY.md', ...paths]) {
    const text = await readFile(join(root, path), 'utf8')
    pages.set(nameOf(path), changeOutsideCode(text, (part) => part.replace(LINK, (whole, link, anchor = '') => {
      if (!link) return whole
      const target = posix.join(dirname(path), link)
      return `](${inBook.has(target) ? nameOf(target) : `${repository}/blob/main/${target}`}${anchor})`
    })))
  }
  return pages
}

/** Returns the same map as {@link linkedPages}, with the diagrams in the form that the site shows. */
export async function bookPages(root) {
  return new Map([...await linkedPages(root)].map(([name, text]) => [name, withDiagrams(text)]))
}

/** Returns the text, in which `change` has replaced each part outside of code. */
export function changeOutsideCode(text, change) {
  return text.split(CODE).map((part, index) => (index % 2 ? part : change(part))).join('')
}

function withDiagrams(text) {
  const changed = text.replace(DIAGRAM, (_, source) =>
    `<pre class="mermaid">${source.replaceAll('&', '&amp;').replaceAll('<', '&lt;')}</pre>`)
  // The library is large, so only pages with a diagram load it.
  return changed === text ? text : `${changed}\n<script src="mermaid.js" defer></script>\n<script src="diagrams.js" defer></script>\n`
}

/**
 * Writes `_headers`, from which the server of the site takes the headers: a Content-Security-Policy that only allows the scripts of the
 * site. It has the digests of the scripts within the pages.
 */
export async function writeHeaders(site) {
  const digests = new Set()
  for (const name of (await readdir(site)).filter((each) => each.endsWith('.html'))) {
    const html = await readFile(join(site, name), 'utf8')
    for (const [, script] of html.matchAll(/<script>(.*?)<\/script>/gs)) {
      digests.add(`'sha256-${createHash('sha256').update(script).digest('base64')}'`)
    }
  }
  const policy = [
    "default-src 'self'", `script-src 'self' ${[...digests].sort().join(' ')}`, "style-src 'self' 'unsafe-inline'", "img-src 'self' data:",
    "object-src 'none'", "base-uri 'self'", "frame-ancestors 'none'",
  ].join('; ')
  await writeFile(join(site, '_headers'), `/*\n  Content-Security-Policy: ${policy}\n  X-Content-Type-Options: nosniff\n  Referrer-Policy: same-origin\n`)
}

// As a command: `book.mjs pages FOLDER` writes the pages, and `book.mjs headers FOLDER` writes the headers of a built site.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [what, folder] = process.argv.slice(2)
  if (what === 'headers') {
    await writeHeaders(folder)
  } else if (what === 'pages') {
    for (const [name, text] of await bookPages(fileURLToPath(new URL('../..', import.meta.url)))) await writeFile(join(folder, name), text)
  } else {
    throw new Error('usage: book.mjs pages|headers FOLDER')
  }
}
