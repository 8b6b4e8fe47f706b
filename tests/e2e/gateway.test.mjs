// Tests examples/gateway in workerd, with real clients, in front of three real servers and one that is down.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { startPeers } from './client-peers.mjs'
import { CLIENTS } from './official-clients.mjs'
import { startRecordingProxy } from './recording-proxy.mjs'
import { modern } from './requests.mjs'
import { randomToken, ROOT } from './worker.mjs'
import { startWorkerd, startWorkerds } from './workerd.mjs'

const run = promisify(execFile)

/** The servers: one of 2026-07-28, one in Python with pages, and one of an older revision with sessions. */
const SERVERS = { server: 'server-2.4', fast: 'fastmcp/stateless', lite: 'mcp-lite-sessions' }
const MOUNTS = Object.keys(SERVERS)
/** The servers whose questions a modern client gets. */
const ASKING = ['server', 'fast']
const TOOLS = ['add', 'ask', 'fail', 'interrupt', 'large', 'locate', 'report', 'total', 'wait']
const TEXT = 'A text: déjà vu, 🙂.'
const STEPS = ['step 1', 'step 2', 'step 3']

const ofAll = (shown) => MOUNTS.flatMap(shown).sort()
/** The names and URIs that each client sees. */
const SEEN = {
  tools: ofAll((mount) => TOOLS.map((tool) => `${mount}_${tool}`)),
  resources: ofAll((mount) => `${mount}+demo://text`),
  templates: ofAll((mount) => `${mount}+demo://greetings/{name}`),
  prompts: ofAll((mount) => `${mount}_greet`),
}

let peers, worker
/** A proxy in front of each server. */
const proxies = {}
const tokens = Object.fromEntries(MOUNTS.map((mount) => [mount, randomToken()]))
before(async () => {
  peers = await startPeers()
  const upstreams = { down: { url: 'http://127.0.0.1:1/mcp' } }
  for (const [mount, path] of Object.entries(SERVERS)) {
    proxies[mount] = await startRecordingProxy()
    const { origin, pathname } = new URL(peers.urlOf(path))
    proxies[mount].target = origin
    upstreams[mount] = { url: `${proxies[mount].origin}${pathname}`, trusted: true }
  }
  worker = await startWorkerd({
    name: 'gateway', vars: { UPSTREAMS: JSON.stringify(upstreams) }, secrets: { UPSTREAM_TOKENS: JSON.stringify(tokens) },
  })
})
after(() => Promise.all([worker, peers, ...Object.values(proxies)].map((running) => running?.stop())))

for (const { name, connect, isModern } of CLIENTS) {
  test(`${name} lists and uses the items of three servers`, async () => {
    const client = await connect(worker)
    try {
      const { tools, _meta } = await client.listTools()
      assert.deepEqual(tools.map((tool) => tool.name).sort(), SEEN.tools)
      assert.deepEqual(Object.keys(_meta['edge-mcp/missing']), ['down'])
      assert.deepEqual((await client.listResources()).resources.map(({ uri }) => uri).sort(), SEEN.resources)
      const { resourceTemplates } = await client.listResourceTemplates()
      assert.deepEqual(resourceTemplates.map(({ uriTemplate }) => uriTemplate).sort(), SEEN.templates)
      assert.deepEqual((await client.listPrompts()).prompts.map((prompt) => prompt.name).sort(), SEEN.prompts)
      for (const mount of MOUNTS) {
        const call = (tool, args = {}, options) => client.callTool({ name: `${mount}_${tool}`, arguments: args }, ...options ?? [])
        assert.equal((await call('add', { a: 2, b: 3 })).content[0].text, '5')
        assert.deepEqual((await call('total', { a: 2, b: 3 })).structuredContent, { total: 5 })
        const failed = await call('fail')
        assert.deepEqual([failed.isError, /This tool always fails/.test(failed.content[0].text)], [true, true])
        for (const [uri, text] of [['demo://text', TEXT], ['demo://greetings/Ada', 'Hello, Ada.']]) {
          const { contents: [read] } = await client.readResource({ uri: `${mount}+${uri}` })
          assert.deepEqual([read.uri, read.text], [`${mount}+${uri}`, text])
        }
        const prompt = await client.getPrompt({ name: `${mount}_greet`, arguments: { name: 'Ada' } })
        assert.equal(prompt.messages[0].content.text, 'Greet Ada.')
        const messages = []
        const options = { onprogress: ({ message }) => messages.push(message) }
        await call('report', {}, name.startsWith('sdk') ? [undefined, options] : [options])
        assert.deepEqual(messages, STEPS)
        const asked = await call('ask')
        const isAsked = isModern && ASKING.includes(mount)
        assert.match(asked.content[0].text, isAsked ? /^The city is Ada\.$/ : /ask a question|[Ee]licitation/)
        assert.equal(asked.isError ?? false, !isAsked)
      }
      const refused = await client.callTool({ name: 'down_add', arguments: {} })
      assert.match(refused.content[0].text, /^The server `down` (could not be reached|is not asked now)/)
    } finally {
      await client.close()
    }
  })
}

