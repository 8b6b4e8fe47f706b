// Tests the MCP client in workerd against real servers. tests/client-worker is a server whose tools send requests to them.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'

import { OPERATIONS, textOf } from './client-operations.mjs'
import { PEERS, startPeers } from './client-peers.mjs'
import { table } from './client-table.mjs'
import { call } from './requests.mjs'
import { randomToken, ROOT, startWorker } from './worker.mjs'

const TOKEN = randomToken()

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
  redirect: [(response) => response.writeHead(307, { location: '//other.example/mcp' }).end(), /redirects to another URL/],
  'closed-before-the-head': [(response) => response.destroy(), /It is not known whether the call was executed/],
  'closed-in-the-body': [(response, answer) => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': answer.length })
    response.write(answer.slice(0, 10), () => response.destroy())
  }, /It is not known whether the call was executed/],
  'length-is-too-small': [(response, answer) => {
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
/** The requests to the server with odd answers: the path, and whether the client closed the connection early. */
const oddRequests = []
async function startOdd() {
  const server = createServer(async (request, response) => {
    const entry = { path: request.url, headers: request.headers, isAborted: false }
    oddRequests.push(entry)
    response.once('close', () => { entry.isAborted = !response.writableFinished })
    const chunks = await request.toArray()
    const { id, method } = JSON.parse(Buffer.concat(chunks))
    const result = { resultType: 'complete', content: [{ type: 'text', text: 'fine' }], prompts: [] }
    const answer = JSON.stringify({ jsonrpc: '2.0', id, result })
    const [write, , settings] = ODD[request.url.slice(1)]
    // An answer that only a short time limit ends would delay the list of all servers.
    if (settings?.timeout && method !== 'tools/call') response.writeHead(200, { 'content-type': 'application/json' }).end(answer)
    else write(response, answer)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const stop = () => {
    server.closeAllConnections()
    server.close()
  }
  return { origin: `http://127.0.0.1:${server.address().port}`, stop }
}

/** The running servers. */
const running = {}
let odd
before(async () => {
  // One after the other, so that `after` stops the first if the second does not start.
  odd = await startOdd()
  running.peers = await startPeers()
  const servers = Object.fromEntries(PEERS.map(({ name, path, revision }) =>
    [name, path ? { url: running.peers.urlOf(path), revision } : { token: TOKEN }]))
  for (const name of Object.keys(ODD)) servers[name] = { url: `${odd.origin}/${name}`, revision: '2026-07-28' }
  servers.refused = { url: 'http://127.0.0.1:1/mcp' }
  running.worker = await startWorker({
    name: 'client-worker',
    migrate: false,
    vars: { SERVERS: JSON.stringify(servers) },
    services: {
      PEER: {
        name: 'everything',
        secrets: {
          MCP_STATE_KEY: randomToken(),
          MCP_STATIC_TOKENS: JSON.stringify([{ token: TOKEN, subject: 'client-worker', scopes: [] }]),
        },
        config: (toml) => toml
          .replace(/^MCP_AUTH = .*$/m, 'MCP_AUTH = "static"\nMCP_RESOURCE = "https://peer.internal/mcp"\nPAGE_SIZE = "5"')
          .replace(/^required = .*$/m, 'required = ["MCP_STATE_KEY", "MCP_STATIC_TOKENS"]'),
      },
    },
  })
})
after(() => Promise.all([running.worker, running.peers, odd].map((server) => server?.stop())))

test('docs/client.md has the table of the servers and operations of this test', async () => {
  const known = new Set(Object.keys(OPERATIONS))
  for (const { name, lacks } of PEERS) assert.deepEqual(Object.keys(lacks).filter((operation) => !known.has(operation)), [], name)
  const page = await readFile(join(ROOT, 'docs/client.md'), 'utf8')
  assert.ok(page.includes(`\n${table()}\n`), `docs/client.md must have:\n${table()}`)
})

for (const peer of PEERS) {
  const { name, path, hasSessions = false, speaks, lacks } = peer
  describe(name, () => {
    for (const [operation, run] of Object.entries(OPERATIONS)) {
      if (!Object.hasOwn(lacks, operation)) test(operation, () => run(peer, running))
    }

    if (!path) return

    // Rule C28: the call is aborted while the tool of our own server still runs.
    test('aborts a call that takes too long', async () => {
      const { length } = await running.peers.requestsTo(path)
      const isAborted = async () =>
        (await running.peers.requestsTo(path, length)).some((request) => request.method === 'POST' && request.isAborted)
      assert.ok(await happensDuring({ server: name, name: 'wait', arguments: { ms: 20_000 }, timeout: 200 }, isAborted))
    })

    // Rule C14: the Worker keeps the revision of a server from one call to the next.
    if (!hasSessions) test('sends one request for a call of a known server', async () => {
      const add = () => call(running.worker, 'call', { server: name, name: 'add', arguments: { a: 2, b: 3 } })
      await add()
      const { length } = await running.peers.requestsTo(path)
      for (const known of [length, length + 1]) {
        await add()
        const sent = await running.peers.requestsTo(path, known)
        assert.deepEqual(sent.map(({ method }) => method), ['POST'])
        assert.equal(sent[0].headers['mcp-method'], speaks === '2026-07-28' ? 'tools/call' : undefined)
      }
    })

    // Rule C14, and the requests per call: a session needs two more requests, and the client ends it.
    test('sends as few requests as possible', async () => {
      const { length } = await running.peers.requestsTo(path)
      await call(running.worker, 'call', { server: name, name: 'add', arguments: { a: 2, b: 3 }, times: 3 })
      const requests = async () => {
        const all = await running.peers.requestsTo(path, length)
        // The session of an earlier test may end now, too.
        const session = ({ headers }) => headers['mcp-session-id']
        const own = session(all.findLast(({ method }) => method === 'POST'))
        return all.filter((request) => session(request) === undefined || session(request) === own)
      }
      let sent = await requests()
      // The client ends the session when the tool has already answered.
      const deadline = Date.now() + 5_000
      while (hasSessions && sent.at(-1).method !== 'DELETE' && Date.now() < deadline) {
        await new Promise((resolve) => setTimeout(resolve, 20))
        sent = await requests()
      }
      const once = hasSessions ? ['POST', 'POST'] : []
      const [posts, others] = [sent.filter(({ method }) => method === 'POST'), sent.filter(({ method }) => method !== 'POST')]
      assert.deepEqual(posts.map(({ method }) => method), [...once, 'POST', 'POST', 'POST'])
      const isModern = speaks === '2026-07-28'
      assert.deepEqual([...new Set(posts.map(({ headers }) => headers['mcp-method']))], [isModern ? 'tools/call' : undefined])
      assert.deepEqual(others.map(({ method }) => method), hasSessions ? ['DELETE'] : [])
    })
  })
}

/** Returns whether `condition` becomes true while a tool of tests/client-worker runs: the tool makes a call, and then waits. */
async function happensDuring(args, condition) {
  let isRunning = true
  // The test does not wait for the end of the tool, so the connection may end with the Worker.
  call(running.worker, 'call', { ...args, pause: 20_000 }).catch(() => {}).finally(() => { isRunning = false })
  while (isRunning) {
    if (await condition()) return true
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  return false
}

// Rules C16, C18 and C20.
describe('unusual answers', () => {
  for (const [name, [, expected, settings]] of Object.entries(ODD)) {
    test(name, async () => {
      const { length } = oddRequests
      const result = await call(running.worker, 'call', { server: name, name: 'x', ...settings })
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
    const { isError, content } = await call(running.worker, 'call', { server: 'refused', name: 'x' })
    assert.equal(isError, true)
    assert.match(content[0].text, /The server `refused` /)
  })
})

test('a list of all servers has the items of the servers that answer', async () => {
  const { structuredContent: { items, missing } } = await call(running.worker, 'list', { kind: 'prompts' })
  assert.equal(items.filter((name) => name === 'greet').length, PEERS.filter(({ path }) => path).length)
  assert.ok(items.includes('hello'))
  assert.ok(missing.some((sentence) => sentence.includes('`refused`')))
})

// Rule C60.
test('no server gets the token of the caller', async () => {
  const paths = PEERS.flatMap(({ path }) => path ?? [])
  const all = [oddRequests, ...await Promise.all(paths.map((path) => running.peers.requestsTo(path)))]
  assert.ok(all.every((requests) => requests.length > 0))
  assert.doesNotMatch(JSON.stringify(all), new RegExp(running.worker.token))
})

test('the program logs no failure of its own', () => {
  assert.doesNotMatch(running.worker.logs(), /Critical|panicked|Unhandled|"status":5/)
})
