// The differences between the answers of a server and those of a gateway in front of it. Each has a sentence in docs/gateway.md, and there are
// no others.

import { createHash } from 'node:crypto'

/**
 * @typedef {object} Expected
 * @property {string} at the places, as a path: `*` is any segment, and `**` any number of segments
 * @property {(values: { direct: unknown, gated: unknown, mount: string }) => boolean} is whether this is the difference. `undefined` is an absent value
 * @property {string} docs the sentence of docs/gateway.md
 */

const isAdded = ({ direct }) => direct === undefined
const isMissing = ({ gated }) => gated === undefined
const addedAs = (value) => ({ direct, gated }) => direct === undefined && gated === value

const NAME = 'The name of a mounted tool or prompt is the name of its mount, `_`, and its name at the server.'
const CUT = 'A longer name is cut, and ends with `_` and 8 digits of a hash.'
const URI = 'The URI of a mounted resource is the name of the mount, `+`, and its URI at the server'
const LINKS = 'Results and prompts are changed only where they link to a resource or embed one'
const PROTOCOL = 'The gateway writes the members itself that the protocol has for every result'
const DEFAULTS = 'Members that are absent and have a default may be written with it'
const EMPTY = 'An empty description may be absent.'
const HINTS = 'a tool has the annotations of a destructive tool that uses other systems'
const ICONS = 'An icon stays if its URL begins with `https://`, or has a PNG, JPEG or WebP image.'
const UNKNOWN = 'Members that the specification does not have are not passed on for items of lists'
const STRICT = 'Values that the official clients reject are left out'
const META = 'Members of `_meta` that begin with `edge-mcp/` or `io.modelcontextprotocol/` are those of the gateway'
const FLOAT = 'Numbers in annotations and in the `_meta` of items and results are 64-bit floats'
const CONVERTED = 'Clients of older revisions get content and titles in the forms of their revision.'
const ERRORS = 'If a call fails, the result has `isError`, and a sentence with the name of the server and the problem.'
const SENTENCE = 'A read or a prompt that fails is a JSON-RPC error with such a sentence.'
const OF_LIST = 'The `_meta` of a list is that of the gateway.'
const UNENFORCED = '**Output schemas** are not always published'

const hasPrefix = (between) => ({ direct, gated, mount }) => gated === `${mount}${between}${direct}`
const hashOf = (mount, name) => createHash('sha256').update(`${mount}\0${name}`).digest('hex').slice(0, 8)
const isHashed = ({ direct, gated, mount }) => gated?.startsWith(`${mount}_`) && gated.endsWith(`_${hashOf(mount, direct)}`)
const isSameNumber = ({ direct, gated }) => [direct, gated].every((value) => String(value).startsWith('\0')) &&
  Number(direct.slice(1)) === Number(gated.slice(1))

/** Older revisions have no such block. */
const isConverted = ({ direct, older }) => older && ['audio', 'resource_link'].includes(direct?.type)
/** The call failed, or the server asked a question that the gateway cannot pass on. */
const isFailure = ({ direct, gated, mount }) => (direct?.error !== undefined || direct?.result?.isError === true) &&
  gated?.result?.isError === true && gated.result.content[0].text.startsWith(`The server \`${mount}\` `)

/** @type {Expected[]} */
export const EXPECTED = [
  { at: '{tools,prompts}/*/name', is: hasPrefix('_'), docs: NAME },
  { at: '{tools,prompts}/*/name', is: isHashed, docs: CUT },
  { at: 'resources/*/uri', is: hasPrefix('+'), docs: URI },
  { at: 'templates/*/uriTemplate', is: hasPrefix('+'), docs: URI },
  { at: 'reads/*/result/contents/*/uri', is: hasPrefix('+'), docs: URI },
  { at: '{calls,gets}/*/result/**/uri', is: hasPrefix('+'), docs: LINKS },
  { at: '*/*/result/{resultType,ttlMs,cacheScope}', is: () => true, docs: PROTOCOL },
  { at: '*/*/result/_meta', is: ({ direct, gated }) => direct === undefined && Object.keys(gated).every(isOfGateway), docs: META },
  { at: '*/*/result/_meta/*', is: ({ key }) => isOfGateway(key), docs: META },
  { at: 'lists/*/{resultType,ttlMs,cacheScope,nextCursor}', is: () => true, docs: PROTOCOL },
  { at: 'lists/*/_meta', is: () => true, docs: OF_LIST },
  { at: 'calls/*/result/isError', is: addedAs(false), docs: DEFAULTS },
  { at: 'tools/*/description', is: addedAs(''), docs: DEFAULTS },
  { at: '*/*/description', is: ({ direct, gated }) => direct === '' && gated === undefined, docs: EMPTY },
  { at: 'prompts/*/arguments', is: ({ direct, gated }) => direct === undefined && gated.length === 0, docs: DEFAULTS },
  { at: 'prompts/*/arguments/*/required', is: addedAs(false), docs: DEFAULTS },
  { at: 'completions/*/result/completion/hasMore', is: addedAs(false), docs: DEFAULTS },
  { at: 'tools/*/annotations', is: isAdded, docs: HINTS },
  { at: 'tools/*/annotations/{readOnlyHint,destructiveHint,idempotentHint,openWorldHint}', is: () => true, docs: HINTS },
  { at: '*/*/icons', is: isMissing, docs: ICONS },
  { at: '*/*/icons/*', is: ({ direct }) => !/^(https:\/\/|data:image\/(png|jpeg|webp))/.test(direct?.src), docs: ICONS },
  { at: 'tools/*/execution', is: isMissing, docs: UNKNOWN },
  { at: 'tools/*/outputSchema', is: isMissing, docs: UNENFORCED },
  { at: '**/annotations/**', is: isSameNumber, docs: FLOAT },
  { at: '**/_meta/**', is: isSameNumber, docs: FLOAT },
  { at: '**/annotations/{audience,priority,lastModified}', is: isMissing, docs: STRICT },
  { at: 'tools/*/annotations/title', is: ({ direct, older }) => direct === undefined && older, docs: CONVERTED },
  { at: 'calls/*/result/content/*', is: isConverted, docs: CONVERTED },
  { at: 'gets/*/result/messages/*/content', is: isConverted, docs: CONVERTED },
  { at: 'calls/*', is: isFailure, docs: ERRORS },
  { at: '{reads,gets,completions}/*/error/{code,message,data}', is: () => true, docs: SENTENCE },
]

function isOfGateway(key) {
  return key.startsWith('io.modelcontextprotocol/') || key.startsWith('edge-mcp/')
}

/** Returns the regular expression of a path. `{a,b}` is one of several texts. */
const pattern = (at) => new RegExp(`^${at.split('/').map((part) =>
  part === '**' ? '.+' : part === '*' ? '[^/]+' : part.replace(/\{(.*)\}/, (_, all) => `(?:${all.replaceAll(',', '|')})`)).join('/')}$`)
const COMPILED = EXPECTED.map((expected) => ({ ...expected, pattern: pattern(expected.at) }))

/** Returns the expected difference that a difference is, or `undefined`. */
export const expectedOf = (difference) =>
  COMPILED.find((expected) => expected.pattern.test(difference.path) && expected.is(difference))
