// Tests that a wasm module and its JavaScript contain no code of parts that their server does not use. examples/weather has one tool, and no
// Cargo feature other than `worker`.

import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'node:test'

import { ROOT, built } from './worker.mjs'

/** Texts that only the code of a part contains, and the folder of the part. The compiler may split shorter texts into numbers. */
const PARTS = {
  'the landing page': { folder: 'http/landing', texts: ['<!doctype html>', 'require-trusted-types-for'] },
  'packages and remotes': {
    folder: 'registry',
    texts: ['packageArguments', 'runtimeHint', 'isRepeated', 'environmentVariables', 'has a repository whose URL', 'has an environment variable'],
  },
  agents: { folder: 'agents', texts: ['Agent description: ', 'calls the tool `', '/chat/completions'] },
  workflows: { folder: 'agents', texts: ['Workflow description: ', 'needs it to choose a workflow'] },
  'the client': { folder: 'client', texts: ['has no read-only tool', 'is the answer to another request'] },
  retrieval: { folder: 'rag', texts: ['Argument `queryText` must not be blank', 'FROM json_each('] },
  bindings: { folder: 'worker/bindings', texts: ['columnNames', 'expirationTtl', 'returnMetadata', 'new TextEncoder().encode(JSON'] },
  telemetry: { folder: '', texts: ['gen_ai.operation.name', 'edge_mcp.trace_id', 'tracing.startSpan', 'writeDataPoint'] },
  sources: { folder: 'server', texts: ['edge-mcp/missing'] },
  approval: { folder: 'server', texts: ['edge-mcp/approval', '\\n\\nTool: ', 'was not approved'] },
  'the check before publishing': { folder: 'server/problems', texts: ['has no title: call', 'has an input schema in which', 'argument-description'] },
  'checks of resources and prompts': { folder: 'server', texts: ['has no scheme such as', 'is not a template that can be matched'] },
}

test('examples/weather contains no part that it does not use', async () => {
  const home = join(ROOT, 'examples/weather')
  await built('weather', false)
  const files = await Promise.all(['index_bg.wasm', 'index.js'].map((file) => readFile(join(home, 'build', file))))
  const contains = (text) => files.some((file) => file.includes(text.replaceAll('\\n', '\n')))
  assert.ok(['tools/call', 'get-weather', 'has an empty description'].every(contains), 'the module contains its texts as they are')
  const found = Object.entries(PARTS).flatMap(([part, { texts }]) => texts.filter(contains).map((text) => `${part}: ${text}`))
  assert.deepEqual(found, [])
})

// If the library no longer had a text, the test above could not find its part.
test('the library has these texts', async () => {
  for (const [part, { folder, texts }] of Object.entries(PARTS)) {
    const home = join(ROOT, 'src', folder)
    const files = (await readdir(home, { recursive: true, withFileTypes: true })).filter((entry) => entry.isFile())
    const sources = await Promise.all(files.map(({ parentPath, path, name }) => readFile(join(parentPath ?? path, name), 'utf8')))
    for (const text of texts) assert.ok(sources.some((source) => source.includes(text)), `${part}: no file in src/${folder} has ${text}`)
  }
})
