// The lower bound: plain JavaScript that parses the request and sends a prepared answer.

import { megabyte, named, prose, RESOURCE } from '../content.mjs'
import eleven from '../tools.json'

const text = (text, isError) => ({ content: [{ type: 'text', text }], isError })
const results = {
  add: () => text('5', false),
  invalid: () => text('b: must be a number', true),
  echo: () => text(prose(100_000), false),
  'resources/read': () => ({ contents: [{ uri: RESOURCE, mimeType: 'text/plain', text: megabyte() }] }),
  initialize: () => ({ protocolVersion: '2025-06-18', capabilities: { tools: {}, resources: {} }, serverInfo: { name: 'bench', version: '1.0.0' } }),
  'server/discover': () => ({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {}, resources: {} }, ttlMs: 0, cacheScope: 'private' }),
  'tools/list': ({ TOOLS }) => ({
    tools: Array.from({ length: Number(TOOLS) }, (_, index) => {
      const tool = eleven[index % eleven.length]
      return { ...tool, name: named(tool.name, index) }
    }),
  }),
}

const answers = new Map()
const headers = { 'content-type': 'application/json' }

export default {
  async fetch(request, env) {
    const begun = Date.now()
    const { method, params, id } = await request.json()
    const key = method !== 'tools/call' ? method : typeof params.arguments.b === 'string' ? 'invalid' : params.name
    let answer = answers.get(key)
    if (answer === undefined) {
      answer = JSON.stringify({ jsonrpc: '2.0', id: 1, result: results[key](env) })
      answers.set(key, answer)
    }
    if (env.LOG) {
      console.log(JSON.stringify({ event: 'request', method, target: params.name, id, status: 200, ms: Date.now() - begun }))
    }
    return new Response(answer, { headers })
  },
}
