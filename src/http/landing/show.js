// Shows results and errors. Texts become text nodes, so the browser never interprets text from a server as markup.

const pretty = (value) => JSON.stringify(value, null, 2)
const code = (text) => el('code', {}, text)
const pre = (text) => el('pre', {}, text)
const hint = (...words) => el('p', { className: 'hint' }, words.filter(Boolean).join(' · '))
const folded = (title, ...content) => el('details', { className: 'folded' }, el('summary', {}, title), ...content)

/** Returns a link to an `http` or `https` URL. Returns any other URI as text. */
const link = (uri) => (/^https?:\/\//i.test(uri) ? el('a', { href: uri, rel: 'noreferrer' }, uri) : code(uri))

/** Returns the approximate number of bytes in a base64 text. */
const size = (base64) => `${Math.floor(base64.length * 0.75).toLocaleString('en')} bytes`

/** The maximum length of an image in base64. The page does not show larger images. */
const MAX_IMAGE_LENGTH = 4_000_000

function media({ mimeType = 'unknown type', data }) {
  const isImage = /^image\/[\w.+-]+$/.test(mimeType) && data.length <= MAX_IMAGE_LENGTH
  const words = `${mimeType}, ${size(data)}`
  return isImage ? el('img', { src: `data:${mimeType};base64,${data}`, alt: `Image: ${words}` }) : el('p', {}, words)
}

const resource = ({ uri, mimeType, text, blob }) =>
  el('figure', {}, el('figcaption', {}, link(uri)), text === undefined ? media({ mimeType, data: blob }) : pre(text))

/** The function that shows each type of content block. */
const BLOCKS = {
  text: (block) => pre(block.text),
  image: media,
  audio: media,
  resource: (block) => resource(block.resource),
  resource_link: (block) => el('p', {}, 'Resource: ', block.title ?? block.name, ' ', link(block.uri)),
}

const block = (content) => (BLOCKS[content.type] ?? ((other) => pre(pretty(other))))(content)

/** Returns whether a content block repeats the structured content as text. Servers often do this for older clients. */
function repeatsStructured(content, structured) {
  try {
    return content.type === 'text' && JSON.stringify(JSON.parse(content.text)) === JSON.stringify(structured)
  } catch {
    return false
  }
}

/** The function that shows the result of each method. */
const RESULTS = {
  'tools/call': ({ content = [], structuredContent }) => [
    ...content.filter((each) => structuredContent === undefined || !repeatsStructured(each, structuredContent)).map(block),
    structuredContent !== undefined && pre(pretty(structuredContent)),
  ],
  'resources/read': ({ contents }) => contents.map(resource),
  'prompts/get': ({ description, messages }) => [
    description && el('p', {}, description),
    ...messages.map(({ role, content }) => el('figure', {}, el('figcaption', {}, role), block(content))),
  ],
}

/** Returns the title and the elements of a result, and whether it is an error. */
function showResult(method, result, milliseconds) {
  const parts = RESULTS[method](result).filter(Boolean)
  return {
    title: result.isError ? 'The tool reports an error' : `Result, after ${milliseconds} ms`,
    isError: result.isError === true,
    parts: [
      ...(parts.length ? parts : [el('p', {}, 'The result is empty.')]),
      folded('Complete result as JSON', pre(pretty(result))),
    ],
  }
}

/** Returns the title and the elements of an error. */
function showError(error) {
  return {
    title: 'No result',
    isError: true,
    parts: [el('p', {}, error.message), hint(error.status && `HTTP ${error.status}`, error.code && `code ${error.code}`)],
  }
}
