// Tests the MCP client in workerd against real servers. tests/client-worker is a server whose tools send requests to them.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, describe, test } from 'node:test'

import { startFastmcp, startPeers } from './client-peers.mjs'
import { call } from './requests.mjs'
import { randomToken, startWorker } from './worker.mjs'

const MODERN = '2026-07-28'
const LEGACY = '2025-11-25'
const TOKEN = randomToken()

/**
 * The peers: the name for the client, the path of the endpoint (with `fastmcp/` for fastmcp), whether it has sessions, whether it speaks
 * 2026-07-28, and the revision if the client does not negotiate.
 */
const PEERS = [
  { name: 'server', path: 'server-2.4', isModern: true },
  { name: 'server-legacy', path: 'server-2.4', revision: LEGACY },
  { name: 'sdk-sessions', path: 'sdk-1.32-sessions', hasSessions: true },
  { name: 'sdk-stateless', path: 'sdk-1.32-stateless' },
  { name: 'mastra-sessions', path: 'mastra-sessions', hasSessions: true },
  { name: 'mastra-stateless', path: 'mastra-stateless' },
  { name: 'lite-sessions', path: 'mcp-lite-sessions', hasSessions: true },
  { name: 'lite-stateless', path: 'mcp-lite-stateless' },
  { name: 'fastmcp', path: 'fastmcp/stateless', isModern: true },
  { name: 'fastmcp-sessions', path: 'fastmcp/sessions', revision: LEGACY, hasSessions: true },
  { name: 'fastmcp-stateless', path: 'fastmcp/stateless', revision: LEGACY },
]
/** Answers that are unusual or wrong: a function of the response, and a pattern of the result. */
const ODD = {
  'non-ascii-header': [(response, answer) => {
    const name = Buffer.from('Zoë 🙂').toString('latin1')
    response.writeHead(200, { 'content-type': 'application/json', 'x-name': name, 'set-cookie': ['a=1', 'b=2'] })
    response.end(answer)
  }, /^fine$/],
  'one-byte-chunks': [(response, answer) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    for (const byte of answer) response.write(byte)
    response.end()
  }, /^fine$/],
  redirect: [(response) => response.writeHead(307, { location: '/non-ascii-header' }).end(), /redirects to another URL/],
  'closed-before-the-head': [(response) => response.destroy(), /It is not known whether the call was executed/],
  'closed-in-the-body': [(response, answer) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
    response.write(answer.slice(0, 10), () => response.destroy())
  }, /It is not known whether the call was executed/],
  'a-length-that-is-too-small': [(response, answer) => {
    response.socket.end(`HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 10\r\n\r\n${answer}`)
  }, /is not valid JSON/],
  'one-byte-at-a-time': [(response, answer) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    let sent = 0
    const timer = setInterval(() => { response.write(answer[sent % answer.length]); sent += 1 }, 50)
    response.once('close', () => clearInterval(timer))
  }, /did not answer within/, { timeout: 500 }],
  'no-content': [(response) => response.writeHead(204).end(), /sent an invalid answer/],
  'an-endless-stream': [(response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    const write = () => { while (!response.destroyed && response.write(': hello\n\n'.repeat(1 << 12))) { /* until the buffer is full */ } }
    response.on('drain', write)
    write()
  }, /exceeded a limit/],
  endless: [(response) => {
    response.writeHead(200, { 'content-type': 'application/json' })
    const write = () => { while (!response.destroyed && response.write('x'.repeat(1 << 16))) { /* until the buffer is full */ } }
    response.on('drain', write)
    write()
  }, /exceeded a limit/],
}
const isPython = (path) => path.startsWith('fastmcp/')
const TEXT = 'A text: déjà vu, 🙂.'

