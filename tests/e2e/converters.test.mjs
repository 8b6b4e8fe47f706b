// Lists the tools of the knowledge base with client libraries that convert their schemas for a model. A library that cannot read a schema
// fails, and then its users have no tool of the server. Also confirms the rules about schemas of the check before publishing.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'

import { createMCPClient } from '@ai-sdk/mcp'
import { asSchema } from '@ai-sdk/provider-utils'

import { ROOT } from './worker.mjs'
import { startApp } from './workerd.mjs'

const run = promisify(execFile)

const TOOLS = [
  'search-passages', 'related-passages', 'search-documents', 'read-document', 'save-document', 'delete-document', 'list-set',
  'run_ingest', 'missing-skill-files', 'save-skill-files', 'publish-skills', 'ask_librarian',
]

/** The Python libraries, and their virtual environments in .tools/. They need different versions of the package `mcp`. */
const PYTHON = { 'llama-index': 'converters', 'openai-agents': 'converters', langchain: 'langchain' }

/**
 * By rule: a schema that breaks it, one that works, and the libraries that confirm it, with their error or a place in their result. A rule of
 * other clients is `documented` in docs/compatibility.md.
 */
const EXAMPLES_FILE = join(ROOT, 'src/server/problems/examples.json')
const EXAMPLES = JSON.parse(readFileSync(EXAMPLES_FILE, 'utf8'))

let worker
before(async () => {
  worker = await startApp({ vars: { LIBRARIAN_MODEL_URL: 'http://localhost:9/v1', LIBRARIAN_MODEL: 'none' } })
})
after(() => worker?.stop())

const runs = new Map()

/** Returns what converters.py makes of the tools of the knowledge base and of the examples of the check before publishing. */
async function python(library) {
  const python = join(ROOT, '.tools', PYTHON[library], 'bin/python')
  if (!existsSync(python)) throw new Error(`${library} is not installed. Run scripts/setup --client-peers, which needs PyPI.`)
  const args = [join(ROOT, 'tests/e2e/converters.py'), library, worker.url, worker.token, EXAMPLES_FILE]
  if (!runs.has(library)) runs.set(library, run(python, args).then(({ stdout }) => JSON.parse(stdout)))
  return runs.get(library)
}

/** Returns the schemas that the AI SDK makes of the tools behind a transport. */
async function convertedByAiSdk(transport) {
  const client = await createMCPClient({ transport })
  try {
    const converted = {}
    for (const [name, tool] of Object.entries(await client.tools())) converted[name] = await asSchema(tool.inputSchema).jsonSchema
    return converted
  } finally {
    await client.close()
  }
}

/** A transport to a server in this process with one tool. */
function serverWith(inputSchema) {
  const results = {
    initialize: ({ protocolVersion }) => ({ protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'example', version: '1.0.0' } }),
    'tools/list': () => ({ tools: [{ name: 'example', description: 'An example.', inputSchema }] }),
  }
  return {
    async start() {},
    async close() { this.onclose?.() },
    async send({ id, method, params }) {
      if (id === undefined) return
      const answer = method in results ? { result: results[method](params) } : { error: { code: -32601, message: 'Method not found' } }
      this.onmessage({ jsonrpc: '2.0', id, ...answer })
    },
  }
}

async function examplesByAiSdk() {
  const results = {}
  for (const [rule, schemas] of Object.entries(EXAMPLES)) {
    results[rule] = {}
    for (const kind of ['breaks', 'works']) {
      const converted = convertedByAiSdk(serverWith(schemas[kind]))
      results[rule][kind] = await converted.then(({ example }) => ({ converted: example }), (error) => ({ error: String(error) }))
    }
  }
  return results
}

/** Returns the names of all properties in a schema and its definitions. */
function propertiesIn(schema) {
  if (schema === null || typeof schema !== 'object') return []
  return [...Object.keys(schema.properties ?? {}), ...Object.values(schema).flatMap(propertiesIn)]
}

const ofServer = () => ({ type: 'http', url: worker.url, headers: { Authorization: `Bearer ${worker.token}` } })

/** The libraries: their names, and what converts the tools of the knowledge base and the examples. */
const CONVERTERS = [
  ...Object.keys(PYTHON).map((library) => [library, async () => (await python(library)).tools, async () => (await python(library)).examples]),
  ['the AI SDK', () => convertedByAiSdk(ofServer()), examplesByAiSdk],
]

const at = (value, pointer) => pointer.split('/').slice(1).reduce((part, key) => part?.[key], value)

// The Python programs mostly load modules, so they run at the same time.
describe('converters of schemas', { concurrency: true }, () => {
  for (const [name, convert, convertExamples] of CONVERTERS) {
    test(`${name} reads the schemas of all tools`, async () => {
      const converted = await convert()
      assert.deepEqual(Object.keys(converted), TOOLS)
      for (const [tool, schema] of Object.entries(converted)) assert.equal(schema.type, 'object', tool)
      const properties = new Set(propertiesIn(converted['search-passages']))
      for (const property of ['queryText', 'topK', 'filter']) assert.ok(properties.has(property), `${property} of search-passages`)
      // LlamaIndex drops the properties of an object in `anyOf`. The description names them.
      const { description } = converted['search-passages'].properties.filter
      for (const property of ['slug', 'tags', '$and', '$or', '$nor', '$not']) {
        assert.ok(description.includes(property), `${property} of search-passages`)
        if (name !== 'llama-index') assert.ok(properties.has(property), `${property} of search-passages`)
      }
    })

    // If a library reads a schema now, it no longer confirms the rule. Remove the rule that no library confirms.
    test(`${name} confirms the rules of the check before publishing`, async () => {
      const results = await convertExamples()
      assert.deepEqual(Object.keys(results), Object.keys(EXAMPLES))
      for (const [rule, { breaks, works }] of Object.entries(results)) {
        assert.equal(works.error, undefined, `${rule}: the remedy`)
        assert.equal(works.converted.type, 'object', `${rule}: the remedy`)
        const expected = EXAMPLES[rule].confirmed?.[name]
        if (typeof expected === 'string') assert.ok(breaks.error?.includes(expected), `${rule}: ${JSON.stringify(breaks)}`)
        else if (expected) assert.deepEqual(at(breaks.converted, expected[0]), expected[1], `${rule}: ${JSON.stringify(breaks)}`)
      }
    })
  }

  test('a library confirms each rule', () => {
    const names = CONVERTERS.map(([name]) => name)
    for (const [rule, { confirmed, documented }] of Object.entries(EXAMPLES)) {
      if (documented) continue
      assert.ok(Object.keys(confirmed).length > 0 && Object.keys(confirmed).every((name) => names.includes(name)), rule)
    }
  })
})
