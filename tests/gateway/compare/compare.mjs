// Compares the answers of a server with and without a gateway in front of it, member by member, with the digits of numbers: tools, calls,
// resources, reads, templates, prompts and completions, in each revision.
//
//   node tests/gateway/compare/compare.mjs SERVER_URL GATEWAY_URL MOUNT [--token TOKEN] [--skip TOOL,…]
//
// MOUNT is the name by which the gateway mounts the server. It prints the differences that docs/gateway.md does not have, and how often each of the
// others occurs. A call, a read or a prompt whose two answers without the gateway differ is not compared, and is named.

import { pathToFileURL } from 'node:url'

import { expectedOf } from './differences.mjs'
import { connect, shown } from './peer.mjs'

export const REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']

/** The lists: the method, the member of the result, and the member that identifies an item. */
const LISTS = {
  tools: ['tools/list', 'tools', 'name'],
  resources: ['resources/list', 'resources', 'uri'],
  templates: ['resources/templates/list', 'resourceTemplates', 'uriTemplate'],
  prompts: ['prompts/list', 'prompts', 'name'],
}

/** Reads all pages of a list, and the other members of its last page. A server without such items has none. */
async function listOf(peer, [method, member]) {
  const items = []
  let rest = {}
  let cursor
  do {
    const { result } = await peer.request(method, cursor ? { cursor } : {})
    if (!result) break
    const { [member]: page, nextCursor, ...others } = result
    items.push(...page)
    ;[cursor, rest] = [nextCursor, others]
  } while (cursor)
  return { items, rest }
}

/** Returns a value that fits a schema, as far as it is simple. */
function sampleOf(schema = {}) {
  const [choice] = schema.enum ?? (schema.const === undefined ? [] : [schema.const])
  if (choice !== undefined) return choice
  if (schema.default !== undefined) return schema.default
  const inner = (schema.anyOf ?? schema.oneOf)?.[0]
  if (inner) return sampleOf(inner)
  switch ([schema.type].flat()[0]) {
    case 'number': case 'integer': return Number(String(schema.minimum ?? '1').replace('\0', ''))
    case 'boolean': return true
    case 'array': return []
    case 'object': return argumentsOf(schema)
    default: return 'a'
  }
}
const argumentsOf = (schema) =>
  Object.fromEntries((schema.required ?? []).map((name) => [name, sampleOf(schema.properties?.[name])]))

/** Returns the headers that repeat arguments. */
const headersOf = ({ properties = {} }, all) => Object.fromEntries(Object.entries(properties)
  .filter(([name, property]) => property?.['x-mcp-header'] && all[name] !== undefined)
  .map(([name, property]) => [`mcp-param-${property['x-mcp-header']}`, String(all[name])]))

