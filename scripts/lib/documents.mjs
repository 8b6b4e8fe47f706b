// The documents of a folder of Markdown files: their paths and slugs.

import { createHash } from 'node:crypto'
import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** The most bytes of a slug. The knowledge base takes slugs of at most 200 characters and 256 bytes. */
const SLUG_BYTES = 200

/**
 * Marks of other scripts that follow their letter, and that no class of a regular expression contains without many others. The knowledge
 * base takes the same ones: `is_word_character` in src/words/split.rs.
 */
const MARKS = '\u093c\u094d\u09bc\u09cd\u0a3c\u0a4d\u0abc\u0acd\u0b3c\u0b4d\u0bcd\u0c3c\u0c4d\u0cbc\u0ccd\u0d3c\u0d4d\u0dca' +
  '\u0e47-\u0e4e\u0eba\u0ec8-\u0ece\u1037\u1039\u103a\u17c9-\u17d3\u17dd'
/** Everything but letters, digits and `-`, and the diacritics that are left after normalization. */
const DROPPED = new RegExp(`[^\\p{Alphabetic}\\p{N}${MARKS}-]|[\\u0300-\\u036f]`, 'gu')

/**
 * Finds the .md files of a folder and its subfolders. Returns sorted paths with `/` as the separator: `files`, `skipped` and `links`.
 *
 * `skipped` has folders named node_modules, and the folders and .md files whose names begin with a dot. Does not follow symbolic links: the
 * author of a document could publish a file of another folder with one. `links` has each link to a folder, and each whose name ends in .md.
 *
 * @returns {Promise<{ files: string[], skipped: string[], links: string[] }>}
 */
export async function markdownFiles(root) {
  const found = { files: [], skipped: [], links: [] }
  async function enter(folder) {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const { name } = entry
      const path = folder + name
      const isMarkdown = /\.md$/i.test(name)
      if (entry.isSymbolicLink()) {
        if (isMarkdown || (await stat(join(root, path)).catch(() => undefined))?.isDirectory()) found.links.push(path)
      } else if (!entry.isDirectory() && !(entry.isFile() && isMarkdown)) {
        continue
      } else if (name.startsWith('.') || (entry.isDirectory() && name === 'node_modules')) {
        found.skipped.push(path)
      } else if (entry.isDirectory()) {
        await enter(`${path}/`)
      } else {
        found.files.push(path)
      }
    }
  }
  await enter('')
  for (const paths of Object.values(found)) paths.sort()
  return found
}

/**
 * Returns the slug of a path: `guides/Getting Started.md` -> `guides-getting-started`. Letters of every script stay.
 *
 * A hash of the path stands for a name without letters and digits, and for the end of a long path. So a slug is never empty.
 */
export function slugOf(path) {
  const hash = createHash('sha256').update(path.normalize('NFC')).digest('hex').slice(0, 8)
  const segments = path.replace(/\.md$/i, '').split('/').map(wordsOf)
  if (segments.at(-1) === '') segments[segments.length - 1] = `doc-${hash}`
  const slug = segments.filter(Boolean).join('-')
  if (Buffer.byteLength(slug) <= SLUG_BYTES) return slug
  // A character that is cut in the middle becomes U+FFFD, which is dropped.
  const begin = Buffer.from(slug).subarray(0, SLUG_BYTES - hash.length - 1).toString()
  return `${wordsOf(begin)}-${hash}`
}

/** Returns the letters and digits of a name in lower case, with `-` between its words. */
function wordsOf(name) {
  return name.normalize('NFC').toLowerCase().replace(/\s+/g, '-').replace(DROPPED, '').replace(/-{2,}/g, '-').replace(/^-|-$/g, '')
}

/** Returns the slugs that several files share, with the paths of these files. */
export function collisions(documents) {
  const bySlug = Map.groupBy(documents, ({ slug }) => slug)
  return new Map([...bySlug].filter(([, same]) => same.length > 1).map(([slug, same]) => [slug, same.map(({ path }) => path)]))
}
