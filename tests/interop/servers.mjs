// Compares a foreign server with what a client sees of it through examples/gateway: the items, their texts and schemas, one call, one resource.

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

import { startPeers } from '../e2e/client-peers.mjs'
import { ROOT } from '../e2e/worker.mjs'
import { freePort, startWorkerd } from '../e2e/workerd.mjs'
import { commandIn, install } from './install.mjs'
import { startServer } from './programs.mjs'
import { BRIDGES } from './subjects.mjs'

const SCRIPTS = join(ROOT, 'tests/interop/servers')
const MOUNT = 'm'
/** Members of a tool that a gateway does not change. It adds a `type` to a schema, so the schemas are compared without it. */
const MEMBERS = {
  title: ({ title, annotations }) => title ?? annotations?.title,
  description: ({ description }) => description || undefined,
  inputSchema: ({ inputSchema }) => ({ ...inputSchema, type: 'object' }),
  outputSchema: ({ outputSchema }) => outputSchema,
}

/** The servers of the tests of the MCP client, which run in one process each for Node.js and Python. */
let peers
export const stopPeers = async () => (await peers)?.stop()

/**
 * Starts a server, and returns its URL.
 *
 * @param {import('./subjects.mjs').Server} subject
 */
export async function startSubject(subject, { scripts = SCRIPTS, port: wanted } = {}) {
  if (subject.peer) {
    peers ??= startPeers()
    return { url: (await peers).urlOf(subject.peer), logs: (await peers).logs, stop: () => {} }
  }
  const folder = await install(subject)
  const port = wanted ?? await freePort()
  const data = await mkdtemp(join(tmpdir(), 'interop-'))
  const browser = (await readFile(join(ROOT, '.tools/browser'), 'utf8').catch(() => '')).trim()
  const filled = (text) => text.replaceAll('{port}', port).replaceAll('{data}', data).replaceAll('{folder}', folder).replaceAll('{browser}', browser)
  let command = await commandIn(folder, subject.registry, subject.start, scripts)
  let path = subject.path ?? '/mcp'
  if (subject.behind) {
    const bridge = BRIDGES[subject.behind]
    const [program, ...args] = bridge.start
    command = [...await commandIn(await install(bridge), bridge.registry, [program], scripts), ...args.flatMap((part) => {
      if (part === '{command}') return command
      return part === '{command line}' ? command.map((each) => `'${each}'`).join(' ') : part
    })]
    path = bridge.path
  }
  const env = Object.fromEntries(Object.entries({ PORT: '{port}', ...subject.env }).map(([key, value]) => [key, filled(value)]))
  const server = await startServer(command.map(filled), port, { cwd: data, env }).catch(async (error) => {
    await rm(data, { recursive: true, force: true })
    throw error
  })
  const stop = async () => {
    await server.stop()
    await rm(data, { recursive: true, force: true, maxRetries: 5 })
  }
  return { url: `http://${subject.host ?? '127.0.0.1'}:${port}${path}`, logs: server.logs, stop }
}

/** Connects the official client, by default in the newest revision that the server has. */
async function connect(url, token, mode = 'auto') {
  const client = new Client({ name: 'interop', version: '1.0.0' }, { versionNegotiation: { mode } })
  const headers = token ? { Authorization: `Bearer ${token}` } : {}
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  return client
}

/** Lists the items of a server: nothing of a kind that it does not have. */
async function listed(client) {
  const { tools, resources, prompts } = client.getServerCapabilities()
  const no = (error) => {
    if (error.code === -32601) return {}
    throw error
  }
  return {
    tools: tools ? (await client.listTools()).tools : [],
    resources: resources ? (await client.listResources().catch(no)).resources ?? [] : [],
    templates: resources ? (await client.listResourceTemplates().catch(no)).resourceTemplates ?? [] : [],
    prompts: prompts ? (await client.listPrompts().catch(no)).prompts ?? [] : [],
  }
}

/** Returns whether a request failed, and the texts of its result. */
const answerOf = (promise) => promise.then(
  ({ isError = false, content, contents }) => ({
    failed: isError, texts: (content ?? contents).map(({ text, data, blob, resource }) => text ?? data ?? blob ?? resource?.text ?? ''),
  }),
  (error) => ({ failed: true, error: error.code }),
)

/** Whether the gateway passes an answer on. It makes a result of its own from a JSON-RPC error. */
const isSame = (direct, through) => (direct.error === undefined ? isDeepStrictEqual(direct, through) : through.failed)
const shown = (answer) => JSON.stringify(answer).slice(0, 200)

