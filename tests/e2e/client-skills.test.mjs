// The skills of the official server 2.4, read and verified by our client in workerd. tests/client-worker has the tool.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, test } from 'node:test'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { memorySkillFiles, SkillsExtension } from '@modelcontextprotocol/server/ext/skills'

import { call } from './requests.mjs'
import { startWorker } from './worker.mjs'

/** The files of two skills, one inside the other. Their URIs need escapes, and their frontmatter has each form of text. */
const FILES = {
  'refunds/SKILL.md': '---\r\nname: refunds\ndescription: >-\n  Refunds an order:\n  ask first.\nlicense: "MIT" # or not\nmetadata: {rank: "1"}\n---\nText: \u00e9 \u{1f642}',
  'refunds/a b&c.txt': '\ufeffwith a byte order mark',
  'refunds/empty': '',
  'refunds/pic.png': new Uint8Array([137, 80, 255, 0]),
  'refunds/inner/SKILL.md': "---\nname: inner\ndescription: 'It''s inner.'\nmore:\n  - 1.50\n  - [a, {b: null}]\n---\n",
}

let server, worker
before(async () => {
  const skills = await SkillsExtension.load(memorySkillFiles(FILES))
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'skills', version: '1.0.0' })
    skills.attach(server)
    return server
  })
  server = createServer(async (request, response) => {
    const body = request.method === 'POST' ? Buffer.concat(await request.toArray()) : undefined
    const url = `http://${request.headers.host}${request.url}`
    const answer = await handler.fetch(new Request(url, { method: request.method, headers: request.headers, body }))
    response.writeHead(answer.status, Object.fromEntries(answer.headers))
    response.end(Buffer.from(await answer.arrayBuffer()))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}/mcp`
  const SERVERS = JSON.stringify({ modern: { url }, legacy: { url, revision: '2025-11-25' } })
  worker = await startWorker({ name: 'client-worker', migrate: false, vars: { SERVERS } })
})
after(async () => {
  server?.closeAllConnections()
  server?.close()
  await worker?.stop()
})

for (const era of ['modern', 'legacy']) {
  test(`${era}: our client lists, gets, reads and verifies the skills of the official server`, async () => {
    const { structuredContent, content } = await call(worker, 'skills', { server: era })
    assert.ok(structuredContent, content?.[0].text)
    const { files, left_out } = structuredContent
    assert.deepEqual(left_out, [])
    const shown = Object.entries(files).map(([uri, text]) => [decodeURIComponent(uri.slice('skill://'.length)), text])
    const folders = {
      refunds: ['SKILL.md', 'a%20b&c.txt', 'empty', 'inner', 'pic.png'], 'refunds/inner': ['SKILL.md'],
    }
    const expected = Object.entries(FILES).map(([path, text]) => [path, typeof text === 'string' ? text : `${text.length} bytes`])
    const read = shown.filter(([path]) => !(path in folders))
    assert.deepEqual(Object.fromEntries(read), Object.fromEntries(expected))
    for (const [path, names] of Object.entries(folders)) {
      assert.deepEqual(files[`skill://${path}`].split(' ').sort(), names.map((name) => `skill://${path}/${name}`).sort())
    }
  })
}
