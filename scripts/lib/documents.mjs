// A folder of Markdown as documents: which files, and the slug and title of each.

import { readdir, realpath, stat } from 'node:fs/promises'
import { join } from 'node:path'

/**
 * The .md files below a folder, as paths with `/`, sorted. Folders whose name begins with a dot and
 * node_modules are left out. A symbolic link is followed, but no folder is entered a second time.
 */
export async function markdownFiles(root) {
  const found = []
  const entered = new Set()
  async function enter(folder, prefix) {
    const real = await realpath(folder)
    if (entered.has(real)) return
    entered.add(real)
    for (const name of await readdir(folder)) {
      const path = join(folder, name)
      // A link that leads nowhere is no file.
      const what = await stat(path).catch(() => undefined)
      if (what?.isDirectory() && !name.startsWith('.') && name !== 'node_modules') await enter(path, `${prefix}${name}/`)
      else if (what?.isFile() && /\.md$/i.test(name)) found.push(prefix + name)
    }
  }
  await enter(root, '')
  return found.sort()
}

/** `guides/Getting Started.md` -> `guides-getting-started`. Empty where nothing of the path can be kept. */
export function slugOf(path) {
  return path
    .replace(/\.md$/i, '')
    .toLowerCase()
    .replace(/[/\s]+/g, '-')
    .replace(/[^a-z0-9-]/g, '')
    .replace(/-{2,}/g, '-')
    .replace(/^-|-$/g, '')
}

/** The `title:` of the front matter, else the first heading outside a code fence, else the file's name. */
export function titleOf(text, path) {
  const { matter, body } = splitFrontMatter(text)
  return matterTitle(matter) || headingTitle(body) || path.split('/').at(-1).replace(/\.md$/i, '')
}

function splitFrontMatter(text) {
  const [, matter, body] = /^\uFEFF?---[ \t]*\r?\n([\s\S]*?)(?:^|\r?\n)---[ \t]*(?:\r?\n([\s\S]*))?$/.exec(text) ?? []
  return matter === undefined ? { matter: '', body: text } : { matter, body: body ?? '' }
}

// One line of YAML: bare, or between quotes. A title that is written any other way is not read.
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
      // A fence is closed by the same sign, at least as long, and nothing after it.
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

/** The slugs that several files have: `[slug, [path, path…]]`. */
export function collisions(documents) {
  const bySlug = Map.groupBy(documents, ({ slug }) => slug)
  return [...bySlug].filter(([, same]) => same.length > 1).map(([slug, same]) => [slug, same.map(({ path }) => path)])
}
