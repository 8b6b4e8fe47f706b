// Lists the tools of the knowledge base with client libraries that convert their schemas for a model. A library that cannot read a schema
// fails, and then its users have no tool of the server.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'

import { createMCPClient } from '@ai-sdk/mcp'
import { asSchema } from '@ai-sdk/provider-utils'

import { ROOT, startWorker } from './worker.mjs'

const run = promisify(execFile)

const TOOLS = [
  'search-passages', 'related-passages', 'search-documents', 'read-document', 'save-document', 'delete-document', 'list-set',
  'run_ingest', 'missing-skill-files', 'save-skill-files', 'publish-skills', 'ask_librarian',
]

/** The Python libraries, and their virtual environments in .tools/. They need different versions of the package `mcp`. */
const PYTHON = { 'llama-index': 'converters', 'openai-agents': 'converters', langchain: 'langchain' }

let worker
before(async () => {
  worker = await startWorker({ vars: { LIBRARIAN_MODEL_URL: 'http://localhost:9/v1', LIBRARIAN_MODEL: 'none' } })
})
after(() => worker?.stop())

/** Runs converters.py. Returns the converted schemas by the names of the tools. */
async function convertedBy(library, ...options) {
  const python = join(ROOT, '.tools', PYTHON[library], 'bin/python')
  if (!existsSync(python)) throw new Error(`${library} is not installed. Run scripts/setup --client-peers, which needs PyPI.`)
  const { stdout } = await run(python, [join(ROOT, 'tests/e2e/converters.py'), library, worker.url, worker.token, ...options])
  return JSON.parse(stdout)
}

async function convertedByAiSdk() {
  const headers = { Authorization: `Bearer ${worker.token}` }
  const client = await createMCPClient({ transport: { type: 'http', url: worker.url, headers } })
  try {
    const converted = {}
    for (const [name, tool] of Object.entries(await client.tools())) converted[name] = await asSchema(tool.inputSchema).jsonSchema
    return converted
  } finally {
    await client.close()
  }
}

/** Returns the names of all properties in a schema and its definitions. */
function propertiesIn(schema) {
  if (schema === null || typeof schema !== 'object') return []
  return [...Object.keys(schema.properties ?? {}), ...Object.values(schema).flatMap(propertiesIn)]
}

const CONVERTERS = [
  ...Object.keys(PYTHON).map((library) => [library, () => convertedBy(library)]),
  ['the AI SDK', convertedByAiSdk],
]

// The Python programs mostly load modules, so they run at the same time.
describe('converters of schemas', { concurrency: true }, () => {
  for (const [name, convert] of CONVERTERS) {
    test(`${name} reads the schemas of all tools`, async () => {
      const converted = await convert()
      assert.deepEqual(Object.keys(converted), TOOLS)
      for (const [tool, schema] of Object.entries(converted)) assert.equal(schema.type, 'object', tool)
      const properties = new Set(propertiesIn(converted['search-passages']))
      for (const property of ['queryText', 'topK', 'filter', 'slug', 'tags', '$and', '$or', '$nor', '$not']) {
        assert.ok(properties.has(property), `${property} of search-passages`)
      }
    })
  }

  test('llama-index cannot read a schema that refers to itself', async () => {
    await assert.rejects(convertedBy('llama-index', '--recursive'), /RecursionError/)
  })
})
