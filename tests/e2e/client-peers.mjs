// The real servers for the tests of the MCP client. All servers in JavaScript run in one process, fastmcp in another, and our own Worker in
// the workerd of the test.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

import { ROOT } from './worker.mjs'

const FOLDER = join(ROOT, 'benches/peers')
const PYTHON = join(ROOT, '.tools/fastmcp/bin/python')

const MODERN = '2026-07-28'
const LEGACY = '2025-11-25'

/** The reasons why a server does not offer an operation. */
const ONE_PAGE = 'The library returns each list in one page.'
const NO_COMPLETION = 'The library has no completion.'
const ONLY_LISTED = 'The library reads only the resources that it lists.'
const NO_LOG = 'The library does not send log messages.'
const IS_MODERN = 'Revision 2026-07-28 does not have it.'
const IS_LEGACY = 'Only revision 2026-07-28 has it.'
const NO_SESSION = 'The server has no sessions.'
const NO_EVENT_IDS = 'The library gives no ids to the events of an answer.'
const NOT_CANCELLED = 'The library does not tell a tool that its call is cancelled.'

const lacksOf2026 = { resumption: IS_MODERN, 'session end': IS_MODERN }
const lacksWithSession = { 'passed questions': IS_LEGACY, 'header parameters': IS_LEGACY }
const lacksWithoutSession = { ...lacksWithSession, questions: NO_SESSION, resumption: NO_SESSION, 'session end': NO_SESSION }
const lacksOfMastra = { pages: ONE_PAGE, template: ONLY_LISTED, completion: NO_COMPLETION }
const lacksOfLite = { pages: ONE_PAGE, completion: NO_COMPLETION, log: NO_LOG, cancellation: NOT_CANCELLED }

/** The names and values of the demo items: the same in benches/peers/demo/items.mjs and in fastmcp_peer.py. */
const ITEMS = {
  server: 'peer',
  tools: ['add', 'ask', 'fail', 'interrupt', 'large', 'locate', 'report', 'total', 'wait'],
  resources: ['demo://text'],
  templates: ['demo://greetings/{name}'],
  prompts: ['greet'],
  structured: { name: 'total', arguments: { a: 2, b: 3 }, result: { total: 5 } },
  text: 'A text: déjà vu, 🙂.',
  expansion: { uri: 'demo://greetings/Ada', text: 'Hello, Ada.' },
  prompt: { name: 'greet', arguments: { name: 'Ada' }, text: 'Greet Ada.' },
  completion: { of: 'demo://greetings/{name}', argument: 'name', typed: 'A', values: ['Ada', 'Alan'] },
  progress: { name: 'report', messages: ['step 1', 'step 2', 'step 3'] },
  question: { name: 'ask', message: 'Which city?', content: { city: 'Lyon' }, text: 'The city is Lyon.' },
  parameter: { name: 'locate', arguments: { city: 'Zürich 🙂' }, header: 'mcp-param-city', text: 'located Zürich 🙂' },
  slow: { name: 'wait', arguments: { ms: 20_000 } },
}

/** The items of examples/everything. */
const OWN_ITEMS = {
  server: 'everything',
  tools: ['add', 'fail', 'linger', 'work'],
  resources: ['demo://text'],
  templates: ['weather://{city}{?days}'],
  prompts: ['hello', 'review'],
  structured: { name: 'add', arguments: { a: 2, b: 0.5 }, result: { total: 2.5 } },
  text: 'Plain text',
  expansion: { uri: 'weather://London?days=2', text: 'London: rainy for 2 days' },
  prompt: { name: 'hello', arguments: {}, text: 'Say hello.' },
  completion: { of: 'weather://{city}{?days}', argument: 'city', typed: 'L', values: ['Lima', 'Lisbon', 'London'] },
  progress: { name: 'work', messages: ['reading', 'thinking', 'writing'] },
  question: {
    name: 'test_input_required_result_elicitation', message: 'What is your name?', content: { name: 'Lyon' }, text: 'Hello, Lyon!',
  },
  parameter: { name: 'test_x_mcp_header', arguments: { region: 'Zürich 🙂' }, text: 'Searching in "Zürich 🙂"' },
  slow: { name: 'linger', arguments: {} },
}

/**
 * @typedef {object} Peer
 * @property {string} name the name for the client
 * @property {string} title the name for people
 * @property {string} [path] the path of the endpoint, which begins with `fastmcp/` for fastmcp. Without a path, the server is the Worker
 *   behind the service binding
 * @property {string} speaks the revision that the client and the server agree on
 * @property {string} [revision] the revision if the client does not negotiate
 * @property {boolean} [hasSessions]
 * @property {typeof ITEMS} items
 * @property {Record<string, string>} lacks the operations that the server does not offer, with the reasons
 */
const peer = (name, title, path, options) => ({ name, title, path, speaks: MODERN, items: ITEMS, ...options })
const legacy = { speaks: LEGACY }
const pinned = { speaks: LEGACY, revision: LEGACY }
const SERVER = '`@modelcontextprotocol/server` 2.4'
const SDK = '`@modelcontextprotocol/sdk` 1.32'
const MASTRA = '`@mastra/mcp` 1.18'
const LITE = '`mcp-lite` 0.10'
const FASTMCP = '`fastmcp` 4.1'