// These clients are processes that start slowly, so they run only in workerd: the clients above run on both hosts.
const testInWorkerd = process.env.E2E_HOST ? () => {} : test

testInWorkerd('fastmcp lists and uses the items of three servers', async () => {
  const { stdout } = await run(join(ROOT, '.tools/fastmcp/bin/python'),
    [join(ROOT, 'tests/e2e/fastmcp_client.py'), worker.url, worker.token, ...MOUNTS], { timeout: 60_000 })
  const seen = JSON.parse(stdout)
  for (const [kind, names] of Object.entries(SEEN)) assert.deepEqual(seen[kind].sort(), names)
  for (const mount of MOUNTS) {
    const { asked, ...rest } = seen[mount]
    assert.deepEqual(rest, { sum: '5', text: TEXT, uri: `${mount}+demo://text`, prompt: 'Greet Ada.', progress: STEPS })
    assert.equal(asked === 'The city is Lyon.', ASKING.includes(mount), asked)
  }
})

testInWorkerd('the MCP Inspector lists and uses the items of three servers', async () => {
  const inspect = async (...args) => {
    const { stdout } = await run(join(ROOT, 'node_modules/.bin/mcp-inspector'), ['--cli', worker.url, '--transport', 'http',
      '--header', `Authorization: Bearer ${worker.token}`, ...args], { timeout: 60_000 })
    return JSON.parse(stdout)
  }
  const [tools, sum, read, prompt] = await Promise.all([
    inspect('--method', 'tools/list'),
    inspect('--method', 'tools/call', '--tool-name', 'fast_add', '--tool-arg', 'a=2', 'b=3'),
    inspect('--method', 'resources/read', '--uri', 'lite+demo://text'),
    inspect('--method', 'prompts/get', '--prompt-name', 'server_greet', '--prompt-args', 'name=Ada'),
  ])
  assert.deepEqual(tools.tools.map(({ name }) => name).sort(), SEEN.tools)
  assert.equal(sum.content[0].text, '5')
  assert.equal(read.contents[0].text, TEXT)
  assert.equal(prompt.messages[0].content.text, 'Greet Ada.')
})

test('without one server, the list has those of the others and names it', async () => {
  const { body: { result } } = await modern(worker, 'tools/list')
  assert.equal(result.tools.length, SEEN.tools.length)
  assert.match(result._meta['edge-mcp/missing'].down, /^The server `down` /)
  assert.ok(result.ttlMs <= 5000)
})

/** The catalogues of docs/gateway.md, in front of the three servers and of the knowledge base: the value of `catalogue` of each mount. */
const CATALOGUES = [
  [() => 'all', () => 'all'],
  [(mount) => mount === 'server' ? ['server_add', 'server_total'] : 'search', () => ['kb_search-passages', 'kb_read-document']],
  [() => 'search', () => 'search'],
]

