// The search box for the tool that `Endpoint::page_search` names. A page without a search box does not contain this file.

const SEARCH_TOOL = document.body.dataset.search
const FAILED = 'The search failed'
const WORD = /([\p{L}\p{M}\p{N}]{2,})/gu

/** Removes frequent English endings from a word, so that "steep" also marks "steeping". */
const stem = (word) => word.toLowerCase().replace(/^(...+?)(ing|ed|es|e|s)$/, '$1')

/** Returns a paragraph with a text, in which the words of the query are marked. */
function marked(text, query) {
  const stems = new Set(query.match(WORD)?.map(stem))
  const paragraph = el('p', { className: 'passage' })
  for (const piece of text.split(WORD)) paragraph.append(stems.has(stem(piece)) ? el('mark', {}, piece) : piece)
  return paragraph
}

/** Returns a link to a document on the web, or a form that reads the document as a resource of this server. */
function documentLink(uri) {
  const address = link(uri)
  if (address.href) return [address]
  const [form, result] = formWithResult(`Read ${uri}`, [], () => ['resources/read', { uri }])
  form.lastChild.className = 'quiet'
  return [form, result]
}

function passage({ id, document: text, score, uri, heading, metadata }, query) {
  const { title } = metadata ?? {}
  // The path of headings usually begins with the title of the document.
  const path = `${heading} > `.startsWith(`${title} > `) ? heading : [title, heading].filter(Boolean).join(' > ')
  return el('li', {},
    el('h4', {}, path || id, ' ', el('small', {}, `score ${score.toFixed(2)}`)),
    marked(text, query),
    ...(uri ? documentLink(uri) : []))
}

/** Returns the title and the elements of the result of a search, and whether it is an error. */
function showPassages(result, query) {
  if (result.isError) return { ...showResult('tools/call', result), title: FAILED }
  const { sources, retrieval, note } = result.structuredContent ?? {}
  if (!Array.isArray(sources)) throw new RequestError(`The result of the tool ${SEARCH_TOOL} has no list of passages.`)
  const count = sources.length
  return {
    title: count ? `${count} ${count === 1 ? 'passage' : 'passages'} found` : 'No passage found',
    isError: false,
    parts: [
      count
        ? el('ol', { className: 'passages' }, ...sources.map((each) => passage(each, query)))
        : el('p', {}, 'No passage matches the search. Try other words.'),
      hint(retrieval && `retrieval: ${retrieval}`, note),
    ],
  }
}

function searchBox() {
  const input = el('input', { id: 'query', type: 'search', required: true, autocomplete: 'off', enterKeyHint: 'search' })
  const button = el('button', {}, 'Search')
  const result = el('div', { className: 'result', tabIndex: -1, role: 'group', 'aria-label': 'Passages', hidden: true })
  const search = async (event) => {
    event.preventDefault()
    if (button.ariaBusy === 'true') return
    button.ariaBusy = 'true'
    announce('Searching…')
    const query = input.value
    let outcome
    try {
      outcome = showPassages(await ask('tools/call', { name: SEARCH_TOOL }, { args: JSON.stringify({ queryText: query }) }), query)
    } catch (error) {
      outcome = { ...showError(error), title: FAILED }
    }
    button.ariaBusy = 'false'
    result.classList.toggle('error', outcome.isError)
    result.replaceChildren(el('p', { className: 'title' }, outcome.title), ...outcome.parts)
    result.hidden = false
    announce(outcome.title)
    result.focus()
  }
  return el('div', { className: 'search' },
    el('form', { role: 'search', autocomplete: 'off', onsubmit: search },
      el('h3', {}, el('label', { htmlFor: input.id }, 'Search')),
      el('div', { className: 'row' }, input, button)),
    result)
}

// `load` in page.js still waits for its first response, so the lists are not shown yet. If the caller may use the tool, the box is above
// the first tool.
LISTS.find(([, method]) => method === 'tools/list')[4] = (each, index, tools) => {
  const shown = new DocumentFragment()
  if (index === 0 && tools.some(({ name }) => name === SEARCH_TOOL)) shown.append(searchBox())
  shown.append(tool(each))
  return shown
}