const nameThroughGateway = (name) => (/^[\w.-]{1,46}$/.test(name) ? `${MOUNT}_${name}` : undefined)
const uriThroughGateway = (uri) => (/^(ui|skill):\/\//.test(uri) ? undefined : `${MOUNT}+${uri}`)

/** Returns the differences between the items of a server, and those of the gateway in front of it. */
export function differences(direct, mounted) {
  const found = []
  const kinds = [['tools', 'name', nameThroughGateway], ['prompts', 'name', nameThroughGateway],
    ['resources', 'uri', uriThroughGateway], ['templates', 'uriTemplate', uriThroughGateway]]
  for (const [kind, key, renamed] of kinds) {
    const through = new Map(mounted[kind].map((item) => [item[key], item]))
    // The gateway makes a name of its own from a long name, so these are only counted.
    const missing = direct[kind].filter((item) => renamed(item[key]) && !through.has(renamed(item[key]))).map((item) => item[key])
    const [ofServer, ofGateway] = [direct[kind].length, mounted[kind].length]
    if (missing.length) found.push(`${kind} are missing: ${missing.slice(0, 3).join(', ')}${missing.length > 3 ? ` and ${missing.length - 3} more` : ''}`)
    else if (ofServer !== ofGateway) found.push(`${ofServer} ${kind}, but ${ofGateway} through the gateway`)
    if (kind !== 'tools') continue
    for (const [member, of] of Object.entries(MEMBERS)) {
      const changed = direct.tools.filter((tool) => {
        const other = through.get(renamed(tool.name))
        return other && !isDeepStrictEqual(of(tool), of(other))
      })
      if (changed.length) found.push(`\`${member}\` differs: ${changed.length} of ${direct.tools.length} tools`)
    }
  }
  return found
}

/** Calls a tool, after another call if there is one, and returns its answer. */
async function callOf(client, name, args, before) {
  if (before) await answerOf(client.callTool({ name: before[0], arguments: before[1] }))
  return answerOf(client.callTool({ name, arguments: args }))
}

/** Starts the gateway in front of a server. */
const startGateway = (url, { token, mount }) => startWorkerd({
  name: 'gateway',
  vars: { UPSTREAMS: { [MOUNT]: { url, trusted: true, ...mount } } },
  secrets: { UPSTREAM_TOKENS: JSON.stringify({ [MOUNT]: token }) },
})

/** Returns the facts about a server, and the problems of the gateway in front of it. */
export async function judgeServer(subject) {
  const { token, mode, before, call: [name, args] } = subject
  const server = await startSubject(subject)
  const clients = []
  let gateway
  try {
    const direct = await connect(server.url, token, mode).catch((error) => {
      throw new Error(`the official client cannot connect directly: ${error.message}\n${server.logs().slice(-500)}`)
    })
    clients.push(direct)
    const items = await listed(direct)
    const facts = {
      revision: direct.getNegotiatedProtocolVersion(),
      items: Object.fromEntries(Object.entries(items).map(([kind, all]) => [kind, all.length])),
    }
    gateway = await startGateway(server.url, subject)
    const through = await connect(gateway.url, gateway.token)
    clients.push(through)
    let mounted
    try {
      mounted = await listed(through)
    } catch (error) {
      return { facts, problems: [`the list of the gateway: ${error.message}`] }
    }
    const missing = (await through.listTools())._meta?.['edge-mcp/missing']
    if (missing) return { facts, problems: [`the gateway cannot reach it: ${Object.values(missing).join(' ')}`] }
    const problems = differences(items, mounted)
    const [expected, called] = [
      await callOf(direct, name, args, before),
      await callOf(through, `${MOUNT}_${name}`, args, before && [`${MOUNT}_${before[0]}`, before[1]]),
    ]
    if (!isSame(expected, called)) problems.push(`\`${name}\` answers ${shown(called)} instead of ${shown(expected)}`)
    if (items.resources.length > 0 && uriThroughGateway(items.resources[0].uri)) {
      const { uri } = items.resources[0]
      const [expected, read] = [
        await answerOf(direct.readResource({ uri })), await answerOf(through.readResource({ uri: `${MOUNT}+${uri}` })),
      ]
      if (!isSame(expected, read)) problems.push(`the resource ${uri} is ${shown(read)} instead of ${shown(expected)}`)
    }
    return { facts, problems }
  } finally {
    await Promise.all(clients.map((client) => client.close().catch(() => {})))
    await gateway?.stop()
    await server.stop()
  }
}