/** Returns the names of the variables of a template of any level. */
const variablesOf = (template) =>
  [...template.matchAll(/\{[+#./;?&]?([^}]*)\}/g)].flatMap(([, names]) => names.split(',')).map((name) => name.replace(/[*:].*/, ''))

/** Returns the requests to compare, for the items of both sides: a name, the method, and the parameters for each side. */
function requestsOf({ tools, resources, templates, prompts }, skip) {
  const both = (make, [direct, gated]) => [make(direct), make(gated)]
  const complete = (ref, name) => ({ ref, argument: { name, value: 'a' } })
  return [
    ...tools.filter(([tool]) => !skip.includes(tool.name)).map((pair) => ['calls', pair[0].name, 'tools/call',
      both((tool) => ({ name: tool.name, arguments: argumentsOf(pair[0].inputSchema) }), pair)]),
    ...resources.map((pair) => ['reads', pair[0].uri, 'resources/read', both(({ uri }) => ({ uri }), pair)]),
    ...prompts.map((pair) => ['gets', pair[0].name, 'prompts/get', both(({ name, arguments: all = [] }) =>
      ({ name, arguments: Object.fromEntries(all.map((argument) => [argument.name, 'a'])) }), pair)]),
    ...prompts.flatMap((pair) => (pair[0].arguments ?? []).map((argument) => ['completions', `${pair[0].name} ${argument.name}`,
      'completion/complete', both(({ name }) => complete({ type: 'ref/prompt', name }, argument.name), pair)])),
    ...templates.flatMap((pair) => variablesOf(pair[0].uriTemplate).map((name) => ['completions', `${pair[0].uriTemplate} ${name}`,
      'completion/complete', both(({ uriTemplate: uri }) => complete({ type: 'ref/resource', uri }, name), pair)])),
  ]
}

/** Adds the differences of two values to `all`. A list is compared item by item. */
function differ(path, direct, gated, all, context) {
  if (shown(direct) === shown(gated)) return
  const difference = { path, direct, gated, key: path.split('/').at(-1).replaceAll('~1', '/'), ...context }
  const areObjects = [direct, gated].every((value) => value !== null && typeof value === 'object') &&
    Array.isArray(direct) === Array.isArray(gated)
  const expected = expectedOf(difference)
  if (!areObjects || expected) return void all.push({ ...difference, expected })
  for (const key of new Set([...Object.keys(direct), ...Object.keys(gated)])) {
    differ(`${path}/${key.replaceAll('/', '~1')}`, direct[key], gated[key], all, context)
  }
}

/**
 * Compares the answers of a server with those of a gateway.
 *
 * @param {{ server: string, gateway: string, mount: string, token?: string, revision: string, skip?: string[] }} options
 * @returns {Promise<{ speaks: string, compared: number, unstable: string[], differences: object[] }>}
 */
export async function compare({ server, gateway, mount, token, revision, skip = [] }) {
  const [direct, gated] = await Promise.all([connect(server, { revision }), connect(gateway, { revision, token })])
  // In an older revision than that of the server, the gateway converts content.
  const older = revision < '2025-06-18'
  const differences = []
  const unstable = []
  const pairs = {}
  let compared = 0
  const look = (path, one, two) => {
    compared += 1
    differ(path, one, two, differences, { mount, older })
  }
  try {
    for (const [kind, names] of Object.entries(LISTS)) {
      const [own, all] = await Promise.all([listOf(direct, names), listOf(gated, names)])
      const key = names[2]
      const isOfMount = (item) => item[key].startsWith(`${mount}${key === 'name' ? '_' : '+'}`) || item[key].startsWith(`ui://${mount}/`)
      const shownItems = all.items.filter(isOfMount)
      look(`lists/${kind}`, own.rest, all.rest)
      // The gateway keeps the order of the server.
      const rest = [...shownItems]
      pairs[kind] = own.items.flatMap((item) => {
        const at = rest.findIndex((other) => expectedOf({ path: `${kind}/0/${key}`, direct: item[key], gated: other[key], mount }))
        const [found] = at < 0 ? [] : rest.splice(at, 1)
        look(`${kind}/${item[key].replaceAll('/', '~1')}`, item, found)
        return found ? [[item, found]] : []
      })
      for (const other of rest) look(`${kind}/${other[key].replaceAll('/', '~1')}`, undefined, other)
    }
    for (const [kind, name, method, [own, shownParams]] of requestsOf(pairs, skip)) {
      const answer = async (peer, params, headers) => {
        const { result, error } = await peer.request(method, params, headers)
        return result ? { result } : { error }
      }
      const headers = kind === 'calls' ? headersOf(pairs.tools.find(([tool]) => tool.name === name)[0].inputSchema, own.arguments) : {}
      const first = await answer(direct, own, headers)
      const second = await answer(direct, own, headers)
      if (shown(first) !== shown(second)) {
        unstable.push(`${kind} ${name}`)
        continue
      }
      look(`${kind}/${name.replaceAll('/', '~1')}`, first, await answer(gated, shownParams))
    }
  } finally {
    await Promise.all([direct.close(), gated.close()])
  }
  return { speaks: direct.revision, compared, unstable, differences }
}

/** Returns the text of a difference. */
export const described = ({ path, direct, gated }) => {
  const short = (value) => (value === undefined ? 'absent' : shown(value).slice(0, 300))
  return `${path}\n    without the gateway: ${short(direct)}\n    with the gateway:    ${short(gated)}`
}

async function main([server, gateway, mount, ...rest]) {
  const option = (name) => (rest.includes(name) ? rest[rest.indexOf(name) + 1] : undefined)
  if (!mount) throw new Error('usage: compare.mjs SERVER_URL GATEWAY_URL MOUNT [--token TOKEN] [--skip TOOL,…]')
  let isEqual = true
  for (const revision of REVISIONS) {
    const { speaks, compared, unstable, differences } = await compare({
      server, gateway, mount, token: option('--token'), revision, skip: option('--skip')?.split(',') ?? [],
    })
    const unexpected = differences.filter(({ expected }) => !expected)
    const counts = Map.groupBy(differences.filter(({ expected }) => expected), ({ expected }) => expected.docs)
    console.log(`${revision} (the server speaks ${speaks}): ${compared} answers, ${unexpected.length} unexpected differences`)
    for (const [docs, all] of counts) console.log(`  ${String(all.length).padStart(4)} × ${docs}`)
    for (const name of unstable) console.log(`  not compared, because it differs each time: ${name}`)
    for (const difference of unexpected) console.log(`  ${described(difference)}`)
    isEqual &&= unexpected.length === 0
  }
  if (!isEqual) process.exitCode = 1
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? '').href) await main(process.argv.slice(2))
