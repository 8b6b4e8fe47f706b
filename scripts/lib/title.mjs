// The titles of Markdown documents.

import { parseDocument } from 'yaml'

/** The most characters of a title. */
const MOST = 300
/** The most characters of a front matter in YAML that is parsed, and of a heading before its links and images are removed. */
const MOST_MATTER = 65_536
const MOST_HEADING = 4000
/** The most lines of an HTML heading. */
const MOST_LINES = 20

/** Returns the `title` of the front matter, or else the first heading of level 1, or else the name of the file. It is a line of plain text. */
export function titleOf(text, path) {
  const { title, body } = splitFrontMatter(text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n'))
  const characters = [...(oneLine(title) || headingTitle(body) || path.split('/').at(-1).replace(/\.md$/i, ''))]
  return characters.length <= MOST ? characters.join('') : `${characters.slice(0, MOST - 1).join('')}…`
}

const oneLine = (text) => text.replace(/\s+/g, ' ').trim()

/** Returns the title of the front matter, or an empty text, and the text after the front matter. A front matter begins with a key. */
function splitFrontMatter(text) {
  const yaml = /^---[ \t]*\n(?=[\p{Alphabetic}\p{N}_."'-]+[ \t]*:)([^]*?\n)(?:---|\.\.\.)[ \t]*(?:\n|$)/u.exec(text)
  if (yaml) return { title: yamlTitle(yaml[1]), body: text.slice(yaml[0].length) }
  const toml = /^\+\+\+[ \t]*\n(?=[\p{Alphabetic}\p{N}_."'-]+[ \t]*=)([^]*?\n)\+\+\+[ \t]*(?:\n|$)/u.exec(text)
  return toml ? { title: tomlTitle(toml[1]), body: text.slice(toml[0].length) } : { title: '', body: text }
}

function yamlTitle(matter) {
  const document = matter.length <= MOST_MATTER ? parseDocument(matter, { logLevel: 'silent', uniqueKeys: false }) : undefined
  if (document?.errors.length === 0) {
    const { value, source } = document.get('title', true) ?? {}
    // `title: 1.10` is a number, whose text is its title.
    return typeof value === 'string' ? value : value === null ? '' : (source ?? '')
  }
  // Many files have a title that is not valid YAML, such as `title: Tea: the basics`.
  const line = /^title:[ \t]+(.+)$/m.exec(matter)?.[1].trim() ?? ''
  return /^(["']).*\1$/.test(line) ? line.slice(1, -1) : line
}

function tomlTitle(matter) {
  // A table, such as `[extra]`, ends the keys of the document.
  const [keys] = matter.split(/^[ \t]*\[/m)
  const [, basic, literal] = /^title[ \t]*=[ \t]*(?:"((?:[^"\\\n]|\\.)*)"|'([^'\n]*)')/m.exec(keys) ?? []
  try {
    return literal ?? JSON.parse(`"${basic ?? ''}"`)
  } catch {
    return basic
  }
}

/** Returns the first heading of level 1 that has a text: `# Title`, a line above `=====`, or `<h1>`. */
function headingTitle(body) {
  const lines = body.split('\n')
  let fence = ''
  let isComment = false
  let paragraph = []
  for (const [nth, line] of lines.entries()) {
    const mark = /^ {0,3}(`{3,}|~{3,})(.*)$/.exec(line)
    if (fence) {
      // The same character closes a fence. The closing fence is at least as long, and no text follows it.
      if (mark && mark[1].startsWith(fence) && !mark[2].trim()) fence = ''
      continue
    }
    if (isComment || /^ {0,3}<!--/.test(line)) {
      isComment = !line.includes('-->')
      continue
    }
    if (mark) fence = mark[1]
    const heading = /^ {0,3}#[ \t]+(.*?)(?:[ \t]+#+)?[ \t]*$/.exec(line)?.[1]
      ?? (paragraph.length > 0 && EQUALS.test(line) ? paragraph.join(' ') : undefined)
      ?? (/^[ \t]*<.*<h1[\s>]|^[ \t]*<h1[\s>]/i.test(line) ? htmlHeading(lines.slice(nth, nth + MOST_LINES).join('\n')) : undefined)
    const title = heading && plainText(heading)
    // Only ASCII punctuation may be left of a row of badges.
    if (title && /[^\s!-/:-@[-`{-~]/.test(title)) return title
    // In reStructuredText, a heading also has a line of equals signs above it.
    const isParagraph = !mark && /\S/.test(line) && !EQUALS.test(line) && !/^ {0,3}(#{1,6}([ \t]|$)|>|[-+*][ \t]|\d+[.)][ \t])/.test(line)
    paragraph = isParagraph ? [...paragraph.slice(-MOST_LINES), line] : []
  }
  return ''
}

const EQUALS = /^ {0,3}=+[ \t]*$/

const htmlHeading = (html) => /<h1(?:\s[^>]*)?>([^]*?)<\/h1>/i.exec(html)?.[1]

const CODE = '(`+)(?:[^]*?[^`])?\\1(?!`)'
const TEXT = '((?:[^\\[\\]]|\\[[^\\[\\]]*\\])*)'
const DESTINATION = '\\(\\s*(?:<[^<>]*>|(?:[^\\s()]|\\([^\\s()]*\\))*)(?:\\s+(?:"[^"]*"|\'[^\']*\'|\\([^()]*\\)))?\\s*\\)'
const IMAGE = new RegExp(`${CODE}|!\\[${TEXT}\\](?:${DESTINATION}|\\[[^\\[\\]]*\\])?`, 'g')
const LINK = new RegExp(`${CODE}|\\[${TEXT}\\](?:${DESTINATION}|\\[[^\\[\\]]*\\])`, 'g')
const TAG = new RegExp(`${CODE}|<!--[^]*?-->|</?[a-z][a-z\\d-]*(?:[\\s/][^<>]*)?>`, 'gi')
/** The names of characters that headings have. */
const NAMED = { amp: '&', gt: '>', lt: '<', quot: '"', nbsp: ' ', ensp: ' ', emsp: ' ', thinsp: ' ', middot: ' ' }
const ENTITY = new RegExp(`${CODE}|&(${Object.keys(NAMED).join('|')});`, 'g')

/**
 * Returns the text of a heading without its images and HTML tags, and with the text of each link. The other marks, such as those of code, stay.
 * The knowledge base reads headings by the same rule: src/rag/chunks/heading.rs.
 */
export function plainText(markdown) {
  const text = [[IMAGE, () => ''], [LINK, (inner) => inner], [TAG, () => ' '], [ENTITY, (name) => NAMED[name]]].reduce(
    (text, [pattern, replaced]) => text.replace(pattern, (all, code, inner) => (code ? all : replaced(inner))), markdown.slice(0, MOST_HEADING))
  return oneLine(text)
}
