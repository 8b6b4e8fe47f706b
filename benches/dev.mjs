// Measures what a developer waits for: the first answer of a new server, and the time from a saved file to the changed answer. Beside it, the
// same with a server in TypeScript. `scripts/bench dev` runs this program, and documents its options.

import { spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

import { firstToken } from '../scripts/lib/dev-vars.mjs'

const ROOT = fileURLToPath(new URL('../', import.meta.url))

/** The goals in seconds. */
const GOALS = { cold: 120, warm: 40, template: 3, 'knowledge base': 4 }

/** The longest time in milliseconds for an answer. */
const LONGEST = 600_000

const { values: { rounds } } = parseArgs({ options: { rounds: { type: 'string', default: '5' } } })

const WRANGLER = join(ROOT, 'node_modules/.bin/wrangler')
const folder = mkdtempSync(join(tmpdir(), 'bench-dev-'))
const groups = new Set()
/** The files that the benchmark changes, with their content. */
const originals = new Map()
process.on('exit', () => {
  for (const pid of groups) kill(pid)
  for (const [file, text] of originals) writeFileSync(file, text)
  rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
})
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1))

function kill(pid) {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if (error.code !== 'ESRCH') throw error
  }
}

const freePort = async () => {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  return port
}

/**
 * @typedef {object} Server
 * @property {string} name
 * @property {string} home the folder in which the command runs
 * @property {string[]} command starts the server; the port and options of wrangler follow
 * @property {string} file the file that the benchmark changes
 * @property {string} sentence the description of a tool in this file
 * @property {string} [secrets] the file with the access token
 */

/** Creates a server from the template. @returns {Server} */
function template(name) {
  const home = join(folder, name)
  const { status, stderr } = spawnSync(join(ROOT, 'scripts/new'), [home, '--name', name], { encoding: 'utf8' })
  if (status !== 0) throw new Error(stderr)
  return {
    name, home, command: ['npm', 'run', 'dev', '--'], file: join(home, 'src/tools.rs'), sentence: 'Books a desk for a day, for the caller.',
    secrets: join(home, '.dev.vars'),
  }
}

/** Returns the knowledge base, which uses every feature but the gateway. @returns {Server} */
function knowledgeBase() {
  const secrets = join(folder, 'knowledge-base.vars')
  const random = () => randomBytes(32).toString('base64url')
  const tokens = [{ token: random(), subject: 'bench', scopes: ['kb:read', 'kb:write'] }]
  writeFileSync(secrets, `MCP_STATIC_TOKENS='${JSON.stringify(tokens)}'\nMCP_STATE_KEY='${random()}'\n`, { mode: 0o600 })
  return {
    name: 'knowledge base', home: ROOT, command: [WRANGLER, 'dev', '--persist-to', join(folder, 'state'), '--env-file', secrets],
    file: join(ROOT, 'app/src/tools.rs'), sentence: 'Deletes a document.', secrets,
  }
}

/** Creates a server with one tool for the package agents. @returns {Server} */
function agents() {
  const home = join(folder, 'agents')
  mkdirSync(home)
  symlinkSync(join(ROOT, 'benches/peers/node_modules'), join(home, 'node_modules'))
  const sentence = 'Books a desk for a day.'
  writeFileSync(join(home, 'index.ts'), `import { McpServer } from '@modelcontextprotocol/server'
import { createMcpHandler } from 'agents/mcp/server'
import { z } from 'zod'

function server(): McpServer {
  const server = new McpServer({ name: 'desks', version: '1.0.0' })
  const inputSchema = z.object({ date: z.string(), desk: z.number().int().min(1).max(20) })
  server.registerTool('book-desk', { description: '${sentence}', inputSchema }, async ({ date, desk }) => (
    { content: [{ type: 'text', text: JSON.stringify({ date, desk }) }] }))
  return server
}

export default { fetch: createMcpHandler(server) }
`)
  writeFileSync(join(home, 'wrangler.toml'), 'name = "desks"\nmain = "index.ts"\ncompatibility_date = "2026-11-01"\ncompatibility_flags = ["nodejs_compat"]\n')
  return { name: 'agents', home, command: [WRANGLER, 'dev'], file: join(home, 'index.ts'), sentence }
}

