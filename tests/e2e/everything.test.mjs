// Tests examples/everything, a server with every feature, with the official clients and the Inspector.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'

import { CLIENTS } from './official-clients.mjs'
import { ENVELOPE, modern } from './requests.mjs'
import { ROOT } from './worker.mjs'
import { startWorkerd } from './workerd.mjs'

const run = promisify(execFile)

let worker
before(async () => { worker = await startWorkerd({ name: 'everything', vars: { PAGE_SIZE: '5' } }) })
after(() => worker?.stop())

// Removes the names that the server has for the conformance suite.
const withoutConformance = (names) => names.filter((name) => !/^test_|^test:|^json_schema_/.test(name))
const TOOLS = ['hello', 'add', 'count', 'blocks', 'whoami', 'work', 'linger', 'fail',
  'get-weather', 'collectContactInfo', 'get-user-data', 'track-parcel', 'search-passages', 'ask_guide', 'run_outing',
  'greet', 'slow_compute', 'failing_job', 'protocol_error_job', 'confirm_delete', 'multi_input', 'job-result', 'job-cancel']
const PROMPTS = ['hello', 'review', 'summarize', 'picture', 'analyze-code', 'current']
const RESOURCES = ['demo://text', 'demo://bytes', 'demo://several', 'weather://current', 'skill://write-a-letter/SKILL.md',
  'weather://Lima', 'weather://Lisbon', 'weather://London', 'weather://Paris', 'file://data/123.txt']

