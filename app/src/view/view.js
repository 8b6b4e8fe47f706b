// The page of the knowledge base: results of a search, filters, and whole documents. The client that shows the page is the host. It
// passes the calls of tools on to the server. `passage.js` and the files before it show texts of documents, never as HTML.

const byId = (id) => document.getElementById(id)
const [form, query, filters, results, article] = ['search', 'query', 'filters', 'results', 'document'].map(byId)

// The host: JSON-RPC by postMessage.

/** The requests that the host has not answered, by their ids. */
const pending = new Map()
let ids = 0

const send = (message) => parent.postMessage({ jsonrpc: '2.0', ...message }, '*')

function request(method, params) {
  const id = ++ids
  send({ id, method, params })
  return new Promise((resolve, reject) => pending.set(id, { resolve, reject }))
}

/** The functions that receive notifications. */
const HEARD = new Map([
  ['ui/notifications/tool-input', ({ arguments: given = {} }) => {
    const filter = parsed(given.filter)
    const tags = tagsOf(filter)
    const queryText = String(given.queryText ?? '').replace(/\s+/g, ' ')
    query.value = queryText
    Object.assign(search, { queryText, topK: given.topK, given: tags ? undefined : filter, tags: new Set(tags) })
  }],
  ['ui/notifications/tool-result', (result) => showResult(result)],
  ['ui/notifications/tool-cancelled', () => showProblem('The search was cancelled.')],
  ['ui/notifications/host-context-changed', (context) => obey(context)],
])

addEventListener('message', ({ source, data }) => {
  if (source !== parent || data?.jsonrpc !== '2.0') return
  const { id, method, params = {}, result, error } = data
  if (method === undefined) {
    const { resolve, reject } = pending.get(id) ?? {}
    pending.delete(id)
    if (error) reject?.(new Error(error.message))
    else resolve?.(result)
  } else if (id === undefined) HEARD.get(method)?.(params)
  // The page keeps nothing, so it can be closed at any time.
  else if (method === 'ping' || method === 'ui/resource-teardown') send({ id, result: {} })
  else send({ id, error: { code: -32601, message: `The page does not have the method ${method}.` } })
})

/** Uses the theme and the style of the host. */
function obey({ theme, styles, toolInfo }) {
  const { style } = document.documentElement
  if (theme === 'light' || theme === 'dark') style.colorScheme = theme
  for (const [name, value] of Object.entries(styles?.variables ?? {})) {
    if (name.startsWith('--') && value) style.setProperty(name, value)
  }
  search.tool = toolInfo?.tool?.name ?? search.tool
}

async function start() {
  const { hostCapabilities = {}, hostContext = {} } = await request('ui/initialize', {
    protocolVersion: '2026-01-26', appInfo: { name: 'knowledge-base', version: '1' }, appCapabilities: {},
  })
  obey(hostContext)
  canCall = Boolean(hostCapabilities.serverTools)
  form.hidden = !canCall
  if (hostCapabilities.openLinks) {
    document.addEventListener('click', (event) => {
      const { href } = event.target.closest?.('a[href]') ?? {}
      if (!href) return
      event.preventDefault()
      request('ui/open-link', { url: href }).catch(() => announce('The link was not opened.'))
    })
  }
  send({ method: 'ui/notifications/initialized' })
  new ResizeObserver(() => {
    const { height } = document.documentElement.getBoundingClientRect()
    send({ method: 'ui/notifications/size-changed', params: { height: Math.ceil(height) } })
  }).observe(document.documentElement)
}

/** Whether the host lets the page call tools. */
let canCall = false

/** Calls a tool. Throws the text of a result that is an error. */
async function call(name, args) {
  const result = await request('tools/call', { name, arguments: args })
  if (result.isError) throw new Error(textOf(result))
  return result
}

const textOf = ({ content = [] }) => content.filter(({ type }) => type === 'text').map(({ text }) => text).join('\n\n')

// The search and its filters.

/** The search that is shown. `given` is the filter of the model, and `tags` and `document` are those of the user. */
const search = { tool: 'search-passages', queryText: '', topK: undefined, given: undefined, tags: new Set(), document: undefined }

/** The tags of the passages that the words of the search have found so far. */
const known = new Set()

/** The number of the latest request. The page ignores the answers to earlier ones. */
let latest = 0

const announce = (text) => { byId('news').textContent = text }

/** Returns a filter as an object. Models may also write it as text. */
function parsed(filter) {
  try {
    return typeof filter === 'string' ? JSON.parse(filter) : filter
  } catch {
    return undefined
  }
}

/** Returns the tags of a filter, if it consists of tags. */
function tagsOf(filter) {
  const tags = [filter?.tags?.$in ?? filter?.tags].flat()
  return Object.keys(filter ?? {}).length === 1 && tags.every((tag) => typeof tag === 'string') ? tags : undefined
}

function filterOf({ given, tags, document }) {
  const all = [given, tags.size && { tags: { $in: [...tags] } }, document && { slug: document.slug }].filter(Boolean)
  return all.length > 1 ? { $and: all } : all[0]
}

/** Searches again, after a change of the search. */
async function repeat(changes) {
  Object.assign(search, changes)
  const turn = ++latest
  results.ariaBusy = 'true'
  announce('Searching…')
  let show
  try {
    const { tool, queryText, topK } = search
    const filter = filterOf(search)
    const result = await call(tool, { queryText, ...(topK && { topK }), ...(filter && { filter }) })
    show = () => showResult(result)
  } catch (error) {
    show = () => showProblem(error.message)
  }
  if (turn !== latest) return
  show()
  announce(byId('title').textContent)
}