/** @type {Peer[]} */
export const PEERS = [
  peer('server', SERVER, 'server-2.4', { lacks: { pages: ONE_PAGE, ...lacksOf2026 } }),
  peer('server-legacy', `${SERVER}, in revision 2025-11-25`, 'server-2.4', {
    ...pinned, lacks: { pages: ONE_PAGE, ...lacksWithoutSession },
  }),
  peer('sdk-sessions', `${SDK}, with sessions`, 'sdk-1.32-sessions', {
    ...legacy, hasSessions: true, lacks: { pages: ONE_PAGE, ...lacksWithSession },
  }),
  peer('sdk-stateless', `${SDK}, without sessions`, 'sdk-1.32-stateless', {
    ...legacy, lacks: { pages: ONE_PAGE, ...lacksWithoutSession },
  }),
  peer('mastra', MASTRA, 'mastra', { lacks: { ...lacksOfMastra, ...lacksOf2026 } }),
  peer('mastra-sessions', `${MASTRA}, with sessions`, 'mastra-sessions', {
    ...legacy, hasSessions: true, lacks: { ...lacksOfMastra, ...lacksWithSession },
  }),
  peer('mastra-stateless', `${MASTRA}, without sessions`, 'mastra-stateless', {
    ...legacy, lacks: { ...lacksOfMastra, cancellation: NOT_CANCELLED, ...lacksWithoutSession },
  }),
  peer('lite-sessions', `${LITE}, with sessions`, 'mcp-lite-sessions', {
    speaks: '2025-06-18',
    revision: '2025-06-18',
    hasSessions: true,
    lacks: { ...lacksOfLite, ...lacksWithSession, resumption: NO_EVENT_IDS },
  }),
  peer('lite-stateless', `${LITE}, without sessions`, 'mcp-lite-stateless', {
    speaks: '2025-03-26', lacks: { ...lacksOfLite, ...lacksWithoutSession },
  }),
  peer('fastmcp', FASTMCP, 'fastmcp/stateless', { lacks: lacksOf2026 }),
  peer('fastmcp-sessions', `${FASTMCP}, with sessions`, 'fastmcp/sessions', { ...pinned, hasSessions: true, lacks: lacksWithSession }),
  peer('fastmcp-stateless', `${FASTMCP}, without sessions`, 'fastmcp/stateless', { ...pinned, lacks: lacksWithoutSession }),
  peer('bound', 'a Worker of this library, by service binding', undefined, { items: OWN_ITEMS, lacks: lacksOf2026 }),
]

/**
 * Starts the servers that are not Workers.
 *
 * @returns {Promise<Peers>}
 *
 * @typedef {object} Peers
 * @property {(path: string) => string} urlOf returns the URL of an endpoint
 * @property {(path: string, known?: number) => Promise<Request[]>} requestsTo returns the requests to an endpoint, oldest first, except the
 *   first `known`
 * @property {() => Promise<unknown>} stop
 *
 * @typedef {object} Request
 * @property {string} method
 * @property {Record<string, string>} headers
 * @property {boolean} isAborted whether the client closed the connection before the end of the response
 * @property {boolean} isCancelled whether a tool learned that the client cancelled the request
 */
export async function startPeers() {
  if (!existsSync(join(FOLDER, 'node_modules/.made-from-lock'))) {
    throw new Error('The servers in benches/peers are not installed. Run scripts/setup --client-peers, which needs the npm registry.')
  }
  if (!existsSync(PYTHON)) throw new Error('fastmcp is not installed. Run scripts/setup --client-peers, which needs PyPI.')
  const [node, python] = await Promise.all([
    start(process.execPath, [join(FOLDER, 'serve.mjs')]),
    start(PYTHON, [join(ROOT, 'tests/e2e/fastmcp_peer.py')]),
  ])
  const placeOf = (path) => path.startsWith('fastmcp/') ? [python.origin, path.slice('fastmcp/'.length)] : [node.origin, path]
  return {
    urlOf: (path) => `${placeOf(path).join('/')}/mcp`,
    requestsTo: async (path, known = 0) => {
      const [origin, name] = placeOf(path)
      return (await (await fetch(`${origin}/requests?peer=${name}`)).json()).slice(known)
    },
    logs: () => node.logs() + python.logs(),
    stop: () => Promise.all([node.stop(), python.stop()]),
  }
}

/** Starts a program that prints its origin. It ends when its standard input ends, also if this process is killed. */
async function start(program, args) {
  const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'pipe'] })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => { output += text })
  const ended = once(child, 'exit')
  const begun = Promise.race([once(createInterface(child.stdout), 'line'), ended.then(() => [undefined])])
  const [origin] = await begun
  if (!origin?.startsWith('http:')) throw new Error(`${args[0]} did not start:\n${output}`)
  const stop = async () => {
    child.kill('SIGKILL')
    await ended
  }
  return { origin, logs: () => output, stop }
}
