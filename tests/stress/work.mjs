// Requests to the knowledge base, and checks of their answers. Each connection has separate documents, so that the checks detect an
// answer that belongs to another connection.

import assert from 'node:assert/strict'
import { ENVELOPE, NEWEST } from '../e2e/requests.mjs'

const LEGACY = '2025-11-25'
const BATCHES = '2025-03-26'

/** A client with the documents that it saved, in their last version. */
export class Client {
  #saved = new Map()
  #sent = 0

  /** `name` is a part of the slugs of its documents. `first`, a number, selects the kind of its first request. */
  constructor(name, first) {
    this.name = name
    this.first = first
  }

  /** Returns the next request, `{ body, headers, check(answer) }`. The kinds of requests follow each other in a fixed order. */
  next() {
    const kinds = Object.values(KINDS)
    const kind = kinds[(this.first + this.#sent) % kinds.length]
    return kind(this, `${this.name}-${this.#sent++}`)
  }

  /** Returns a document for this client, with a word that no other document contains. */
  document(id) {
    const slug = `stress-${this.name}-${this.#sent % 3}`
    return { slug, title: `Title ${id}`, text: `unique${id.replaceAll('-', 'x')} of ${slug}. ${'and more '.repeat(this.#sent % 200)}` }
  }

  saved(document) {
    this.#saved.set(document.slug, document)
  }

  /** One of the saved documents, or undefined. */
  get any() {
    return [...this.#saved.values()].at(-1)
  }
}

const modern = (id, method, params, check, meta) => ({
  body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { _meta: { ...ENVELOPE, ...meta }, ...params } }),
  headers: {
    'MCP-Protocol-Version': NEWEST, 'Mcp-Method': method, ...(params.name || params.uri ? { 'Mcp-Name': params.name ?? params.uri } : {}),
  },
  check: ({ status, body }) => {
    assert.deepEqual([status, body.jsonrpc, body.id, body.error], [200, '2.0', id, undefined])
    check(body.result)
  },
})

const legacy = (id, method, params, check) => ({
  body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
  headers: { 'MCP-Protocol-Version': LEGACY },
  check: ({ status, body }) => {
    assert.deepEqual([status, body.jsonrpc, body.id, body.error], [200, '2.0', id, undefined])
    check(body.result)
  },
})

const call = (as, id, name, args, check, meta) => as(id, 'tools/call', { name, arguments: args }, (result) => {
  assert.equal(result.isError, false, JSON.stringify(result))
  check(result)
}, meta)

const uriOf = ({ slug }) => `kb://documents/${slug}`

const save = (client, id) => {
  const document = client.document(id)
  return call(modern, id, 'save-document', document, ({ structuredContent }) => {
    assert.deepEqual(structuredContent, { slug: document.slug, uri: uriOf(document) })
    client.saved(document)
  })
}

/** Makes a kind of request for clients that have saved a document. Other clients save a document instead. */
const afterSave = (kind) => (client, id) => (client.any ? kind : save)(client, id)

/** The kinds of requests. Each makes a request and the check of its answer for a client and an id. */
const KINDS = {
  save,
  read: afterSave((client, id) => {
    const { slug, text } = client.any
    return call(modern, id, 'read-document', { slug }, ({ content }) => assert.equal(content[0].text, text))
  }),
  search: afterSave((client, id) => {
    const { slug, text } = client.any
    return call(legacy, id, 'search-documents', { query: text.split(' ', 1)[0] }, ({ structuredContent }) =>
      assert.deepEqual(structuredContent.documents.map((hit) => hit.slug), [slug]))
  }),
  tools: (_, id) => modern(id, 'tools/list', {}, ({ tools }) => assert.equal(tools.length, 11)),
  ingest: (client, id) => {
    const documents = [1, 2].map((n) => ({ ...client.document(`${id}-${n}`), slug: `stress-${client.name}-many-${n}` }))
    return call(modern, id, 'run_ingest', { documents }, ({ structuredContent }) => {
      assert.deepEqual(structuredContent.documents.map(({ slug }) => slug), documents.map(({ slug }) => slug))
      documents.forEach((document) => client.saved(document))
    }, { progressToken: id })
  },
  resource: afterSave((client, id) => {
    const { text } = client.any
    const uri = uriOf(client.any)
    return legacy(id, 'resources/read', { uri }, ({ contents }) => assert.deepEqual([contents[0].uri, contents[0].text], [uri, text]))
  }),
  missing: (client, id) => {
    const uri = `kb://documents/none-${id}`
    return {
      ...modern(id, 'resources/read', { uri }, () => {}),
      check: ({ body }) => assert.deepEqual([body.id, body.error?.code, body.error?.data], [id, -32602, { uri }]),
    }
  },
  prompt: (_, id) => modern(id, 'prompts/get', { name: 'analyze-code', arguments: { code: `code ${id}` } }, ({ messages }) =>
    assert.match(messages[0].content.text, new RegExp(`: code ${id}$`))),
  complete: afterSave((client, id) => {
    const { slug } = client.any
    const params = { ref: { type: 'ref/resource', uri: 'kb://documents/{slug}' }, argument: { name: 'slug', value: slug } }
    return modern(id, 'completion/complete', params, ({ completion }) => assert.deepEqual(completion.values, [slug]))
  }),
  initialize: (_, id) => legacy(id, 'initialize', { protocolVersion: LEGACY, capabilities: {}, clientInfo: { name: id, version: '1' } },
    ({ protocolVersion }) => assert.equal(protocolVersion, LEGACY)),
  discover: (_, id) => modern(id, 'server/discover', {}, ({ supportedVersions }) => assert.deepEqual(supportedVersions, [NEWEST])),
  invalid: (_, id) => legacy(id, 'tools/call', { name: 'search-documents', arguments: { limit: id } }, ({ isError, content }) => {
    assert.equal(isError, true)
    assert.match(content[0].text, /`query` is required/)
  }),
  batch: afterSave((client, id) => {
    const { slug, text } = client.any
    const read = { name: 'read-document', arguments: { slug } }
    const messages = [
      { jsonrpc: '2.0', id: `${id} a`, method: 'ping' },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: `${id} b`, method: 'tools/call', params: read },
      { jsonrpc: '2.0', id: `${id} c`, method: 'nothing' },
    ]
    return {
      body: JSON.stringify(messages),
      headers: { 'MCP-Protocol-Version': BATCHES },
      check: ({ status, body }) => {
        assert.equal(status, 200)
        const of = (end) => body.find((answer) => answer.id === `${id} ${end}`)
        assert.equal(body.length, 3)
        assert.deepEqual([of('a').result, of('b').result.content[0].text, of('c').error.code], [{}, text, -32601])
      },
    }
  }),
}
