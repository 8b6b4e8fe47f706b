// Shows a passage: the title of its document, its headings, and an excerpt around the words of the question. The search box of the page and
// the app of the knowledge base use this file, with element.js, words.js and markdown.js.

/** The number of words of an excerpt, and the most words by which it may be longer, to end with a sentence or with the text. */
const EXCERPT = 55
const LONGER = 20
/** The most words before the first match. */
const BEFORE = 16

/** Returns the words of an element in their order, each with its node, its place there, and its stem if it is marked. */
function wordsIn(element) {
  const words = []
  const texts = document.createTreeWalker(element, NodeFilter.SHOW_TEXT)
  while (texts.nextNode()) {
    const node = texts.currentNode
    const isMarked = node.parentElement.tagName === 'MARK'
    const unit = node.parentElement.closest('p, li, pre, td, th, h1, h2, h3, h4, h5, h6, div')
    for (const { 0: word, index } of node.data.matchAll(/\S+/g)) {
      words.push({ word, node, unit, start: index, end: index + word.length, stem: isMarked ? stem(fold(word)) : undefined })
    }
  }
  return words
}

/** Returns the index of the match from which on most different words of the question are near. */
function densest(words) {
  const near = new Map()
  let [best, most, ahead] = [0, 0, 0]
  const count = (stem, by) => {
    const left = (near.get(stem) ?? 0) + by
    left ? near.set(stem, left) : near.delete(stem)
  }
  for (const [nth, { stem }] of words.entries()) {
    if (!stem) continue
    for (; ahead < words.length && ahead - nth < EXCERPT - BEFORE; ahead++) if (words[ahead].stem) count(words[ahead].stem, 1)
    if (near.size > most) [best, most] = [nth, near.size]
    count(stem, -1)
  }
  return best
}

/** Returns a copy of an element that shows only the part with most words of the question, or nothing if the element is short. */
function excerpt(whole) {
  const part = whole.cloneNode(true)
  const words = wordsIn(part)
  if (words.length <= EXCERPT + LONGER) return undefined
  const startsSentence = (nth) => nth === 0 || words[nth].unit !== words[nth - 1].unit || /[.!?]$/.test(words[nth - 1].word)
  const match = Math.min(densest(words), words.length - EXCERPT)
  let first = match
  while (first > match - BEFORE && !startsSentence(first)) first--
  const longest = first + EXCERPT + LONGER
  let next = longest < words.length ? first + EXCERPT : words.length
  while (next < words.length && next < longest && !startsSentence(next)) next++
  const cut = (set) => {
    const range = document.createRange()
    range.selectNodeContents(part)
    set(range)
    range.deleteContents()
  }
  // Code and tables are shown whole.
  const wholeUnit = (node) => node.parentElement.closest('pre, .table')
  if (next < words.length) {
    const { node, unit, end } = words[next - 1]
    cut((range) => (wholeUnit(node) ? range.setStartAfter(wholeUnit(node)) : range.setStart(node, end)))
    if (!wholeUnit(node)) unit.append(' …')
  }
  if (first > 0) {
    const { node, unit, start } = words[first]
    cut((range) => (wholeUnit(node) ? range.setEndBefore(wholeUnit(node)) : range.setEnd(node, start)))
    if (!wholeUnit(node)) unit.prepend('… ')
  }
  return part
}

/**
 * Returns the title of a passage's document and the headings above the passage. The headings usually begin with the title, which is not
 * repeated.
 */
function namesOf({ id, heading, metadata }) {
  const path = String(heading ?? '').split(' > ').filter(Boolean)
  const title = String(metadata?.title ?? '') || path[0] || String(id)
  return { title, path: path[0] === title ? path.slice(1) : path }
}

/** Returns an element with a text in Markdown, such as a heading. */
function inline(tag, text, properties) {
  const element = el(tag, properties)
  appendInline(element, text, new Set())
  return element
}

/** Returns the elements that show the text of a passage: an excerpt and a button that shows all, or the whole text. */
function passageText(text, title, stems, level) {
  const whole = el('div', { className: 'passage' })
  whole.append(markdown(text, stems, level))
  const part = excerpt(whole)
  if (!part) return [whole]
  const button = el('button', {
    type: 'button',
    className: 'quiet',
    'aria-expanded': 'false',
    'aria-label': `More of ${title}`,
    onclick() {
      const isLong = part.isConnected
      if (isLong) part.replaceWith(whole)
      else whole.replaceWith(part)
      button.textContent = isLong ? 'Less' : 'More'
      button.setAttribute('aria-expanded', String(isLong))
      button.setAttribute('aria-label', `${button.textContent} of ${title}`)
    },
  }, 'More')
  return [part, button]
}
