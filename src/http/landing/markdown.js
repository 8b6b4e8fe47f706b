// Shows Markdown as elements: paragraphs, headings, lists, quotations, code, tables, emphasis and links. Each text becomes a text node, so
// HTML in a document is shown as text. Hostile documents cost little: a line is read at most once at each of the few levels of nesting,
// and each expression below reads a line in a time that grows with its length, not with the square of it.

/** The deepest nesting of lists and quotations. A deeper list or quotation is shown as a paragraph. */
const DEEPEST = 6
/** The deepest nesting of emphasis and links. */
const DEEPEST_INLINE = 20
/** The most columns of a table. A wider table is shown as a paragraph. */
const MOST_COLUMNS = 50

const FENCE = /^ {0,3}(`{3,}(?!`)|~{3,}(?!~))[^`]*$/
const HEADING = /^ {0,3}(#{1,6})(?![^ ])(.*)$/
const RULE = /^ {0,3}(?:(?:\* *){3,}|(?:- *){3,}|(?:_ *){3,})$/
const QUOTE = /^ {0,3}> ?(.*)$/
const ITEM = /^( {0,3}(?:[-*+]|(\d{1,9})[.)]))(?: ( {0,3}(?! )|)(.*))?$/
const UNDERLINE = /^ {0,3}(=+|-+) *$/
const indentOf = (line) => line.length - line.trimStart().length

/**
 * Returns whether a line begins a block, even directly after a paragraph. A number begins a list only if it is 1, because texts contain
 * years.
 */
function interrupts(line) {
  const [, , number = '1', , text] = ITEM.exec(line) ?? []
  return (number === '1' && text) || [FENCE, HEADING, RULE, QUOTE].some((start) => start.test(line))
}

/** Returns the cells of a row of a table. */
function cellsOf(line) {
  const row = line.trim().replace(/^\|/, '')
  const cells = row.split(/(?<!\\)\|/)
  if (cells.at(-1) === '') cells.pop()
  return cells.map((cell) => cell.trim().replaceAll('\\|', '|'))
}

/** Returns the number of columns if a line and the line after it begin a table, or else 0. */
function columnsOf(line, after) {
  if (!line.includes('|') || !after?.includes('-')) return 0
  const rules = cellsOf(after)
  const isTable = rules.length <= MOST_COLUMNS && rules.every((rule) => /^:?-+:?$/.test(rule)) && cellsOf(line).length === rules.length
  return isTable ? rules.length : 0
}

/** Returns a text in Markdown as a fragment. `stems` are those of the words to mark, and `level` is that of its highest headings. */
function markdown(text, stems, level) {
  const fragment = new DocumentFragment()
  const lines = text.split(/\r\n?|\n/).map((line) => line.trimEnd() + (line.endsWith('  ') ? '  ' : ''))
  const indented = lines.map((line) => line.replace(/^[ \t]+/, (space) => space.replaceAll('\t', '    ')))
  appendBlocks(fragment, indented, { stems, level, depth: 0 })
  return fragment
}

function appendBlocks(parent, lines, context) {
  const { stems, level, depth } = context
  const isNested = depth < DEEPEST
  let at = 0
  const take = (belongs) => {
    const from = at
    while (at < lines.length && belongs(lines[at])) at++
    return lines.slice(from, at)
  }
  const add = (tag, text) => {
    const element = el(tag)
    appendInline(element, text, stems)
    parent.append(element)
  }
  const code = (lines) => {
    const element = el('code')
    appendText(element, lines.join('\n'), stems)
    parent.append(el('pre', {}, element))
  }
  while (at < lines.length) {
    const line = lines[at]
    let match
    if (line.trim() === '') at++
    else if ((match = FENCE.exec(line))) {
      const [, fence] = match
      const indent = indentOf(line)
      at++
      const taken = take((each) => !(each.trim().startsWith(fence) && /^(`+|~+)$/.test(each.trim())))
      code(taken.map((each) => each.slice(Math.min(indent, indentOf(each)))))
      at++
    } else if (line.startsWith('    ')) {
      const taken = take((each) => each.startsWith('    ') || each.trim() === '')
      while (taken.at(-1).trim() === '') taken.pop()
      code(taken.map((each) => each.slice(4)))
    } else if ((match = HEADING.exec(line))) {
      at++
      add(`h${Math.min(6, level + match[1].length - 1)}`, withoutClosing(match[2].trim()))
    } else if (RULE.test(line)) {
      at++
      parent.append(el('hr'))
    } else if (isNested && QUOTE.test(line)) {
      const quote = el('blockquote')
      appendBlocks(quote, take((each) => QUOTE.test(each)).map((each) => QUOTE.exec(each)[1]), { ...context, depth: depth + 1 })
      parent.append(quote)
    } else if (isNested && (match = ITEM.exec(line))) {
      at = appendList(parent, lines, at, match, context)
    } else if (columnsOf(line, lines[at + 1])) {
      const columns = columnsOf(line, lines[at + 1])
      const row = (line, tag) => el('tr', {}, ...cellsOf(line).slice(0, columns).map((text) => {
        const cell = el(tag)
        appendInline(cell, text, stems)
        return cell
      }))
      const head = el('thead', {}, row(line, 'th'))
      at += 2
      const body = el('tbody')
      for (const each of take((each) => each.includes('|'))) body.append(row(each, 'td'))
      parent.append(el('div', { className: 'table' }, el('table', {}, head, body)))
    } else {
      at++
      const rest = take((each) => each.trim() !== '' && !interrupts(each) && !UNDERLINE.test(each))
      const underline = UNDERLINE.exec(lines[at] ?? '')?.[1][0]
      // Two blanks at the end of a line are a line break, except at the end of the paragraph.
      const text = [line, ...rest].map((each, nth) => each.trim() + (each.endsWith('  ') && nth < rest.length ? '\\' : '')).join('\n')
      if (underline) at++
      add(underline ? `h${Math.min(6, level + (underline === '=' ? 0 : 1))}` : 'p', text)
    }
  }
}

