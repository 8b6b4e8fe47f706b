// The search box for the tool that `Endpoint::page_search` names. A page without a search box does not contain this file, nor the files
// that show passages.

const SEARCH_TOOL = document.body.dataset.search
const FAILED = 'The search failed'

/** Returns a link to a document on the web, or a form that reads the document as a resource of this server. */
function documentLink(uri) {
  const address = link(uri)
  if (address.href) return [address]
  const [form, result] = formWithResult(`Read ${uri}`, [], () => ['resources/read', { uri }])
  form.lastChild.className = 'quiet'
  return [form, result]
}

function passage(source, stems) {
  const { document: text, score, uri } = source
  const { title, path } = namesOf(source)
  const [shown, more] = passageText(text, title, stems, 5)
  const [read, result] = uri ? documentLink(uri) : []
  return el('li', {},
    inline('h4', title),
    inline('p', [path.join(' › '), `score ${score.toFixed(2)}`].filter(Boolean).join(' · '), { className: 'hint' }),
    shown,
    (more || read) && el('div', { className: 'row' }, more, read),
    result)
}

/** Returns the title and the elements of the result of a search, and whether it is an error. */
function showPassages(result, query) {
  if (result.isError) return { ...showResult('tools/call', result), title: FAILED }
  const { sources, retrieval, note } = result.structuredContent ?? {}
  if (!Array.isArray(sources)) throw new RequestError(`The result of the tool ${SEARCH_TOOL} has no list of passages.`)
  const count = sources.length
  const stems = stemsOf(query)
  return {
    title: count ? `${count} ${count === 1 ? 'passage' : 'passages'} found` : 'No passage found',
    isError: false,
    parts: [
      count
        ? el('ol', { className: 'passages' }, ...sources.map((each) => passage(each, stems)))
        : el('p', {}, 'No passage matches the search. Try other words.'),
      hint(retrieval && `retrieval: ${retrieval}`, note),
    ],
  }
}

function searchBox() {
  const input = el('input', { id: 'query', type: 'search', required: true, autocomplete: 'off', enterKeyHint: 'search' })
  const button = el('button', {}, 'Search')
  const result = el('div', { className: 'result', role: 'group', 'aria-label': 'Passages', hidden: true })
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
    // A screen reader reads the title, because it gets the focus. The list follows it.
    const title = el('p', { className: 'title', tabIndex: -1 }, outcome.title)
    result.replaceChildren(title, ...outcome.parts)
    result.hidden = false
    announce('')
    title.focus()
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
