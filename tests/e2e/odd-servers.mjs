// Servers with odd lists and results, as public bug reports describe them. Each is a server of 2026-07-28 without sessions, and has a working
// item of each kind besides the odd ones.

import { once } from 'node:events'
import { createServer } from 'node:http'

const object = { type: 'object' }
const tool = (members) => ({ name: 'odd', inputSchema: object, ...members })
const content = (...blocks) => ({ 'tools/call': { content: blocks }, 'prompts/get': { messages: blocks.map((block) => ({ role: 'user', content: block })) } })
const text = (members) => content({ type: 'text', text: 'odd', ...members })
const link = (members) => content({ type: 'resource_link', uri: 'a://odd', name: 'odd', ...members })
const embedded = (resource) => content({ type: 'resource', resource: { uri: 'a://odd', ...resource } })
const read = (...contents) => ({ 'resources/read': { contents } })

/** The servers: odd items of their lists, or odd results by method. */
export const ODD = {
  noSchema: { tools: [{ name: 'odd' }] },
  emptySchema: { tools: [tool({ inputSchema: {} })] },
  nullSchema: { tools: [tool({ inputSchema: null, outputSchema: null })] },
  arraySchema: { tools: [tool({ inputSchema: { type: 'array' } })] },
  listOfTypes: { tools: [tool({ inputSchema: { type: ['object', 'null'] } })] },
  booleanProperties: { tools: [tool({ inputSchema: { type: 'object', properties: { a: true, b: false } } })] },
  textProperties: { tools: [tool({ inputSchema: { type: 'object', properties: { a: 'text' } } })] },
  oddRequired: { tools: [tool({ inputSchema: { type: 'object', required: true } })] },
  outputOfList: { tools: [tool({ outputSchema: { type: 'array', items: {} } })] },
  outputWithoutType: { tools: [tool({ outputSchema: { properties: { a: true } } })] },
  unknownFormat: { tools: [tool({ inputSchema: { type: 'object', properties: { a: { type: 'integer', format: 'uint32' } } } })] },
  largeNumbers: { tools: [tool({ inputSchema: { type: 'object', properties: { a: { maximum: 1e300, minimum: -1e300 } } } })] },
  numberTitle: { tools: [tool({ title: 1, description: ['x'] })] },
  oddToolAnnotations: { tools: [tool({ annotations: { title: 1, readOnlyHint: 'yes', destructiveHint: null } })] },
  listAnnotations: { tools: [tool({ annotations: [], _meta: [], icons: {} })] },
  oddIcons: { tools: [tool({ icons: [{ src: 1 }, { src: 'https://example.com/i.png', sizes: '48x48', theme: 'blue', mimeType: 1 }, null] })] },
  oddExecution: { tools: [tool({ execution: { taskSupport: 'maybe' } })] },
  noName: { tools: [{ inputSchema: object }, { name: '', inputSchema: object }, { name: 7, inputSchema: object }, null, 'x'] },
  numbersInNames: { tools: [tool({ name: 'a b' }), tool({ name: 'x'.repeat(200) })] },
  nulls: {
    tools: [tool({ title: null, description: null, annotations: null, icons: null, _meta: null, outputSchema: null, execution: null })],
    resources: [{ uri: 'a://odd', name: 'odd', title: null, description: null, mimeType: null, size: null, annotations: null, _meta: null }],
    templates: [{ uriTemplate: 'a://{odd}', name: 'odd', title: null, mimeType: null, annotations: null }],
    prompts: [{ name: 'odd', description: null, arguments: null }, { name: 'odd2', arguments: [{ name: 'a', description: null, required: null }] }],
  },
  oddResources: {
    resources: [
      { uri: 'a://odd', name: 'odd', annotations: { audience: ['robot'], priority: 9, lastModified: 'now' }, size: '7', mimeType: 1 },
      { uri: 'a://odd2' }, { uri: 'odd', name: 'odd' }, { uri: 'http://[x/', name: 'odd' }, { uri: 'a://h:99999/', name: 'odd' },
    ],
    templates: [{ uriTemplate: '{', name: 'odd' }, { uriTemplate: 'a://{x', name: 'odd', annotations: 'x' }, { uriTemplate: 'a://{x}' }],
    prompts: [{ name: 'odd', arguments: [{}, { name: 1 }, 'x', { name: 'a', title: 1, description: 2, required: 'yes' }], icons: 1 }],
  },
  emptyCursor: { members: { nextCursor: '' } },
  nullCursor: { members: { nextCursor: null } },
  oddHints: { members: { ttlMs: 'x', cacheScope: '' } },
  oddAudience: text({ annotations: { audience: ['robot'] } }),
  oddPriority: text({ annotations: { priority: 2 } }),
  oddTime: text({ annotations: { lastModified: '2026-07-28' } }),
  oddMeta: text({ _meta: 'x', annotations: null }),
  unknownType: content({ type: 'hologram', depth: 3 }, { type: 'hologram', x: 'x'.repeat(5000) }),
  noText: content({ type: 'text' }, { type: 'text', text: null }, { type: 'text', text: 7 }),
  oddImage: content({ type: 'image', data: '_-_-', mimeType: 'image/png' }, { type: 'image', data: 'AA==' }, { type: 'audio', data: '!', mimeType: 'a/b' }),
  unpaddedImage: content({ type: 'image', data: 'AA', mimeType: 'image/png' }),
  oddLink: link({ title: 1, size: 1.5, icons: [{}], mimeType: {}, annotations: 1, description: 2 }),
  namelessLink: content({ type: 'resource_link', uri: 'a://odd' }),
  oddEmbedded: embedded({}),
  oddBlob: embedded({ blob: 'x_-' }),
  oddTextOfResource: embedded({ text: 'x', mimeType: 1, _meta: [] }),
  noBlocks: content(null, 7, 'text', {}, { type: 7 }),
  onlyStructured: { 'tools/call': { structuredContent: { a: 1 } } },
  nullMembers: { 'tools/call': { content: [], structuredContent: null, isError: null, _meta: null } },
  listStructured: { 'tools/call': { content: [], structuredContent: [1] } },
  oddResultMeta: { 'tools/call': { content: [], _meta: { progressToken: {}, 'io.modelcontextprotocol/related-task': 1 } } },
  emptyContents: read(),
  oddContents: read({ uri: 'a://odd', text: 'x', mimeType: 1, _meta: 1 }, { uri: 'a://odd', blob: '_-' }, { text: 'x' }, null),
  oddCompletion: { 'completion/complete': { completion: { values: Array.from({ length: 200 }, String), total: -1.5, hasMore: 'yes' } } },
}