for (const { name, connect, isModern } of CLIENTS) {
  describe(name, () => {
    let client
    before(async () => { client = await connect(worker) })
    after(() => client?.close())

    /** Requests all pages of a list and returns their items. */
    const allItems = async (list, member) => {
      const items = []
      for (let cursor; ;) {
        const page = await list(cursor === undefined ? undefined : { cursor })
        items.push(...page[member])
        cursor = page.nextCursor
        if (cursor === undefined) return items
      }
    }

    test('lists tools with pagination', async () => {
      const tools = await allItems((params) => client.listTools(params), 'tools')
      assert.deepEqual(withoutConformance(tools.map((tool) => tool.name)), TOOLS)
      assert.deepEqual(tools[1].annotations, { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false })
      assert.equal(tools[2].outputSchema.type, isModern ? 'array' : 'object')
    })

    test('calls tools', async () => {
      const add = await client.callTool({ name: 'add', arguments: { a: 2, b: 0.5 } })
      assert.deepEqual(add.structuredContent, { total: 2.5 })
      const count = await client.callTool({ name: 'count', arguments: { to: 3 } })
      assert.deepEqual(count.structuredContent, isModern ? [1, 2, 3] : { result: [1, 2, 3] })
      const { content } = await client.callTool({ name: 'blocks' })
      assert.deepEqual(content.map((block) => block.type), ['text', 'image', 'audio', 'resource', 'resource_link'])
      assert.deepEqual(content[0].annotations, { audience: ['user'], priority: 1 })
      assert.equal((await client.callTool({ name: 'fail' })).isError, true)
      const weather = await client.callTool({ name: 'get-weather', arguments: { location: 'London' } })
      assert.deepEqual(weather.structuredContent, { weather: 'rainy' })
      const guide = await client.callTool({ name: 'ask_guide', arguments: { message: 'What about the weather?' } })
      assert.match(guide.content[0].text, /^Call get-weather/)
      const outing = await client.callTool({ name: 'run_outing', arguments: { city: 'London' } })
      assert.deepEqual(outing.structuredContent, { plan: 'Visit a museum in London.' })
      const unauthenticated = await client.callTool({ name: 'get-user-data' })
      assert.ok(unauthenticated.isError && unauthenticated.content[0].text.startsWith('Authentication required'))
    })

    test('lists resources with pagination, and resource templates', async () => {
      const resources = await allItems((params) => client.listResources(params), 'resources')
      assert.deepEqual(withoutConformance(resources.map(({ uri }) => uri)), RESOURCES)
      assert.deepEqual([resources[0].size, resources[0].annotations.priority], [10, 0.8])
      const { resourceTemplates } = await client.listResourceTemplates()
      assert.deepEqual(withoutConformance(resourceTemplates.map(({ uriTemplate }) => uriTemplate)),
        ['skill://{+path}', 'weather://{city}{?days}', 'demo://files/{+path}', 'file://data/{id}'])
    })

    test('reads resources', async () => {
      const read = async (uri) => (await client.readResource({ uri })).contents
      assert.deepEqual(await read('demo://text'), [{ uri: 'demo://text', mimeType: 'text/plain', text: 'Plain text' }])
      assert.match((await read('demo://bytes'))[0].blob, /^iVBORw0KGgo/)
      assert.equal((await read('demo://several')).length, 2)
      assert.equal((await read('weather://Paris?days=3'))[0].text, 'Paris: sunny for 3 days')
      assert.equal((await read('demo://files/a/b%20c.md'))[0].text, '{"path": "a/b c.md"}')
      assert.equal((await read('weather://current'))[0].text, 'Paris: sunny')
      assert.equal((await read('file://data/123.txt'))[0].text, 'This is the content of the data file.')
      await assert.rejects(read('weather://Atlantis'), /not found/)
      await assert.rejects(read('demo://files/../secret'), /not found/)
    })

    test('lists and gets prompts', async () => {
      const prompts = await allItems((params) => client.listPrompts(params), 'prompts')
      assert.deepEqual(withoutConformance(prompts.map((prompt) => prompt.name)), PROMPTS)
      assert.deepEqual(prompts[1]._meta, { 'edge-mcp/versions': ['v1', 'v2'] })
      const text = async (name, args) => (await client.getPrompt({ name, arguments: args })).messages[0].content.text
      assert.equal(await text('review', { code: 'x', language: 'Rust' }), 'Review this Rust code:\nx')
      assert.equal(await text('review@v1', { code: 'x' }), 'Review: x')
      assert.equal(await text('analyze-code', { code: 'x' }), 'Analyze this code: x')
      assert.equal(await text('analyze-code@v2', { code: 'x' }), 'Analyze this code with the new logic: x')
      assert.equal(await text('summarize', { text: 'y' }), 'Summarize: y')
      const { messages } = await client.getPrompt({ name: 'picture' })
      assert.deepEqual(messages.map(({ role, content }) => [role, content.type]), [['user', 'image'], ['user', 'resource'], ['assistant', 'text']])
      await assert.rejects(text('review@v9', {}), /no version/)
      await assert.rejects(text('summarize', {}), /needs a value for `text`/)
    })

    test('gets progress notifications', async () => {
      const notifications = []
      const call = { name: 'work', arguments: {} }
      const options = { onprogress: ({ message }) => notifications.push(message) }
      const result = name === 'sdk 1.32' ? await client.callTool(call, undefined, options) : await client.callTool(call, options)
      assert.equal(result.content[0].text, 'worked')
      assert.deepEqual(notifications, ['reading', 'thinking', 'writing'])
    })

    test('answers the questions of a tool, or gets an error if its client cannot be asked', async () => {
      const call = async (tool) => {
        const { content: [{ text }], isError } = await client.callTool({ name: tool, arguments: {} })
        return [text, isError === true]
      }
      if (isModern) {
        assert.deepEqual(await call('test_input_required_result_elicitation'), ['Hello, Ada!', false])
        assert.deepEqual(await call('test_input_required_result_multiple_inputs'), ['Hello Ada, in 1 folders', false])
        assert.deepEqual(await call('test_input_required_result_multi_round'), ['Ada likes Ada', false])
      } else {
        const [text, isError] = await call('test_input_required_result_elicitation')
        assert.ok(isError && /the client cannot be asked/.test(text), text)
      }
    })

    test('completes arguments', async () => {
      const complete = async (ref, name, value) => (await client.complete({ ref, argument: { name, value } })).completion.values
      assert.deepEqual(await complete({ type: 'ref/prompt', name: 'review' }, 'language', 'r'), ['Ruby', 'Rust'])
      assert.deepEqual(await complete({ type: 'ref/resource', uri: 'weather://{city}{?days}' }, 'city', 'L'), ['Lima', 'Lisbon', 'London'])
    })
  })
}

