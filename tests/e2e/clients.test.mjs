// The official clients, old and new, in each of their modes.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

import { NEWEST } from './ask.mjs'
import { startWorker } from './worker.mjs'

let worker
before(async () => { worker = await startWorker() })
after(() => worker?.stop())

const INFO = { name: 'e2e', version: '1.0.0' }

const MODES = [
  ['sdk 1.32', () => new OldClient(INFO), OldTransport, '2025-11-25'],
  ['client 2.4, legacy', () => new NewClient(INFO, { versionNegotiation: { mode: 'legacy' } }), NewTransport, '2025-11-25'],
  ['client 2.4, auto', () => new NewClient(INFO, { versionNegotiation: { mode: 'auto' } }), NewTransport, NEWEST],
  ['client 2.4, pinned', () => new NewClient(INFO, { versionNegotiation: { mode: { pin: NEWEST } } }), NewTransport, NEWEST],
]

for (const [name, make, Transport, version] of MODES) {
  test(`${name}: connects, lists, calls and reads`, async () => {
    const client = make()
    const transport = new Transport(new URL(worker.url), { requestInit: { headers: { Authorization: `Bearer ${worker.token}` } } })
    await client.connect(transport)
    try {
      assert.equal(client.getServerVersion()?.name, 'knowledge-base')
      const negotiated = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion
      assert.equal(negotiated, version)
      assert.match(client.getInstructions(), /knowledge base/)

      const { tools } = await client.listTools()
      assert.deepEqual(tools.map((tool) => tool.name), ['search-documents', 'read-document', 'save-document'])

      const document = { slug: 'greeting', title: 'Grüße', text: 'Hallo from the client' }
      const saved = await client.callTool({ name: 'save-document', arguments: document })
      assert.deepEqual(saved.structuredContent, { slug: 'greeting', uri: 'kb://documents/greeting' })
      const found = await client.callTool({ name: 'search-documents', arguments: { query: 'hallo' } })
      assert.equal(found.structuredContent.documents[0].slug, 'greeting')
      const refused = await client.callTool({ name: 'read-document', arguments: { slug: 'none' } })
      assert.equal(refused.isError, true)
      await assert.rejects(client.callTool({ name: 'no-such-tool', arguments: {} }), /Unknown tool/)

      const { resources } = await client.listResources()
      assert.ok(resources.some(({ uri }) => uri === 'kb://documents/greeting'))
      const { resourceTemplates } = await client.listResourceTemplates()
      assert.equal(resourceTemplates[0].uriTemplate, 'kb://documents/{slug}')
      const { contents } = await client.readResource({ uri: 'kb://documents/greeting' })
      assert.equal(contents[0].text, document.text)
      await assert.rejects(client.readResource({ uri: 'kb://documents/none' }), /Resource not found/)
      if (version !== NEWEST) await client.ping()
    } finally {
      await client.close()
    }
  })

  test(`${name}: a wrong token is told`, async () => {
    const transport = new Transport(new URL(worker.url), { requestInit: { headers: { Authorization: 'Bearer wrong' } } })
    await assert.rejects(make().connect(transport), /401|[Uu]nauthorized|access token/)
  })
}
