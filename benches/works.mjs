// The workloads: requests, and checks of their answers.

import { readFileSync } from 'node:fs'
import { megabyte, named, prose, RESOURCE } from './content.mjs'

const ELEVEN = JSON.parse(readFileSync(new URL('tools.json', import.meta.url), 'utf8'))

/**
 * @typedef {object} Work
 * @property {string} name its name in target/bench.json
 * @property {number} tools the number of tools of the server
 * @property {string} body
 * @property {Record<string, string>} headers
 * @property {number} [connections] the number of connections, if it is not that of the other workloads
 * @property {(message: object) => string | undefined} wrong returns the problem of a wrong answer, or `undefined` for a right one
 */

/** All subjects support this revision. The floor ignores the revision. */
const LEGACY = '2025-06-18'
export const MODERN = '2026-07-28'

function work(name, method, params, isRight, { tools = 11, revision = LEGACY } = {}) {
  return {
    name,
    tools,
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': revision,
      ...revision === MODERN && { 'mcp-method': method },
    },
    wrong: (message) => {
      if (message?.jsonrpc !== '2.0' || message.id !== 1) return `this is not an answer to the request: ${short(message)}`
      return isRight(message) ? undefined : short(message)
    },
  }
}

const call = (name, tool, args, isRight) => work(name, 'tools/call', { name: tool, arguments: args }, isRight)
const isText = (text) => ({ result }) =>
  !result?.isError && result?.content?.length === 1 && result.content[0].type === 'text' && result.content[0].text === text
// Revision 2025-06-18 permits a tool error and a protocol error.
const isRejection = ({ result, error }) => (result?.isError === true && result.content?.[0]?.text !== '') || error?.code === -32602
// The order does not matter, because the registry of a peer may be unordered.
const isListOf = (count) => ({ result }) => {
  const published = new Map(result?.tools?.map((tool) => [tool.name, tool]))
  return published.size === count && Array.from({ length: count }, (_, index) => {
    const { name, description, inputSchema } = ELEVEN[index % ELEVEN.length]
    const tool = published.get(named(name, index))
    return tool?.description === description && same(tool.inputSchema, inputSchema)
  }).every(Boolean)
}

/** @type {Work[]} */
export const WORKS = [
  call('tools/call small', 'add', { a: 2, b: 3 }, isText('5')),
  call('tools/call 100 KB', 'echo', { text: prose(100_000) }, isText(prose(100_000))),
  call('tools/call invalid', 'add', { a: 2, b: 'three' }, isRejection),
  work('tools/list 11', 'tools/list', {}, isListOf(11)),
  work('tools/list 200', 'tools/list', {}, isListOf(200), { tools: 200 }),
  work('resources/read 1 MB', 'resources/read', { uri: RESOURCE }, ({ result }) =>
    result?.contents?.length === 1 && result.contents[0].uri === RESOURCE && result.contents[0].text === megabyte()),
  work('initialize', 'initialize',
    { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: 'bench', version: '1.0.0' } },
    ({ result }) => result?.protocolVersion === LEGACY && result.serverInfo?.name === 'bench' && result.capabilities?.tools !== undefined),
  work('server/discover', 'server/discover', {
    _meta: {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
      'io.modelcontextprotocol/clientCapabilities': {},
    },
  }, ({ result }) => result?.supportedVersions?.includes(MODERN) && result.capabilities?.tools !== undefined, { revision: MODERN }),
]

export const SMALL = WORKS[0]

/** The workloads of benches/client.mjs and benches/gateway.mjs. The official client makes as many calls at the same time. */
export const [RELAY, WITHOUT, THROUGH] = ['relay', 'add', 'peer0_add'].map((tool) =>
  call(`client, ${tool}`, tool, { a: 2, b: 3 }, isText('5')))

/** A list of the tools of one server, and of 20 servers with as many tools. A list takes long, so there is one at a time. */
export const [LIST_OF_ONE, LIST_OF_MANY] = [50, 1000].map((items) => ({
  ...work(`gateway, ${items} tools`, 'tools/list', {}, ({ result }) =>
    result?.tools?.filter(({ name }) => /^peer\d+_tool-\d+$/.test(name)).length === items),
  items,
  connections: 1,
}))

/**
 * Returns whether a published schema has the same constraints as `expected`. A schema that is generated from a type may have more members:
 * a title, a dialect, the format of an integer, and `additionalProperties`.
 */
export function same(published, expected) {
  return JSON.stringify(plain(published)) === JSON.stringify(plain(expected))
}

const IGNORED = new Set(['$schema', 'additionalProperties', 'format', 'title'])

function plain(value, isSchema = true) {
  if (Array.isArray(value)) return value.map((one) => plain(one))
  if (typeof value !== 'object' || value === null) return value
  const names = Object.keys(value).filter((name) => !(isSchema && IGNORED.has(name))).sort()
  // The names in `properties` are not keywords.
  return Object.fromEntries(names.map((name) => [name, plain(value[name], !(isSchema && name === 'properties'))]))
}

const short = (message) => {
  const text = JSON.stringify(message) ?? 'no JSON'
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : text
}
