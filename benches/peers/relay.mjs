// A server for benches/client.mjs. Its tool `relay` calls `add` of the server at PEER, and its tool `add` returns the same result without this
// call. It parses the request, and sends a prepared answer. CALLER selects how it calls the server:
//   floor    a plain fetch, whose answer is parsed
//   shared   the official client, which connects once and is shared by the requests of the isolate
//   fresh    the official client, which is built and connected for each request

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

const REVISION = '2026-07-28'
const ADD = { name: 'add', arguments: { a: 2, b: 3 } }

const connected = async (url) => {
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return client
}

const headers = {
  'content-type': 'application/json',
  accept: 'application/json, text/event-stream',
  'mcp-protocol-version': REVISION,
  'mcp-method': 'tools/call',
  'mcp-name': 'add',
}
const meta = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
}
let id = 0

let shared
const callers = {
  async floor(url) {
    const body = JSON.stringify({ jsonrpc: '2.0', id: ++id, method: 'tools/call', params: { ...ADD, _meta: meta } })
    // The server answers with JSON, because the tool sends no notifications.
    const answer = await fetch(url, { method: 'POST', headers, body })
    return (await answer.json()).result
  },
  async shared(url) {
    shared ??= await connected(url)
    return shared.callTool(ADD)
  },
  async fresh(url) {
    const client = await connected(url)
    const result = await client.callTool(ADD)
    await client.close()
    return result
  },
}

export default {
  async fetch(request, { CALLER, PEER }) {
    const { params, id } = await request.json()
    const { content, isError } = params.name === 'relay' ? await callers[CALLER](PEER) : { content: [{ type: 'text', text: '5' }] }
    if (isError || content[0].text !== '5') throw new Error(`a wrong answer: ${JSON.stringify(content)}`)
    return Response.json({ jsonrpc: '2.0', id, result: { content } })
  },
}