const WELL = {
  tools: [{ name: 'well', inputSchema: object }],
  resources: [{ uri: 'a://well', name: 'well' }],
  templates: [{ uriTemplate: 'a://{well}', name: 'well' }],
  prompts: [{ name: 'well', arguments: [{ name: 'a' }] }],
}
const LISTS = { 'tools/list': ['tools', 'tools'], 'resources/list': ['resources', 'resources'], 'resources/templates/list': ['templates', 'resourceTemplates'], 'prompts/list': ['prompts', 'prompts'] }
const RESULTS = {
  ...content({ type: 'text', text: 'well' }),
  ...read({ uri: 'a://well', text: 'well' }),
  'completion/complete': { completion: { values: ['well'] } },
}

function resultOf(odd, method) {
  if (method === 'server/discover') {
    const server = { 'io.modelcontextprotocol/serverInfo': { name: 'odd', version: '1' } }
    return { supportedVersions: ['2026-07-28'], capabilities: { tools: {}, resources: {}, prompts: {}, completions: {} }, _meta: server, ttlMs: 0, cacheScope: 'private' }
  }
  const [kind, member] = LISTS[method] ?? []
  return kind ? { ttlMs: 0, cacheScope: 'private', [member]: [...odd[kind] ?? [], ...WELL[kind]], ...odd.members } : odd[method] ?? RESULTS[method]
}

/** Starts all servers. `urls` has the endpoint of each. */
export async function startOddServers() {
  const http = createServer(async (request, response) => {
    let body = ''
    for await (const part of request) body += part
    const { id, method } = JSON.parse(body)
    const result = resultOf(ODD[request.url.slice(1)], method)
    response.writeHead(result ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify({
      jsonrpc: '2.0', id, ...(result ? { result: { resultType: 'complete', ...result } } : { error: { code: -32601, message: 'no' } }),
    }))
  })
  http.listen(0, '127.0.0.1')
  await once(http, 'listening')
  const stop = async () => {
    http.closeAllConnections()
    http.close()
    await once(http, 'close')
  }
  const urls = Object.fromEntries(Object.keys(ODD).map((name) => [name, `http://127.0.0.1:${http.address().port}/${name}`]))
  return { urls, stop }
}
