// The documents of a folder of Markdown files: their paths, slugs and titles.

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * Returns the sorted paths of the .md files in a folder and its subfolders, with `/` as the separator. Skips node_modules and folders
 * whose names begin with a dot.
 *
 * Does not follow symbolic links: the author of a document could publish a file of another folder with one. `onLink` gets the path of each
 * link to a folder, and of each link whose name ends in .md.
 */
export async function markdownFiles(root, onLink = () => {}) {
  const found = []
  async function enter(folder) {
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const { name } = entry
      const path = folder + name
      const isMarkdown = /\.md$/i.test(name)
      if (entry.isSymbolicLink()) {
        if (isMarkdown || (await stat(join(root, path)).catch(() => undefined))?.isDirectory()) onLink(path)
      } else if (entry.isDirectory() && !name.startsWith('.') && name !== 'node_modules') {
        await enter(`${path}/`)
      } else if (entry.isFile() && isMarkdown) {
        found.push(path)
      }
    }
  }
  await enter('')
  return found.sort()
}

/** Returns the slug of a path: `guides/Getting Started.md` -> `guides-getting-started`. A path without a-z and 0-9 has an empty slug. */
export function slugOf(path) {
  return path
    .replace(/\.md$/i, '')
    .toLowerCase()
    .replace(/[/\s]+/g, '-')
    .replace(/[^a-z0-9-]/g, '')
    .replace(/-{2,}/g, '-')
    .replace(/^-|-$/g, '')
}

/** Returns the `title:` of the front matter, or else the first heading outside a code fence, or else the name of the file. */
export function titleOf(text, path) {
  const { matter, body } = splitFrontMatter(text)
  return matterTitle(matter) || headingTitle(body) || path.split('/').at(-1).replace(/\.md$/i, '')
}

function splitFrontMatter(text) {
  const [, matter, body] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:^|\r?\n)---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(text) ?? []
  return matter === undefined ? { matter: '', body: text } : { matter, body: body ?? '' }
}

// Parses one line of YAML, plain or in quotes. Other forms of a title are ignored.
function matterTitle(matter) {
  const value = /^title:[ \t]+(.+?)[ \t]*$/m.exec(matter)?.[1]
  if (value === undefined) return ''
  const quoted = /^(["'])(.*)\1(?:\s+#.*)?$/.exec(value)
  if (quoted) {
    const [, quote, inner] = quoted
    return (quote === '"' ? inner.replace(/\\(["\\])/g, '$1') : inner.replaceAll("''", "'")).trim()
  }
  return /^[|>]/.test(value) ? '' : value.replace(/\s+#.*$/, '').trim()
}

function headingTitle(body) {
  let fence = ''
  for (const line of body.split(/\r?\n/)) {
    const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line)
    if (fence) {
      // The same character closes a fence. The closing fence is at least as long, and no text follows it.
      if (mark && mark[1].startsWith(fence) && !mark[2].trim()) fence = ''
    } else if (mark) {
      fence = mark[1]
    } else {
      const heading = /^ {0,3}#[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/.exec(line)?.[1]
      if (heading) return heading
    }
  }
  return ''
}

/** Returns the slugs that several files share, as `[slug, [path, path…]]`. */
export function collisions(documents) {
  const bySlug = Map.groupBy(documents, ({ slug }) => slug)
  return [...bySlug].filter(([, same]) => same.length > 1).map(([slug, same]) => [slug, same.map(({ path }) => path)])
}