// The command line of the Inspector, with each protocol era that it supports. It starts a process for each request, so it runs only in
// workerd: the clients above run on both hosts.
const INSPECTOR = join(ROOT, 'node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js')

for (const era of process.env.E2E_HOST ? [] : ['legacy', 'auto', 'modern']) {
  test(`the Inspector lists and uses tools, resources and prompts with the era ${era}`, async () => {
    const inspect = async (...args) => {
      const { stdout } = await run(process.execPath,
        [INSPECTOR, '--cli', '--transport', 'http', '--server-url', worker.url, '--protocol-era', era, ...args], { timeout: 60_000 })
      return JSON.parse(stdout)
    }
    assert.deepEqual(withoutConformance((await inspect('--method', 'tools/list')).tools.map((tool) => tool.name)), TOOLS)
    // It negotiates one of the two others.
    if (era === 'auto') return
    const added = await inspect('--method', 'tools/call', '--tool-name', 'add', '--tool-arg', 'a=1', 'b=2')
    assert.deepEqual(added.structuredContent, { total: 3 })
    assert.deepEqual(withoutConformance((await inspect('--method', 'resources/list')).resources.map(({ uri }) => uri)), RESOURCES)
    assert.equal((await inspect('--method', 'resources/templates/list')).resourceTemplates.length, 5)
    assert.equal((await inspect('--method', 'resources/read', '--uri', 'demo://text')).contents[0].text, 'Plain text')
    assert.deepEqual(withoutConformance((await inspect('--method', 'prompts/list')).prompts.map((prompt) => prompt.name)), PROMPTS)
    const prompt = await inspect('--method', 'prompts/get', '--prompt-name', 'summarize', '--prompt-args', 'text=z')
    assert.equal(prompt.messages[0].content.text, 'Summarize: z')
  })
}

describe('a tool that asks the user', () => {
  /** Calls a tool and returns its result after the user has given this answer. */
  const callWithAnswer = async (name, args, answer) => {
    const _meta = { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } }
    const ask = async (params) => (await modern(worker, 'tools/call', { _meta, name, arguments: args, ...params })).body.result
    const { inputRequests, requestState } = await ask({})
    const [key] = Object.keys(inputRequests)
    return ask({ inputResponses: { [key]: answer }, requestState })
  }

  test('collects contact information, or reports that the user declined or cancelled', async () => {
    const content = { name: 'Ada', email: 'ada@example.com' }
    for (const [answer, expected] of [
      [{ action: 'accept', content }, `Contact information collected: ${JSON.stringify(content, null, 2)}`],
      [{ action: 'decline' }, 'Contact information collection was declined by the user.'],
      [{ action: 'cancel' }, 'Contact information collection was cancelled by the user.'],
    ]) {
      assert.equal((await callWithAnswer('collectContactInfo', {}, answer)).content[0].text, expected)
    }
  })

  test('uses the number that the user enters', async () => {
    const { structuredContent } = await callWithAnswer('run_outing', { city: 'Lisbon' }, { action: 'accept', content: { hours: 3 } })
    assert.deepEqual(structuredContent, { plan: 'Walk through Lisbon for 3 hours.' })
  })
})

test('with MCP_AUTH, a tool gets the subject of the caller', async () => {
  const vars = { MCP_AUTH: 'static', MCP_STATIC_TOKENS: JSON.stringify([{ token: 'good', subject: 'ada', scopes: [] }]) }
  const authenticated = await startWorkerd({ name: 'everything', vars })
  try {
    assert.equal((await modern(authenticated, 'tools/list')).status, 401, 'the default token of the tests is not in MCP_STATIC_TOKENS')
    authenticated.token = 'good'
    const { body } = await modern(authenticated, 'tools/call', { name: 'get-user-data', arguments: {} })
    assert.deepEqual(body.result.structuredContent, { userId: 'ada' })
  } finally {
    await authenticated.stop()
  }
})