// With E2E_HOST there is no D1, which the knowledge base needs.
if (!process.env.E2E_HOST) test('docs/gateway.md has the size of the list with each catalogue', async () => {
  const token = randomToken()
  const access = { token, subject: 'gateway', scopes: ['kb:read', 'kb:write'] }
  const ofServers = (catalogue) => () => Object.fromEntries(MOUNTS.map((mount) =>
    [mount, { url: peers.urlOf(SERVERS[mount]), trusted: true, catalogue: catalogue(mount) }]))
  const ofApp = (catalogue) => ([app]) => ({ kb: { url: `${app}/mcp`, trusted: true, catalogue: catalogue() } })
  const gateways = CATALOGUES.flatMap(([three, kb]) => [[ofServers(three), {}], [ofApp(kb), { kb: token }]])
  const [app, ...workers] = await startWorkerds([
    { name: 'app', database: true, secrets: { MCP_STATIC_TOKENS: JSON.stringify([access]) } },
    ...gateways.map(([upstreams, tokens]) => ({
      name: 'gateway',
      vars: (origins) => ({ UPSTREAMS: JSON.stringify(upstreams(origins)) }),
      secrets: { UPSTREAM_TOKENS: JSON.stringify(tokens) },
    })),
  ])
  try {
    const sizes = await Promise.all(workers.map(async (gateway) => {
      const { tools } = (await modern(gateway, 'tools/list')).body.result
      return { tools: tools.length, bytes: Buffer.byteLength(JSON.stringify(tools)) }
    }))
    const page = await readFile(join(ROOT, 'docs/gateway.md'), 'utf8')
    const rows = [...page.matchAll(/(\d+) tools, ([\d ]+) bytes/g)]
      .map(([, tools, bytes]) => ({ tools: Number(tools), bytes: Number(bytes.replaceAll(' ', '')) }))
    const isNear = (row, nth) => row.tools === sizes[nth]?.tools && Math.abs(row.bytes - sizes[nth].bytes) <= 0.02 * row.bytes
    assert.ok(rows.length === sizes.length && rows.every(isNear), `docs/gateway.md must have: ${JSON.stringify(sizes)}`)
  } finally {
    await app.stop()
  }
})

// C101
test('a call is one request to its server, and none to the others', async () => {
  const add = () => modern(worker, 'tools/call', { name: 'server_add', arguments: { a: 2, b: 3 } })
  // The first call asks the server for its revision.
  await add()
  const before = MOUNTS.map((mount) => proxies[mount].exchanges.length)
  await add()
  const sent = MOUNTS.map((mount, nth) => proxies[mount].exchanges.slice(before[nth]).map(({ headers }) => headers['mcp-method']))
  assert.deepEqual(sent, [['tools/call'], [], []])
})

/** Returns all requests that reached a server, as text. */
const traffic = (mount) =>
  JSON.stringify(proxies[mount].exchanges.map(({ method, url, headers, sent }) => [method, url, headers, sent]))

// C103, C8: no setting forwards it.
test('the token of the caller reaches no server, and each server gets its own', async () => {
  const headers = { 'x-tenant': 'red', cookie: 'a=b' }
  await modern(worker, 'tools/list', {}, 1, headers)
  for (const mount of MOUNTS) {
    await modern(worker, 'tools/call', { name: `${mount}_add`, arguments: { a: 2, b: 3 } }, 1, headers)
    const sent = traffic(mount)
    for (const secret of [worker.token, 'x-tenant', 'a=b']) assert.ok(!sent.includes(secret), `${mount}: ${secret}`)
    for (const other of MOUNTS) assert.equal(sent.includes(tokens[other]), other === mount, `${mount} gets the token of ${other}`)
  }
})