/** The requests to the server with odd answers: the path, and whether the client closed the connection early. */
const oddRequests = []
async function startOdd() {
  const server = createServer(async (request, response) => {
    const entry = { path: request.url, headers: request.headers, isAborted: false }
    oddRequests.push(entry)
    response.once('close', () => { entry.isAborted = !response.writableFinished })
    const chunks = await request.toArray()
    const { id } = JSON.parse(Buffer.concat(chunks))
    const result = { resultType: 'complete', content: [{ type: 'text', text: 'fine' }] }
    ODD[request.url.slice(1)][0](response, JSON.stringify({ jsonrpc: '2.0', id, result }))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { origin: `http://127.0.0.1:${server.address().port}`, stop }
}

let peers, fastmcp, odd, worker
before(async () => {
  [peers, fastmcp, odd] = await Promise.all([startPeers(), startFastmcp(), startOdd()])
  const urlOf = (path) => isPython(path)
    ? `${fastmcp.origin}/${path.slice('fastmcp/'.length)}/mcp`
    : `${peers.origin}/${path}/mcp`
  const servers = Object.fromEntries(PEERS.map(({ name, path, revision }) => [name, { url: urlOf(path), revision }]))
  for (const name of Object.keys(ODD)) servers[name] = { url: `${odd.origin}/${name}`, revision: MODERN }
  servers.refused = { url: 'http://127.0.0.1:1/mcp' }
  servers.bound = { token: TOKEN }
  worker = await startWorker({
    name: 'client-worker',
    vars: { SERVERS: JSON.stringify(servers) },
    services: {
      PEER: {
        name: 'everything',
        secrets: {
          MCP_STATE_KEY: randomToken(),
          MCP_STATIC_TOKENS: JSON.stringify([{ token: TOKEN, subject: 'client-worker', scopes: [] }]),
        },
        config: (toml) => toml
          .replace(/^MCP_AUTH = .*$/m, 'MCP_AUTH = "static"\nMCP_RESOURCE = "https://peer.internal/mcp"')
          .replace(/^required = .*$/m, 'required = ["MCP_STATE_KEY", "MCP_STATIC_TOKENS"]'),
      },
    },
  })
})
after(() => Promise.all([worker, peers, fastmcp, odd].map((server) => server?.stop())))

const textOf = ({ content }) => content.map((block) => block.text).join('\n')
/** Returns the requests to a peer, oldest first, except the first `known`. */
const requestsTo = async (path, known = 0) => (await (await fetch(`${peers.origin}/requests?peer=${path}`)).json()).slice(known)
/** Returns whether `condition` becomes true while a tool of tests/client-worker runs: the tool makes a call, and then waits. */
async function happensDuring(args, condition) {
  let isRunning = true
  // The test does not wait for the end of the tool, so the connection may end with the Worker.
  call(worker, 'call', { ...args, pause: 20_000 }).catch(() => {}).finally(() => { isRunning = false })
  while (isRunning) {
    if (await condition()) return true
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return false
}
const list = async (server, kind) => {
  const { structuredContent, content } = await call(worker, 'list', { server, kind })
  assert.ok(structuredContent, content?.[0].text)
  return structuredContent
}

for (const { name, path, hasSessions = false, isModern = false } of PEERS) {
  describe(name, () => {
    test('lists tools, resources and prompts', async () => {
      const { items, ...rest } = await list(name, 'tools')
      assert.deepEqual(items.sort(), ['add', 'fail', 'large', 'wait'])
      assert.deepEqual(rest, { missing: [], left_out: [], is_cut: false })
      assert.deepEqual((await list(name, 'resources')).items, ['demo://text'])
      assert.deepEqual((await list(name, 'prompts')).items, ['greet'])
    })

    test('calls tools', async () => {
      const sum = await call(worker, 'call', { server: name, name: 'add', arguments: { a: 2, b: 3 } })
      assert.deepEqual([textOf(sum), sum.isError ?? false], ['5', false])
      const large = await call(worker, 'call', { server: name, name: 'large', arguments: { bytes: 300_000 } })
      assert.equal(textOf(large), 'x'.repeat(300_000))
    })

    test('gets the errors of tools', async () => {
      const failed = await call(worker, 'call', { server: name, name: 'fail' })
      assert.equal(failed.isError, true)
      assert.match(textOf(failed), /This tool always fails\./)
      const unknown = await call(worker, 'call', { server: name, name: 'nothing' })
      assert.equal(unknown.isError, true)
      assert.match(textOf(unknown), /nothing|not found/i)
    })

    test('reads a resource', async () => {
      const { contents } = JSON.parse(textOf(await call(worker, 'read', { server: name, uri: 'demo://text' })))
      assert.deepEqual([contents[0].uri, contents[0].text], ['demo://text', TEXT])
    })

    test('gets a prompt', async () => {
      const { messages } = JSON.parse(textOf(await call(worker, 'prompt', { server: name, name: 'greet', arguments: { name: 'Ada' } })))
      assert.deepEqual(messages.map(({ role, content }) => [role, content.text]), [['user', 'Greet Ada.']])
    })

    test('stops waiting for a call that takes too long', async () => {
      const late = await call(worker, 'call', { server: name, name: 'wait', arguments: { ms: 20_000 }, timeout: 200 })
      assert.equal(late.isError, true)
      assert.match(textOf(late), /did not answer within .* It is not known whether the call was executed/)
    })

    if (isPython(path)) return

    // Rule C28: the call is aborted while the tool of our own server still runs.
    test('aborts a call that takes too long', async () => {
      const { length } = await requestsTo(path)
      const isAborted = async () => (await requestsTo(path, length)).some((request) => request.method === 'POST' && request.isAborted)
      assert.ok(await happensDuring({ server: name, name: 'wait', arguments: { ms: 20_000 }, timeout: 200 }, isAborted))
    })

    // Rule C14: the Worker keeps the revision of a server from one call to the next.
    if (!hasSessions) test('sends one request for a call of a known server', async () => {
      const add = () => call(worker, 'call', { server: name, name: 'add', arguments: { a: 2, b: 3 } })
      await add()
      const { length } = await requestsTo(path)
      for (const known of [length, length + 1]) {
        await add()
        const sent = await requestsTo(path, known)
        assert.deepEqual(sent.map(({ method }) => method), ['POST'])
        assert.equal(sent[0].headers['mcp-method'], isModern ? 'tools/call' : undefined)
      }
    })

    // Rule C14, and the requests per call: a session needs two more requests, and the client ends it.
    test('sends as few requests as possible', async () => {
      const { length } = await requestsTo(path)
      await call(worker, 'call', { server: name, name: 'add', arguments: { a: 2, b: 3 }, times: 3 })
      const sent = await requestsTo(path, length)
      const once = hasSessions ? ['POST', 'POST'] : []
      const [posts, others] = [sent.filter(({ method }) => method === 'POST'), sent.filter(({ method }) => method !== 'POST')]
      assert.deepEqual(posts.map(({ method }) => method), [...once, 'POST', 'POST', 'POST'])
      assert.deepEqual([...new Set(posts.map(({ headers }) => headers['mcp-method']))], [isModern ? 'tools/call' : undefined])
      assert.deepEqual(others.map(({ method }) => method), hasSessions ? ['DELETE'] : [])
    })
  })
}

describe('a Worker behind a service binding', () => {
  test('lists tools, resources and prompts', async () => {
    assert.ok((await list('bound', 'tools')).items.includes('get-weather'))
    assert.ok((await list('bound', 'resources')).items.includes('demo://text'))
    assert.ok((await list('bound', 'templates')).items.length > 0)
    assert.ok((await list('bound', 'prompts')).items.includes('hello'))
  })

  test('calls tools, reads a resource and gets a prompt', async () => {
    const sum = await call(worker, 'call', { server: 'bound', name: 'add', arguments: { a: 2, b: 0.5 } })
    assert.deepEqual(sum.structuredContent, { total: 2.5 })
    assert.equal((await call(worker, 'call', { server: 'bound', name: 'fail' })).isError, true)
    const { contents } = JSON.parse(textOf(await call(worker, 'read', { server: 'bound', uri: 'demo://text' })))
    assert.equal(contents[0].uri, 'demo://text')
    const { messages } = JSON.parse(textOf(await call(worker, 'prompt', { server: 'bound', name: 'hello' })))
    assert.ok(messages.length > 0)
  })

  test('aborts a call that takes too long', async () => {
    const late = await call(worker, 'call', { server: 'bound', name: 'linger', timeout: 200 })
    assert.match(textOf(late), /did not answer within/)
  })
})

// Rules C16, C18 and C20.
describe('unusual answers', () => {
  for (const [name, [, expected, settings]] of Object.entries(ODD)) {
    test(name, async () => {
      const { length } = oddRequests
      const result = await call(worker, 'call', { server: name, name: 'x', ...settings })
      assert.match(textOf(result), expected)
      // The client follows no redirect and repeats no call.
      assert.deepEqual(oddRequests.slice(length).map(({ path }) => path), [`/${name}`])
    })
  }

  // Rule C56: the body is cancelled while the tool of our own server still runs.
  test('the client closes the connection when an answer is too long', async () => {
    const { length } = oddRequests
    assert.ok(await happensDuring({ server: 'endless', name: 'x' }, () => oddRequests[length]?.isAborted))
  })

  test('a server that cannot be reached', async () => {
    const { isError, content } = await call(worker, 'call', { server: 'refused', name: 'x' })
    assert.equal(isError, true)
    assert.match(content[0].text, /The server `refused` /)
  })
})

test('a list of all servers has the items of the servers that answer', async () => {
  const { structuredContent: { items, missing } } = await call(worker, 'list', { kind: 'prompts' })
  assert.equal(items.filter((name) => name === 'greet').length, PEERS.length)
  assert.ok(items.includes('hello'))
  assert.ok(missing.some((sentence) => sentence.includes('`refused`')))
})

// Rule C60.
test('no server gets the token of the caller', async () => {
  const paths = PEERS.map(({ path }) => path).filter((path) => !isPython(path))
  const all = [oddRequests, ...await Promise.all(paths.map((path) => requestsTo(path)))]
  assert.ok(all.every((requests) => requests.length > 0))
  assert.doesNotMatch(JSON.stringify(all), new RegExp(worker.token))
})

test('the program logs no failure of its own', () => {
  assert.doesNotMatch(worker.logs(), /Critical|panicked|Unhandled|"status":5/)
})