form.addEventListener('submit', (event) => {
  event.preventDefault()
  known.clear()
  repeat({ queryText: query.value, given: undefined, tags: new Set(), document: undefined })
})

/** Returns a button that switches a filter on or off. The button that replaces it afterwards gets the focus. */
function filterButton(text, isOn, changes) {
  const onclick = async () => {
    await repeat(changes)
    const again = [...filters.children].find(({ textContent }) => textContent === text)
    ;(again ?? byId('title')).focus()
  }
  return el('button', { type: 'button', className: 'filter', 'aria-pressed': String(isOn), onclick }, text)
}

function showFilters() {
  const { given, tags, document } = search
  const toggled = (tag) => ({ tags: new Set(tags.has(tag) ? [...tags].filter((each) => each !== tag) : [...tags, tag]) })
  filters.replaceChildren(...(canCall ? [
    given && filterButton(`Filter: ${JSON.stringify(given)}`, true, { given: undefined }),
    document && filterButton(`Only “${document.title}”`, true, { document: undefined }),
    ...[...new Set([...tags, ...known])].map((tag) => filterButton(tag, tags.has(tag), toggled(tag))),
  ].filter(Boolean) : []))
}

// The results.

/** Shows elements below a title, in place of the results. */
function show(title, ...content) {
  results.ariaBusy = 'false'
  results.replaceChildren(el('h1', { id: 'title', tabIndex: -1 }, title), ...content.filter(Boolean))
  results.hidden = filters.hidden = false
  article.hidden = true
  showFilters()
}

const showProblem = (text) => show('The search failed', el('p', { className: 'problem' }, text))

function showResult(result) {
  if (result.isError) return showProblem(textOf(result))
  const { sources, note } = result.structuredContent ?? {}
  // Some hosts keep the structured content from the page.
  if (!Array.isArray(sources)) return show('Passages', el('p', { className: 'plain' }, textOf(result)))
  for (const tag of sources.flatMap(({ metadata }) => metadata?.tags ?? [])) if (known.size < MOST_TAGS) known.add(String(tag))
  const documents = new Set(sources.map(({ uri, id }) => uri ?? id)).size
  const count = (number, one) => `${number} ${one}${number === 1 ? '' : 's'}`
  const stems = stemsOf(search.queryText)
  return show(
    sources.length ? `${count(sources.length, 'passage')} in ${count(documents, 'document')}` : 'No passage found',
    sources.length
      ? el('ol', { className: 'passages' }, ...sources.map((source) => passage(source, stems)))
      : el('p', {}, 'No passage matches. Try other words, or remove a filter.'),
    note && el('p', { className: 'path' }, note))
}

/** The most tags that are offered as filters. */
const MOST_TAGS = 20

function passage(source, stems) {
  const { title, path } = namesOf(source)
  const slug = source.metadata?.slug
  const [shown, more] = passageText(String(source.document), title, stems, 3)
  const button = (text, onclick) =>
    el('button', { type: 'button', className: 'quiet', 'aria-label': `${text}: ${title}`, onclick }, text)
  const open = button('Open document', () => openDocument({ slug, title, section: path.at(-1) }, open))
  const narrow = async () => {
    await repeat({ document: { slug, title } })
    byId('title').focus()
  }
  return el('li', {},
    inline('h2', title),
    path.length > 0 && inline('p', path.join(' › '), { className: 'path' }),
    shown,
    el('div', { className: 'row' }, more,
      ...(canCall && slug ? [open, !search.document && button('Only this document', narrow)] : [])))
}

// A document.

/** Shows a whole document. `opener` is the button that gets the focus when the user comes back. */
async function openDocument({ slug, title, section }, opener) {
  const turn = ++latest
  results.ariaBusy = 'false'
  announce('Opening the document…')
  const text = el('div', { className: 'passage' })
  try {
    text.append(markdown(withoutFrontMatter(textOf(await call('read-document', { slug }))), stemsOf(search.queryText), 2))
  } catch (error) {
    text.append(el('p', { className: 'problem' }, error.message))
  }
  if (turn !== latest) return
  const back = el('button', { type: 'button', className: 'quiet', onclick() {
    article.hidden = true
    results.hidden = filters.hidden = false
    opener.focus()
  } }, '← Back to the passages')
  const headings = [...text.querySelectorAll('h1, h2, h3, h4, h5, h6')]
  const name = inline('h1', title)
  // The first heading of a document is usually its title.
  if (headings[0]?.textContent === name.textContent) headings.shift().remove()
  article.replaceChildren(back, name, text)
  results.hidden = filters.hidden = true
  article.hidden = false
  announce('')
  const wanted = inline('span', section ?? '').textContent
  const place = headings.find(({ textContent }) => textContent === wanted) ?? name
  place.tabIndex = -1
  place.focus()
}

/** Front matter in YAML, which begins with a key, or in TOML. */
const FRONT_MATTER =
  /^\ufeff?(?:---[ \t]*\r?\n(?=[^:\s]+[ \t]*:)[^]*?\n(?:---|\.\.\.)|\+\+\+[ \t]*\r?\n(?=[^=\s]+[ \t]*=)[^]*?\n\+\+\+)[ \t]*(?:\r?\n|$)/

const withoutFrontMatter = (text) => text.replace(FRONT_MATTER, '')

start()