/** Returns the text of a heading without the number signs that may close it. */
function withoutClosing(text) {
  let end = text.length
  while (text[end - 1] === '#') end--
  return end === 0 || text[end - 1] === ' ' ? text.slice(0, end).trimEnd() : text
}

/** Appends the list that begins at a line, and returns the line after it. */
function appendList(parent, lines, at, first, context) {
  const kindOf = ([, marker]) => marker.at(-1)
  const [isOrdered, kind] = [first[2] !== undefined, kindOf(first)]
  const list = el(isOrdered ? 'ol' : 'ul')
  for (let item = first; item && kindOf(item) === kind && !RULE.test(lines[at]); item = ITEM.exec(lines[at] ?? '')) {
    const [, marker, , space = '', text = ''] = item
    const indent = marker.length + 1 + space.length
    const own = [text]
    let isAfterBlank = false
    for (at++; at < lines.length; at++) {
      const line = lines[at]
      const isBlank = line.trim() === ''
      if (isBlank || indentOf(line) >= indent) own.push(line.slice(indent))
      // A line without indentation continues the paragraph.
      else if (!isAfterBlank && !ITEM.test(line) && !interrupts(line)) own.push(line)
      else break
      isAfterBlank = isBlank
    }
    // An excerpt may begin in the middle of the list, so each item has its number.
    const element = el('li', isOrdered ? { value: Number(first[2]) + list.children.length } : {})
    appendBlocks(element, own, { ...context, depth: context.depth + 1 })
    list.append(element)
  }
  parent.append(list)
  return at
}