/** Asks for the tools, and returns the text of the answer, or nothing if the server does not answer. */
async function ask({ url, secrets }) {
  const token = secrets && firstToken(readFileSync(secrets, 'utf8'))
  const headers = { 'content-type': 'application/json', accept: 'application/json, text/event-stream', ...(token ? { authorization: `Bearer ${token}` } : {}) }
  try {
    const response = await fetch(url, { method: 'POST', headers, body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}', signal: AbortSignal.timeout(60_000) })
    return await response.text()
  } catch {
    return ''
  }
}

/** Returns the seconds until the answer contains the sentence. */
async function until(server, sentence) {
  const begun = performance.now()
  let answer = ''
  while (!answer.includes(sentence)) {
    if (server.child.exitCode !== null || performance.now() - begun > LONGEST) throw new Error(`${server.name} does not answer:\n${server.output}\n${answer}`)
    await sleep(10)
    answer = await ask(server)
  }
  return (performance.now() - begun) / 1000
}

/** Starts the server, and returns the seconds until its first answer. */
async function start(server, env = {}) {
  const port = await freePort()
  const begun = performance.now()
  const [program, ...args] = [...server.command, '--ip', '127.0.0.1', '--port', String(port), '--inspector-port', '0', '--show-interactive-dev-session=false']
  // The child process has a group of its own, so one signal ends wrangler and its processes.
  const child = spawn(program, args, { cwd: server.home, detached: true, stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, ...env } })
  groups.add(child.pid)
  Object.assign(server, { child, output: '', url: `http://127.0.0.1:${port}/mcp` })
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => { server.output += text })
  await until(server, server.sentence)
  return (performance.now() - begun) / 1000
}

async function stop({ child }) {
  kill(child.pid)
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  groups.delete(child.pid)
}

/** Changes the file, and returns the seconds until the answer has the change. */
async function save(server, round) {
  if (!originals.has(server.file)) originals.set(server.file, readFileSync(server.file, 'utf8'))
  const changed = `${server.sentence} Change ${round}.`
  writeFileSync(server.file, originals.get(server.file).replace(server.sentence, changed))
  return until(server, changed)
}

const seconds = (number) => number.toFixed(1)
const median = (numbers) => numbers.toSorted((one, other) => one - other)[numbers.length >> 1]
const rows = []
/** Adds a row to the table, and prints it. */
function report(what, all, goal) {
  const met = goal === undefined ? '' : `${goal} s: ${Math.max(...all) <= goal ? 'met' : 'missed'}`
  rows.push(met)
  console.log(`| ${what} | ${all.map(seconds).join(' ')} | ${seconds(median(all))} | ${met} |`)
}

console.log('| measured | seconds | median | goal |\n|---|---|--:|---|')
// A cache of its own, which is empty: the tools and the dependencies are compiled. cargo and npm have downloaded them before.
const empty = { XDG_CACHE_HOME: join(folder, 'cache'), CARGO_BUILD_BUILD_DIR: join(folder, 'build') }
const first = template('template')
report('template, first start on a machine', [await start(first, empty)], GOALS.cold)
await stop(first)
const second = template('second')
report('template, first start of another server', [await start(second, empty)], GOALS.warm)
await stop(second)
const servers = [first, knowledgeBase(), agents()]
for (const server of servers) report(`${server.name}, start`, [await start(server, server === first ? empty : {})])
const times = new Map(servers.map((server) => [server, []]))
for (let round = 1; round <= Number(rounds); round++) {
  for (const server of servers) {
    times.get(server).push(await save(server, round))
    await sleep(500)
  }
}
for (const server of servers) report(`${server.name}, save to changed answer`, times.get(server), GOALS[server.name])
if (rows.some((met) => met.endsWith('missed'))) process.exitCode = 1
process.exit()
