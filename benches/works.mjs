// What the subjects are asked to do, and what a right answer to it is.

import { readFileSync } from 'node:fs'
import { megabyte, named, prose, RESOURCE } from './content.mjs'

const ELEVEN = JSON.parse(readFileSync(new URL('tools.json', import.meta.url), 'utf8'))

/**
 * @typedef {object} Work
 * @property {string} name as it is called in target/bench.json
 * @property {number} tools how many the server has
 * @property {string} body
 * @property {Record<string, string>} headers
 * @property {(message: object) => string | undefined} wrong what is wrong with an answer, or nothing
 */

/** All subjects speak this revision; the floor does not look. */
const LEGACY = '2025-06-18'
const MODERN = '2026-07-28'

function work(name, method, params, wrong, { tools = 11, revision = LEGACY } = {}) {
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
      if (message?.jsonrpc !== '2.0' || message.id !== 1) return `not an answer to this request: ${short(message)}`
      return wrong(message) ? undefined : short(message)
    },
  }
}

const call = (name, tool, args, wrong) => work(name, 'tools/call', { name: tool, arguments: args }, wrong)
const says = (text) => ({ result }) =>
  !result?.isError && result?.content?.length === 1 && result.content[0].type === 'text' && result.content[0].text === text
// 2025-06-18 leaves it open whether it is an error of the tool or of the protocol.
const refuses = ({ result, error }) => (result?.isError === true && result.content?.[0]?.text !== '') || error?.code === -32602
// In whatever order: a registry may have none.
const lists = (count) => ({ result }) => {
  const published = new Map(result?.tools?.map((tool) => [tool.name, tool]))
  return published.size === count && Array.from({ length: count }, (_, index) => {
    const { name, description, inputSchema } = ELEVEN[index % ELEVEN.length]
    const tool = published.get(named(name, index))
    return tool?.description === description && same(tool.inputSchema, inputSchema)
  }).every(Boolean)
}

/** @type {Work[]} */
export const WORKS = [
  call('tools/call small', 'add', { a: 2, b: 3 }, says('5')),
  call('tools/call 100 KB', 'echo', { text: prose(100_000) }, says(prose(100_000))),
  call('tools/call invalid', 'add', { a: 2, b: 'three' }, refuses),
  work('tools/list 11', 'tools/list', {}, lists(11)),
  work('tools/list 200', 'tools/list', {}, lists(200), { tools: 200 }),
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

/**
 * Whether a published schema asks for what `expected` asks for. Where it has been generated from a type it says more besides: a
 * title, a dialect, the width of an integer, that nothing else may come along.
 */
export function same(published, expected) {
  return JSON.stringify(plain(published)) === JSON.stringify(plain(expected))
}

const BESIDES = new Set(['$schema', 'additionalProperties', 'format', 'title'])

function plain(value, isSchema = true) {
  if (Array.isArray(value)) return value.map((one) => plain(one))
  if (typeof value !== 'object' || value === null) return value
  const names = Object.keys(value).filter((name) => !(isSchema && BESIDES.has(name))).sort()
  // Below `properties` the names are not keywords.
  return Object.fromEntries(names.map((name) => [name, plain(value[name], !(isSchema && name === 'properties'))]))
}

const short = (message) => {
  const text = JSON.stringify(message) ?? 'no JSON'
  return text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : text
}
