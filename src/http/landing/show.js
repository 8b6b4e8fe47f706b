// Shows what came back. Texts become text nodes, so that nothing a server says is ever markup.

/** An element. Names with a hyphen, and `role`, are attributes; all others are properties. */
function el(tag, properties = {}, ...children) {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(properties)) {
    if (name.includes('-') || name === 'role') element.setAttribute(name, value)
    else element[name] = value
  }
  element.append(...children.filter(Boolean))
  return element
}

const pretty = (value) => JSON.stringify(value, null, 2)
const code = (text) => el('code', {}, text)
const pre = (text) => el('pre', {}, text)
const hint = (...words) => el('p', { className: 'hint' }, words.filter(Boolean).join(' · '))
const folded = (title, ...content) => el('details', { className: 'folded' }, el('summary', {}, title), ...content)

/** Only what leads to the web is a link. */
const link = (uri) => (/^https?:\/\//i.test(uri) ? el('a', { href: uri, rel: 'noreferrer' }, uri) : code(uri))

/** The bytes that base64 stands for. */
const size = (base64) => `${Math.floor(base64.length * 0.75).toLocaleString('en')} bytes`

/** Base64 that is shown as a picture at most. */
const LARGEST_PICTURE = 4_000_000

function media({ mimeType = 'unknown type', data }) {
  const isPicture = /^image\/[\w.+-]+$/.test(mimeType) && data.length <= LARGEST_PICTURE
  const words = `${mimeType}, ${size(data)}`
  return isPicture ? el('img', { src: `data:${mimeType};base64,${data}`, alt: `Picture: ${words}` }) : el('p', {}, words)
}

const resource = ({ uri, mimeType, text, blob }) =>
  el('figure', {}, el('figcaption', {}, link(uri)), text === undefined ? media({ mimeType, data: blob }) : pre(text))

/** Each kind of content block. */
const BLOCKS = {
  text: (block) => pre(block.text),
  image: media,
  audio: media,
  resource: (block) => resource(block.resource),
  resource_link: (block) => el('p', {}, 'Resource: ', block.title ?? block.name, ' ', link(block.uri)),
}

const block = (content) => (BLOCKS[content.type] ?? ((other) => pre(pretty(other))))(content)

/** Structured content often comes a second time as text, for older clients. */
function isTwin(content, structured) {
  try {
    return content.type === 'text' && JSON.stringify(JSON.parse(content.text)) === JSON.stringify(structured)
  } catch {
    return false
  }
}

/** A result of each method that a button asks for. */
const RESULTS = {
  'tools/call': ({ content = [], structuredContent }) => [
    ...content.filter((each) => structuredContent === undefined || !isTwin(each, structuredContent)).map(block),
    structuredContent !== undefined && pre(pretty(structuredContent)),
  ],
  'resources/read': ({ contents }) => contents.map(resource),
  'prompts/get': ({ description, messages }) => [
    description && el('p', {}, description),
    ...messages.map(({ role, content }) => el('figure', {}, el('figcaption', {}, role), block(content))),
  ],
}

/** The parts of a result: what it is called, whether it is an error, and what it holds. */
function shown(method, result, milliseconds) {
  const parts = RESULTS[method](result).filter(Boolean)
  return {
    title: result.isError ? 'The tool reports an error' : `Result, after ${milliseconds} ms`,
    isError: result.isError === true,
    parts: [
      ...(parts.length ? parts : [el('p', {}, 'Nothing, and no error.')]),
      folded('The whole result, as it came', pre(pretty(result))),
    ],
  }
}

/** The same of an error. */
function shownError(error) {
  return {
    title: 'No result',
    isError: true,
    parts: [el('p', {}, error.message), hint(error.status && `HTTP ${error.status}`, error.code && `code ${error.code}`)],
  }
}
