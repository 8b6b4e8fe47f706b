// Tests examples/team-notes in workerd: the statements that its native tests run in SQLite also run in D1, and KV counts the calls.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { ENVELOPE, call, modern } from './requests.mjs'
import { randomToken, startWorker } from './worker.mjs'

let worker
before(async () => {
  const token = randomToken()
  const tokens = [{ token, subject: 'ada', scopes: ['notes:write'] }]
  worker = { ...await startWorker({ name: 'team-notes', secrets: { MCP_STATIC_TOKENS: JSON.stringify(tokens) } }), token }
})
after(() => worker?.stop())

test('a note is added, found, counted and deleted with its passages', async () => {
  const note = { id: 1, title: 'Green tea', text: 'Steep the leaves for two minutes.', author: 'ada' }
  const added = await call(worker, 'add-note', { title: note.title, text: note.text })
  assert.deepEqual(added.structuredContent, note)
  assert.deepEqual((await call(worker, 'find-notes', { part: 'TEA' })).structuredContent, { notes: [note] })
  const search = async () => (await call(worker, 'search-passages', { queryText: 'steeping tea' })).structuredContent.sources
  assert.deepEqual((await search()).map(({ uri, heading }) => [uri, heading]), [['notes://1', 'Green tea']])
  assert.equal((await modern(worker, 'resources/read', { uri: 'notes://1' })).body.result.contents[0].text,
    '# Green tea\n\nby ada\n\nSteep the leaves for two minutes.')
  assert.equal((await call(worker, 'count-calls')).content[0].text, 'Your calls: 3.')

  const params = {
    name: 'delete-note', arguments: { id: 1 },
    _meta: { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } },
  }
  const { body: { result: asked } } = await modern(worker, 'tools/call', params)
  assert.equal(asked.inputRequests.delete.params.message, 'Delete the note "Green tea" of ada?')
  const answer = { inputResponses: { delete: { action: 'accept', content: {} } }, requestState: asked.requestState }
  const { body: { result: deleted } } = await modern(worker, 'tools/call', { ...params, ...answer })
  assert.equal(deleted.content[0].text, 'Deleted the note "Green tea".')
  assert.deepEqual((await call(worker, 'find-notes', { part: 'tea' })).structuredContent, { notes: [] })
  assert.deepEqual(await search(), [])
  assert.deepEqual(await worker.sql('SELECT count(*) AS count FROM rag_documents'), [{ count: 0 }])
})
