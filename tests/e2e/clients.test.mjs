// Tests the knowledge base with the official clients.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { CLIENTS } from './official-clients.mjs'
import { NEWEST } from './requests.mjs'
import { startApp } from './workerd.mjs'

let worker
before(async () => { worker = await startApp() })
after(() => worker?.stop())

for (const { name, connect, isModern } of CLIENTS) {
  test(`${name} connects, calls tools, reads resources, completes arguments and gets prompts`, async () => {
    const client = await connect(worker)
    try {
      assert.equal(client.getServerVersion()?.name, 'knowledge-base')
      assert.equal(client.revision, isModern ? NEWEST : '2025-11-25')
      assert.match(client.getInstructions(), /knowledge base/)

      const { tools } = await client.listTools()
      assert.deepEqual(tools.map((tool) => tool.name), [
      'search-passages', 'related-passages', 'search-documents', 'read-document', 'save-document', 'delete-document', 'list-set',
      'run_ingest', 'missing-skill-files', 'save-skill-files', 'publish-skills',
    ])

      const document = { slug: 'greeting', title: 'Grüße', text: 'Hallo from the client' }
      const saved = await client.callTool({ name: 'save-document', arguments: document })
      assert.deepEqual(saved.structuredContent, { slug: 'greeting', uri: 'kb://documents/greeting' })
      const found = await client.callTool({ name: 'search-documents', arguments: { query: 'hallo' } })
      assert.equal(found.structuredContent.documents[0].slug, 'greeting')
      const missing = await client.callTool({ name: 'read-document', arguments: { slug: 'none' } })
      assert.equal(missing.isError, true)
      await assert.rejects(client.callTool({ name: 'no-such-tool', arguments: {} }), /Unknown tool/)

      const { resources } = await client.listResources()
      assert.ok(resources.some(({ uri }) => uri === 'kb://documents/greeting'))
      const { contents } = await client.readResource({ uri: 'kb://documents/greeting' })
      assert.equal(contents[0].text, document.text)
      await assert.rejects(client.readResource({ uri: 'kb://documents/none' }), /Resource not found/)

      const template = { type: 'ref/resource', uri: 'kb://documents/{slug}' }
      const { completion } = await client.complete({ ref: template, argument: { name: 'slug', value: 'gr' } })
      assert.deepEqual(completion.values, ['greeting'])
      const answer = await client.getPrompt({ name: 'answer-from-documents', arguments: { question: 'What says hallo?' } })
      assert.deepEqual(answer.messages.map(({ content }) => content.type), ['resource', 'text'])
      const code = await client.getPrompt({ name: 'analyze-code@v1', arguments: { code: 'x' } })
      assert.equal(code.messages[0].content.text, 'Analyze this code: x')
      if (!isModern) await client.ping()
    } finally {
      await client.close()
    }
  })

  test(`${name} reports a wrong token`, async () => {
    await assert.rejects(connect({ ...worker, token: 'wrong' }), /401|[Uu]nauthorized|access token/)
  })
}
