// Runs a foreign client against the knowledge base and examples/everything. If it fails there, it also runs against the reference server: a
// client that fails there too does not fail because of us.

import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'

import { modern } from '../e2e/requests.mjs'
import { ROOT } from '../e2e/worker.mjs'
import { startWorkerds } from '../e2e/workerd.mjs'
import { commandIn, install } from './install.mjs'
import { resultOf } from './programs.mjs'
import { startSubject } from './servers.mjs'
import { REFERENCE } from './subjects.mjs'

const SCRIPTS = join(ROOT, 'tests/interop/clients')

/** The requests of each client, and a part of each answer. */
const TASKS = {
  'knowledge base': {
    tool: 'search-documents', arguments: { query: 'hallo' }, resource: 'kb://documents/greeting', prompt: 'analyze-code',
    promptArguments: { code: 'x' },
    expected: { call: 'greeting', read: 'Hallo from a document', prompt: 'Analyze this code' },
  },
  everything: {
    tool: 'add', arguments: { a: 2, b: 0.5 }, resource: 'demo://text', prompt: 'hello', promptArguments: {},
    expected: { call: '2.5', read: 'Plain text', prompt: 'Say hello.' },
  },
  reference: {
    tool: 'echo', arguments: { message: 'hallo' }, resource: 'demo://resource/static/document/architecture.md', prompt: 'simple-prompt',
    promptArguments: {}, expected: { call: 'hallo', read: 'Everything Server', prompt: 'simple prompt' },
  },
}
const OURS = ['knowledge base', 'everything']

/** Starts our servers. The reference starts with its first use. */
export async function startTargets() {
  const [kb, everything] = await startWorkerds([
    { name: 'app', database: true },
    // It needs no token, so clients that cannot send headers can use it.
    { name: 'everything' },
  ])
  const document = { slug: 'greeting', title: 'Greeting', text: 'Hallo from a document' }
  await modern(kb, 'tools/call', { name: 'save-document', arguments: document })
  const workers = { 'knowledge base': kb, everything }
  const targets = {}
  for (const [name, { url, token }] of Object.entries(workers)) {
    const { body } = await modern({ url, token }, 'tools/list')
    targets[name] = { url, token, tools: body.result.tools.length }
  }
  let reference
  return {
    targets,
    async reference() {
      reference ??= startSubject(REFERENCE)
      return { url: (await reference).url, token: 'none' }
    },
    async stop() {
      await kb.stop()
      await (await reference)?.stop()
    },
  }
}

/** Returns the problems in what a client has seen of a target. */
export function problemsOf(seen, { tools }, expected) {
  const problems = []
  if (seen.tools === undefined || (tools !== undefined && seen.tools.length !== tools)) {
    problems.push(`it lists ${seen.tools?.length ?? 'no'} tools instead of ${tools}`)
  }
  for (const [operation, part] of Object.entries(expected)) {
    if (operation in seen && !JSON.stringify(seen[operation]).includes(part)) {
      problems.push(`${operation}: ${JSON.stringify(seen[operation]).slice(0, 300)} does not contain \`${part}\``)
    }
  }
  return problems
}

/** Returns the facts about a client, and its problems, by target. */
export async function judgeClient(subject, running) {
  const folder = await install(subject)
  const isNode = subject.registry === 'npm'
  if (isNode) await copyFile(join(SCRIPTS, subject.driver), join(folder, subject.driver))
  const use = async (name, { url, token, tools }) => {
    const { expected, ...task } = TASKS[name]
    const command = await commandIn(folder, subject.registry,
      isNode ? ['driver.mjs', `./${subject.driver}`] : ['driver.py', join(SCRIPTS, subject.driver)], SCRIPTS)
    try {
      const seen = await resultOf([...command, JSON.stringify({ ...task, url, token })], { cwd: folder })
      return { operations: Object.keys(seen), problems: problemsOf(seen, { tools }, expected) }
    } catch (error) {
      return { operations: [], problems: [error.message.trim()] }
    }
  }
  const facts = { operations: [] }
  const problems = []
  for (const name of OURS) {
    if (subject.skips?.[name]) continue
    const result = await use(name, running.targets[name])
    facts.operations = [...new Set([...facts.operations, ...result.operations])]
    facts[name] = result.problems.length === 0
    problems.push(...result.problems.map((problem) => `${name}: ${problem}`))
  }
  if (problems.length > 0) facts.reference = (await use('reference', await running.reference())).problems
  return { facts, problems }
}
