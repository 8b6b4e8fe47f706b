// The operations of the MCP client, each with a test that runs against every server that offers it.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'

import { call, ENVELOPE, NEWEST, post } from './requests.mjs'

export const textOf = ({ content }) => content.map((block) => block.text).join('\n')

/** Lists the items of a server. */
export async function list({ worker }, server, kind) {
  const { structuredContent, content } = await call(worker, 'list', { server, kind })
  assert.ok(structuredContent, content?.[0].text)
  return structuredContent
}

/**
 * The operations. The function gets the {@link import('./client-peers.mjs').Peer}, and the running servers.
 *
 * @typedef {{ worker: import('./worker.mjs').Worker, peers: import('./client-peers.mjs').Peers }} Running
 * @type {Record<string, (peer: import('./client-peers.mjs').Peer, running: Running) => Promise<void>>}
 */
export const OPERATIONS = {
  // A server that does not offer an operation does not declare it either.
  connect: async ({ name, speaks, items, lacks }, { worker }) => {
    const { structuredContent } = await call(worker, 'about', { server: name })
    const declares = { has_completions: !lacks.completion, has_logging: !lacks.log }
    assert.deepEqual(structuredContent, { name: items.server, revision: speaks, ...declares })
  },

  list: async ({ name, items, path }, running) => {
    for (const kind of ['tools', 'resources', 'templates', 'prompts']) {
      const { items: listed, ...rest } = await list(running, name, kind)
      assert.deepEqual(rest, { missing: [], left_out: [], is_truncated: false })
      assert.deepEqual(path ? listed.sort() : items[kind].filter((item) => listed.includes(item)), items[kind], kind)
    }
  },

  // Rule C57. The pages hold fewer items than each of these servers has tools.
  pages: async ({ name, path }, { worker, peers }) => {
    const known = path ? (await peers.requestsTo(path)).length : 0
    const { structuredContent: { items } } = await call(worker, 'list', { server: name, kind: 'tools' })
    assert.equal(new Set(items).size, items.length)
    assert.ok(items.length > 8)
    if (path) assert.ok((await peers.requestsTo(path, known)).filter(({ method }) => method === 'POST').length >= 3)
  },

  call: async ({ name, path }, { worker }) => {
    const sum = await call(worker, 'call', { server: name, name: 'add', arguments: { a: 2, b: 3 } })
    assert.deepEqual([textOf(sum).includes('5'), sum.isError ?? false], [true, false])
    const failed = await call(worker, 'call', { server: name, name: 'fail' })
    assert.equal(failed.isError, true)
    assert.match(textOf(failed), /This tool always fails\./)
    const unknown = await call(worker, 'call', { server: name, name: 'nothing' })
    assert.equal(unknown.isError, true)
    assert.match(textOf(unknown), /nothing|not found/i)
    if (!path) return
    const large = await call(worker, 'call', { server: name, name: 'large', arguments: { bytes: 300_000 } })
    assert.equal(textOf(large), 'x'.repeat(300_000))
  },

  // The client checks the result against the output schema of the list.
  'structured result': async ({ name, items: { structured: { result, ...tool } } }, { worker }) => {
    const { structuredContent } = await call(worker, 'call', { server: name, is_listed: true, ...tool })
    assert.deepEqual(structuredContent, result)
  },

  resource: async ({ name, items }, { worker }) => {
    const { contents: [{ uri, text }] } = JSON.parse(textOf(await call(worker, 'read', { server: name, uri: 'demo://text' })))
    assert.deepEqual([uri, text], ['demo://text', items.text])
  },

  template: async ({ name, items: { expansion } }, { worker }) => {
    const { contents: [{ uri, text }] } = JSON.parse(textOf(await call(worker, 'read', { server: name, uri: expansion.uri })))
    assert.deepEqual({ uri, text }, expansion)
  },

  prompt: async ({ name, items: { prompt: { text, ...prompt } } }, { worker }) => {
    const { messages } = JSON.parse(textOf(await call(worker, 'prompt', { server: name, ...prompt })))
    assert.deepEqual(messages.map(({ role, content }) => [role, content.text]), [['user', text]])
  },

  completion: async ({ name, items: { completion: { values, ...request } } }, { worker }) => {
    const { structuredContent } = await call(worker, 'complete', { server: name, ...request })
    assert.deepEqual(structuredContent, { values })
  },

  // Rules C11 and C25.
  progress: async ({ name, items: { progress } }, { worker }) => {
    const { structuredContent } = await call(worker, 'watch', { server: name, name: progress.name })
    assert.deepEqual(structuredContent.progress, progress.messages.map((message, index) => [index + 1, 3, message]))
  },

  // Rule C25. The servers also send messages of a lower level, unless the client has told them the level.
  log: async ({ name, items: { progress } }, { worker }) => {
    const { structuredContent: { log } } = await call(worker, 'watch', { server: name, name: progress.name })
    assert.deepEqual(log.map(([level]) => level), ['Info', 'Info', 'Info'])
    assert.doesNotMatch(JSON.stringify(log), /not asked for/)
  },

  // Rules C30, C31, C32 and C35.
  questions: async ({ name, items: { question } }, { worker }) => {
    assert.equal(textOf(await call(worker, 'ask', { server: name, name: question.name })), question.text)
  },

  // Rules C111, C112, C113 and C114.
  'passed questions': async ({ name, items: { question } }, { worker }) => {
    const round = async (params, capabilities = { elicitation: { form: {} } }) => (await post(worker, {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        _meta: { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': capabilities },
        name: 'pass',
        arguments: { server: name, name: question.name },
        ...params,
      },
    }, { 'MCP-Protocol-Version': NEWEST, 'Mcp-Method': 'tools/call', 'Mcp-Name': 'pass' })).body.result
    const { resultType, inputRequests, requestState } = await round({})
    assert.equal(resultType, 'input_required')
    const [[key, { params: { message, mode } }]] = Object.entries(inputRequests)
    assert.deepEqual([message, mode], [`[${name}] ${question.message}`, 'form'])
    const inputResponses = { [key]: { action: 'accept', content: question.content } }
    const last = await round({ inputResponses, requestState })
    assert.deepEqual([last.resultType, textOf(last)], ['complete', question.text])
    // A caller that cannot be asked.
    const { isError, content } = await round({}, {})
    assert.deepEqual([isError, content[0].text.includes(question.text)], [true, false])
  },

  // Rules C8, C9 and C10. Most of these servers reject a call whose header is missing or different.
  'header parameters': async ({ name, path, items: { parameter: { header, text, ...tool } } }, { worker, peers }) => {
    for (const is_listed of [true, false]) {
      const known = path ? (await peers.requestsTo(path)).length : 0
      assert.equal(textOf(await call(worker, 'call', { server: name, is_listed, ...tool })), text)
      if (!path || !is_listed) continue
      const calls = (await peers.requestsTo(path, known)).filter(({ headers }) => headers['mcp-method'] === 'tools/call')
      const value = Buffer.from(Object.values(tool.arguments)[0]).toString('base64')
      assert.deepEqual(calls.map(({ headers }) => headers[header]), [`=?base64?${value}?=`])
    }
  },

  // Rule C27. The tool runs once, so the answer is the one of the first request.
  resumption: async ({ name, path }, { worker, peers }) => {
    for (const how of path.startsWith('fastmcp/') ? ['close'] : ['close', 'break']) {
      const known = (await peers.requestsTo(path)).length
      const { structuredContent, content } = await call(worker, 'watch', { server: name, name: 'interrupt', arguments: { how } })
      assert.ok(structuredContent, content[0].text)
      assert.match(structuredContent.text, /^resumed/)
      assert.deepEqual(structuredContent.progress.map(([progress]) => progress), [1, 2])
      const resumed = (await peers.requestsTo(path, known)).filter(({ headers }) => headers['last-event-id'])
      assert.deepEqual(resumed.map(({ method }) => method), ['GET'])
    }
  },

  // Rule C28. Twice: the time limit of the call passes, and the caller of our own server closes the connection.
  cancellation: async (peer, running) => {
    const { name, items: { slow } } = peer
    const before = await cancellations(peer, running)
    const late = await call(running.worker, 'watch', { server: name, ...slow, timeout: 300 })
    assert.match(textOf(late), /did not answer within .* It is not known whether the call was executed/)
    await become(before + 1, () => cancellations(peer, running))
    await hangUp(running.worker, { server: name, ...slow })
    await become(before + 2, () => cancellations(peer, running))
  },

  // Rule C42.
  'session end': async ({ name, path }, { worker, peers }) => {
    const known = (await peers.requestsTo(path)).length
    await call(worker, 'call', { server: name, name: 'add', arguments: { a: 2, b: 3 } })
    // The session of an earlier test may end now, too.
    const sessionOf = ({ headers }) => headers['mcp-session-id']
    const own = (await peers.requestsTo(path, known)).filter(({ method }) => method === 'POST').map(sessionOf).findLast(Boolean)
    const ends = async () =>
      (await peers.requestsTo(path, known)).filter((request) => request.method === 'DELETE' && sessionOf(request) === own).length
    await become(1, ends)
  },
}

/** Returns how many tools of a server have learned that their calls were cancelled. */
async function cancellations({ path }, { worker, peers }) {
  if (path) return (await peers.requestsTo(path)).filter(({ isCancelled }) => isCancelled).length
  return worker.logs().split('the client of linger has disconnected').length - 1
}

/** Waits at most 5 s until a number has a value. */
async function become(expected, number) {
  let last
  for (const end = Date.now() + 5_000; Date.now() < end; await sleep(20)) {
    last = await number()
    if (last >= expected) break
  }
  assert.equal(last, expected)
}

/** Calls the tool `watch`, and closes the connection after the first progress notification. */
async function hangUp(worker, args) {
  const connection = new AbortController()
  const response = await fetch(worker.url, {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': NEWEST,
      'Mcp-Method': 'tools/call', 'Mcp-Name': 'watch',
    },
    body: JSON.stringify({
      jsonrpc: '2.0', id: 1, method: 'tools/call', params: { _meta: { ...ENVELOPE, progressToken: 1 }, name: 'watch', arguments: args },
    }),
    signal: connection.signal,
  })
  assert.equal(response.headers.get('content-type'), 'text/event-stream')
  await response.body.getReader().read()
  connection.abort()
}
