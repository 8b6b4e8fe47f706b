// The documentation in Markdown for language models, as https://llmstxt.org describes it: llms.txt lists the pages, and llms-full.txt
// contains them.

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { changeOutsideCode, linkedPages, listedPages, nameOf } from './book.mjs'

/** Matches a heading of a section, or the title and the link of a page, in docs/SUMMARY.md. */
const ENTRY = /^# (.+)$|^ *(?:- )?\[(.+)\]\((.+)\)$/gm

/** Returns the first paragraph of a page as one line without links. A last sentence that ends with a colon belongs to the next block. */
function descriptionOf(text) {
  const [, paragraph] = text.split('\n\n')
  const sentences = paragraph.replaceAll('\n', ' ').replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').split(/(?<=[.:]) (?=[A-Z`])/)
  return (sentences.at(-1).endsWith(':') ? sentences.slice(0, -1) : sentences).join(' ')
}

/** Returns the lists of llms.txt: the sections of docs/SUMMARY.md with their pages. */
function listsOf(summary, pages) {
  const lines = []
  let section = ''
  for (const [, heading, title, name] of summary.matchAll(ENTRY)) {
    if (heading) {
      section = heading
      continue
    }
    // The summary has its title as a heading, and below it the page that has no section.
    if (section) lines.push('', `## ${section === 'Summary' ? 'Overview' : section}`, '')
    section = ''
    lines.push(`- [${title}](${name}): ${descriptionOf(pages.get(name))}`)
  }
  return lines.join('\n')
}

/** Returns a map from the name to the text of each file: llms.txt, llms-full.txt, and the pages to which llms.txt links. */
export async function llmsFiles(root) {
  const pages = await linkedPages(root)
  const summary = pages.get('SUMMARY.md')
  pages.delete('SUMMARY.md')
  const head = `# edge-mcp\n\n> ${descriptionOf(pages.get('index.md'))}\n`
  // The heading of a page is its path in the repository, so the headings of the page move down by one level.
  const full = (await listedPages(root)).map((path) =>
    `# ${path}\n\n${changeOutsideCode(pages.get(nameOf(path)), (part) => part.replace(/^#+ /gm, '#$&'))}`)
  return new Map([
    ['llms.txt', `${head}\nEach link leads to a page in Markdown. [llms-full.txt](llms-full.txt) contains all pages.\n${listsOf(summary, pages)}\n`],
    ['llms-full.txt', `${head}\nThis file contains all pages of the documentation. The heading of each page is its path in the repository.\n\n${full.join('\n')}`],
    ...pages,
  ])
}

// As a command: `llms.mjs FOLDER` writes the files to the folder of a built site.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [folder] = process.argv.slice(2)
  if (!folder) throw new Error('usage: llms.mjs FOLDER')
  for (const [name, text] of await llmsFiles(fileURLToPath(new URL('../..', import.meta.url)))) await writeFile(join(folder, name), text)
}
