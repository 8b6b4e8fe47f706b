// The page: the tools, resources and prompts of the server with their forms, and the instructions for clients.

const byId = (id) => document.getElementById(id)
/** Announces a text to screen readers. */
const announce = (text) => { byId('news').textContent = text }
const URL_FOR_CLIENTS = KNOWN_URL || ENDPOINT

/** Returns a form that sends a request, and the element for its result. `act` returns the arguments of `ask` as an array. */
function formWithResult(label, fields, act) {
  const result = el('div', { className: 'result', tabIndex: -1, role: 'group', 'aria-label': 'Result', hidden: true })
  const button = el('button', {}, label)
  const setBusy = (isBusy) => {
    button.ariaBusy = String(isBusy)
    button.textContent = isBusy ? 'Waiting for the answer…' : label
  }
  const submit = async (event) => {
    event.preventDefault()
    if (button.ariaBusy === 'true') return
    setBusy(true)
    announce(button.textContent)
    let outcome
    try {
      const [method, params, more] = act()
      const begun = performance.now()
      outcome = showResult(method, await ask(method, params, more), Math.round(performance.now() - begun))
    } catch (error) {
      outcome = showError(error)
    }
    setBusy(false)
    result.classList.toggle('error', outcome.isError)
    result.replaceChildren(el('p', { className: 'title' }, outcome.title), ...outcome.parts)
    result.hidden = false
    announce(outcome.title)
    result.focus()
  }
  return [
    el('form', { autocomplete: 'off', noValidate: true, onsubmit: submit },
      ...fields.map((each) => each.element), button),
    result,
  ]
}

/** Returns the element for one tool, resource, resource template or prompt. */
const card = ({ title, name, description }, ...content) =>
  el('details', { className: 'card' },
    el('summary', {},
      el('h3', {}, title ?? name), ' ',
      title && title !== name && code(name),
      description && el('span', { className: 'says' }, description)),
    ...content)

/** The annotations of a tool, and the texts that the page shows for them. */
const HINTS = { readOnlyHint: 'read-only', destructiveHint: 'destructive', idempotentHint: 'idempotent', openWorldHint: 'open world' }

function tool({ name, title, description, inputSchema, outputSchema, annotations = {} }) {
  const { fields, json } = argumentsOf(inputSchema)
  return card({ name, title: title ?? annotations.title, description },
    hint(...Object.entries(HINTS).map(([key, words]) => annotations[key] && words)),
    ...formWithResult('Call the tool', fields, () => {
      const args = json()
      return ['tools/call', { name }, { args, headers: mirroredHeaders(inputSchema, JSON.parse(args)) }]
    }),
    folded('Input schema', pre(pretty(inputSchema))),
    outputSchema && folded('Output schema', pre(pretty(outputSchema))))
}

function resourceOrTemplate({ name, title = name, description, mimeType, uriTemplate, uri = uriTemplate }) {
  const address = field('uri', { type: 'string', description: 'The URI template. Replace each expression in braces by a value.' }, true)
  address.control.value = uri
  return card({ name: uri, title, description },
    hint(mimeType),
    ...formWithResult('Read', uriTemplate ? [address] : [], () => ['resources/read', { uri: address.control.value }]))
}

function prompt({ name, title, description, arguments: given = [] }) {
  const { fields, json } = argumentsOf({
    properties: Object.fromEntries(given.map((each) => [each.name, { type: 'string', description: each.description ?? each.title }])),
    required: given.filter((each) => each.required).map((each) => each.name),
    additionalProperties: false,
  })
  return card({ name, title, description }, ...formWithResult('Get the prompt', fields, () => ['prompts/get', { name }, { args: json() }]))
}

/** The lists of a server: capability, method, member of the result, heading, and the function that shows an item. */
const LISTS = [
  ['tools', 'tools/list', 'tools', 'Tools', tool],
  ['resources', 'resources/list', 'resources', 'Resources', resourceOrTemplate],
  ['resources', 'resources/templates/list', 'resourceTemplates', 'Resource templates', resourceOrTemplate],
  ['prompts', 'prompts/list', 'prompts', 'Prompts', prompt],
]

async function section([, method, member, heading, show]) {
  let items = [], error
  try {
    items = await listAll(method, member)
  } catch (cause) {
    error = cause
  }
  const element = el('section', {}, el('h2', {}, heading, ' ', el('small', {}, error ? '' : String(items.length))),
    ...(error ? [el('p', { className: 'result error' }, error.message)] : items.map(show)))
  // Many servers have only resources or only templates, so the page does not show an empty list of either kind.
  return { element, isEmpty: !error && !items.length && heading.startsWith('Resource'), count: items.length, heading }
}

/** The number of the latest load. The page ignores the answers to earlier loads. */
let latest = 0
let letsSignIn = false

function status(text, isError = false) {
  byId('status').textContent = text
  byId('status').className = isError ? 'result error' : ''
}

async function load() {
  const turn = ++latest
  const [access, why, offer] = ['access', 'why', 'offer'].map(byId)
  status('Loading the tools, resources and prompts…')
  try {
    const { capabilities, instructions } = await ask('server/discover')
    const sections = await Promise.all(LISTS.filter(([capability]) => capabilities[capability]).map(section))
    if (turn !== latest) return
    status('')
    why.textContent = 'The page uses this token. Enter another token to replace it.'
    connect(!access.hidden, letsSignIn)
    offer.replaceChildren(
      ...(instructions ? [folded('Instructions for models', el('p', { className: 'says' }, instructions))] : []),
      ...sections.filter(({ isEmpty }) => !isEmpty).map(({ element }) => element))
    announce(sections.map(({ count, heading }) => `${heading}: ${count}`).join(', '))
    if (token) offer.focus()
  } catch (error) {
    if (turn !== latest) return
    offer.replaceChildren()
    letsSignIn ||= Boolean(error.letsSignIn)
    connect(true, letsSignIn)
    if (error.status === 401) access.hidden = false
    if (error.status === 401 && !token) {
      why.textContent = 'This server requires an access token. With your token, the page shows the tools, resources and prompts ' +
        'that you may use, and you can try them.'
      status('')
    } else status(error.message, true)
    if (token) {
      why.textContent = 'The request with this token failed.'
      byId('token').focus()
    }
  }
}

byId('access').addEventListener('submit', (event) => {
  event.preventDefault()
  token = byId('token').value.trim()
  load()
})
byId('url').textContent = URL_FOR_CLIENTS
load()