/** The marks in a paragraph: escapes, code, the ends of links and images, emphasis, and URLs. */
const INLINE = new RegExp([
  /\\[!-/:-@[-_{-~\n]/, /`+/, /!?\[/, /\]\(<?([^\s()<>]{0,2000})>?(?: "[^"]{0,500}")?\)/, /\]/, /\*{1,3}/, /_{1,3}/, /~~/,
  /<https?:\/\/[^\s<>]+>/, /\bhttps?:\/\/[^\s<>`"|*]*[^\s<>`"|*.,:;!?'()[\]_~]/,
].map(({ source }) => source).join('|'), 'g')
const EMPHASIS = { '*': ['em'], _: ['em'], '**': ['strong'], __: ['strong'], '***': ['strong', 'em'], ___: ['strong', 'em'], '~~': ['del'] }

/** Returns a link, if its URI is an `http` or `https` URL. Returns the content of any other link. */
const linkTo = (uri, ...content) =>
  (/^https?:\/\//i.test(uri) ? el('a', { href: uri, rel: 'noreferrer', target: '_blank' }, ...content) : content[0])

/** Appends a paragraph with its marks. */
function appendInline(parent, text, stems) {
  const marks = [...text.matchAll(INLINE)]
  // For each run of backticks, the next run of the same length.
  const closing = new Array(marks.length)
  const seen = new Map()
  for (let nth = marks.length - 1; nth >= 0; nth--) {
    const [run] = marks[nth]
    if (run[0] === '`') closing[nth] = seen.get(run.length)
    if (run[0] === '`') seen.set(run.length, nth)
  }
  // The emphasis and the links that have begun and not ended, with their content. The paragraph is the first.
  const open = [{ node: parent }]
  const say = (words) => appendText(open.at(-1).node, words, stems)
  const add = (node) => open.at(-1).node.append(node)
  const begin = (mark) => (open.length < DEEPEST_INLINE ? open.push({ mark, node: new DocumentFragment() }) : say(mark))
  /** Shows the marks after the first `length` as text, because they do not end. */
  const dissolve = (length) => {
    while (open.length > length) {
      const { mark, node } = open.pop()
      say(mark)
      add(node)
    }
  }
  const end = (index, show) => {
    dissolve(index + 1)
    add(show(open.pop()))
  }
  let from = 0
  for (let nth = 0; nth < marks.length; nth++) {
    const { 0: mark, 1: uri, index } = marks[nth]
    const after = index + mark.length
    say(text.slice(from, index))
    from = after
    if (mark[0] === '\\') mark === '\\\n' ? add(el('br')) : say(mark[1])
    else if (mark[0] === '`') {
      if (closing[nth] === undefined || text[index - 1] === '\\') {
        say(mark)
        continue
      }
      nth = closing[nth]
      const code = text.slice(after, marks[nth].index).replaceAll('\n', ' ')
      const element = el('code')
      appendText(element, code.startsWith(' ') && code.endsWith(' ') && code.trim() ? code.slice(1, -1) : code, stems)
      add(element)
      from = marks[nth].index + mark.length
    } else if (mark === '[' || mark === '![') begin(mark)
    else if (mark[0] === ']') {
      const bracket = open.findLastIndex(({ mark }) => mark?.endsWith('['))
      if (bracket < 0 || uri === undefined) {
        if (bracket > 0) dissolve(bracket)
        say(mark)
      } else {
        // A link in a link, and a link around an image, are shown as text.
        end(bracket, ({ mark, node }) => (mark === '[' && !node.querySelector('a') ? linkTo(uri, node) : node))
      }
    } else if (mark.startsWith('<http')) add(linkTo(mark.slice(1, -1), mark.slice(1, -1)))
    else if (mark.startsWith('http')) add(linkTo(mark, mark))
    else {
      const [before, next] = [text[index - 1] ?? ' ', text[after] ?? ' ']
      const isInWord = mark[0] === '_' && /[\p{L}\p{N}]/u.test(before) && /[\p{L}\p{N}]/u.test(next)
      let run = mark
      while (run && !isInWord && /\S/.test(before)) {
        const bracket = open.findLastIndex(({ mark }) => mark?.endsWith('['))
        const of = (fits) => open.findLastIndex(({ mark }, nth) => nth > bracket && mark?.[0] === run[0] && fits(mark))
        const begun = Math.max(of((mark) => mark === run), 0) || of((mark) => mark.length < run.length)
        if (begun < 1) break
        const { mark } = open[begun]
        end(begun, ({ node }) => EMPHASIS[mark].reduceRight((content, tag) => el(tag, {}, content), node))
        run = run.slice(mark.length)
      }
      if (run && !isInWord && /\S/.test(next)) begin(run)
      else say(run)
    }
  }
  say(text.slice(from))
  dissolve(1)
}
