// Tests examples/expenses in workerd, with an authorization server, exchange rates and the official MCP server.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server'

import { startIssuer } from '../../examples/expenses/issuer.mjs'
import { startTask, until } from '../chaos/tasks.mjs'
import { ENVELOPE, call, legacy, modern, post } from './requests.mjs'
import { startWorkerds } from './workerd.mjs'

const MONTH = new Date().toISOString().slice(0, 7)
const MEAL = { cents: 1250, currency: 'EUR', category: 'meals', note: 'Tea' }

/** The official server, with the tool `echo` of server-everything. */
const assistant = createMcpHandler(() => {
  const server = new McpServer({ name: 'assistant', version: '1.0.0' })
  const inputSchema = fromJsonSchema({ type: 'object', properties: { message: { type: 'string' } }, required: ['message'] })
  server.registerTool('echo', { inputSchema }, ({ message }) => ({ content: [{ type: 'text', text: `Echo: ${message}` }] }))
  return server
})
/** The currencies whose rates were asked, and the statuses of the next answers. After these, the status is 200. */
const rates = { asked: [], statuses: [] }
/** Serves the assistant and the rates. */
const others = createServer(async (request, response) => {
  if (request.url === '/mcp') {
    const body = Buffer.concat(await request.toArray())
    const answer = await assistant.fetch(new Request('http://127.0.0.1/mcp', { method: 'POST', headers: request.headers, body }))
    return response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(Buffer.from(await answer.arrayBuffer()))
  }
  rates.asked.push(request.url.slice(1))
  const status = rates.statuses.shift() ?? 200
  if (status !== 'never') response.writeHead(status, { 'Retry-After': '1' }).end('{"euros": 0.5}')
})
const stopOthers = () => { others.close(); others.closeAllConnections() }

let issuer, worker, limited, ada, bob
before(async () => {
  issuer = await startIssuer()
  await once(others.listen(0, '127.0.0.1'), 'listening')
  const [{ url }, RATES_URL] = [issuer, `http://127.0.0.1:${others.address().port}`]
  const vars = { MCP_ISSUER: url, MCP_JWKS_URL: `${url}/jwks`, MCP_AUTHORIZATION_SERVERS: url, RATES_URL, ASSISTANT_URL: `${RATES_URL}/mcp` }
  const options = [{ database: true, objects: 'disk' }, { rateLimit: true }]
  ;[worker, limited] = await startWorkerds(options.map((each) => ({ name: 'expenses', vars, ...each })))
  ada = as('ada')
  bob = as('bob', { scope: 'expenses:decide' })
})
after(async () => {
  stopOthers()
  issuer.stop()
  await worker?.stop()
})

/** Returns a client with a token of this person. */
const as = (sub, claims = {}, of = worker) => ({ ...of, token: issuer.token({ sub, aud: of.url, ...claims }) })
const text = ({ content: [{ text }] }) => text
const list = async (client, args = {}) => (await call(client, 'list-expenses', args)).structuredContent
const read = async (client, id) => (await modern(client, 'resources/read', { uri: `expenses://${id}` })).body
const complete = async (client, value) => (await modern(client, 'completion/complete', {
  ref: { type: 'ref/prompt', name: 'monthly-report' }, argument: { name: 'month', value },
})).body.result.completion.values

/** Calls `decide-expense`, and answers the question of each client that can be asked. Returns the question and the result. */
async function decide(client, id, action, decision = 'approve') {
  const params = {
    name: 'decide-expense', arguments: { id, decision, reason: 'Fine' },
    _meta: { ...ENVELOPE, 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } },
  }
  const { body: { result: asked } } = await modern(client, 'tools/call', params)
  if (!asked.inputRequests) return asked
  const inputResponses = { 'edge-mcp/approval': { action, ...(action === 'accept' ? { content: {} } : {}) } }
  const { body: { result } } = await modern(client, 'tools/call', { ...params, inputResponses, requestState: asked.requestState })
  return { ...result, question: asked.inputRequests['edge-mcp/approval'].params.message }
}

describe('a caller', () => {
  for (const [name, claims, status] of [
    ['with a token for another server', { aud: 'https://other.example/mcp' }, 401], ['with an expired token', { exp: 1_700_000_000 }, 401],
    ['with a token of another issuer', { iss: 'https://other.example' }, 401], ['with a valid token', {}, 200],
  ]) {
    test(`${name} gets ${status}`, async () => assert.equal((await modern(as('ada', claims), 'tools/list')).status, status))
  }
  test('without a token learns where to get one', async () => {
    const { status, headers } = await post(worker, { jsonrpc: '2.0', id: 1, method: 'ping' }, { Authorization: '' })
    assert.equal(status, 401)
    assert.match(headers.get('www-authenticate'), /resource_metadata="http:\/\/127\.0\.0\.1:\d+\/\.well-known\/oauth-protected-resource\/mcp"/)
    const metadata = await (await fetch(`${worker.origin}/.well-known/oauth-protected-resource/mcp`)).json()
    assert.deepEqual(metadata.authorization_servers, [issuer.url])
  })
  test('without the scope does not see decide-expense, and gets 403 for it', async () => {
    const names = async (client) => (await modern(client, 'tools/list')).body.result.tools.map(({ name }) => name)
    assert.deepEqual((await names(bob)).filter((name) => !name.startsWith('job-')).length, 6)
    assert.ok(!(await names(ada)).includes('decide-expense'))
    const { status, headers } = await modern(ada, 'tools/call', { name: 'decide-expense', arguments: { id: 1, decision: 'approve', reason: 'x' } })
    assert.deepEqual([status, /scope="expenses:decide"/.test(headers.get('www-authenticate'))], [403, true])
  })
  test('has 60 calls in a minute', async () => {
    const eve = as('eve', {}, limited)
    const statuses = await Promise.all(Array.from({ length: 61 }, async () => (await modern(eve, 'prompts/list')).status))
    assert.deepEqual(statuses.filter((status) => status !== 200), [429])
  })
})

describe('submit-expense', () => {
  test('stores an expense with the date of today', async () => {
    const { structuredContent } = await call(ada, 'submit-expense', MEAL)
    assert.deepEqual(structuredContent, { id: 1, caller: 'ada', ...MEAL, date: new Date().toISOString().slice(0, 10), status: 'open', reason: null })
  })
  for (const wrong of [
    { cents: 0 }, { cents: 1_000_001 }, { currency: 'eur' }, { category: 'fun' }, { note: 'x'.repeat(501) }, { date: '2100-01-01' }, { date: '2026-02-31' },
  ]) {
    test(`rejects ${JSON.stringify(wrong).slice(0, 30)}`, async () => {
      const { isError, content } = await call(ada, 'submit-expense', { ...MEAL, ...wrong })
      assert.ok(isError && content[0].text.includes(`\`${Object.keys(wrong)}\``), content[0].text)
    })
  }
})

describe('list-expenses and expenses://{id}', () => {
  test('show a caller their own expenses, and with the scope those of all', async () => {
    await call(bob, 'submit-expense', { ...MEAL, currency: 'USD', date: '2020-02-29' })
    assert.deepEqual((await list(ada)).expenses.map(({ id }) => id), [1])
    assert.deepEqual((await list(bob)).expenses.map(({ id }) => id), [2, 1])
    assert.equal((await list(as('carol', { scope: 'expenses:all' }))).expenses.length, 2)
  })
  test('show one expense as a resource', async () => {
    assert.equal(JSON.parse((await read(bob, 1)).result.contents[0].text).caller, 'ada')
    assert.equal((await read(ada, 2)).error.code, -32602)
  })
  test('have pages of 20, and a filter', async () => {
    const dan = as('dan')
    for (let n = 0; n < 21; n++) await call(dan, 'submit-expense', MEAL)
    const { expenses, cursor } = await list(dan, { status: 'open' })
    assert.equal(expenses.length, 20)
    assert.deepEqual([(await list(dan, { cursor })).expenses.length, (await list(dan, { status: 'rejected' })).expenses], [1, []])
  })
  test('serve older clients', async () => {
    const { body } = await legacy(ada, 'tools/call', { name: 'list-expenses', arguments: {} })
    assert.equal(JSON.parse(text(body.result)).expenses.length, 1)
  })
  test('show an app', async () => {
    const { body: { result: { tools } } } = await modern(ada, 'tools/list')
    const { resourceUri } = tools.find(({ name }) => name === 'list-expenses')._meta.ui
    assert.match((await modern(ada, 'resources/read', { uri: resourceUri })).body.result.contents[0].text, /^<!doctype html>/)
  })
})

describe('decide-expense', () => {
  test('changes nothing if the client cannot be asked', async () => {
    assert.match(text(await call(bob, 'decide-expense', { id: 1, decision: 'approve', reason: 'Fine' })), /the client cannot be asked\. Nothing was done/)
    assert.equal((await list(ada)).expenses[0].status, 'open')
  })
  test('changes nothing if the person declines', async () => {
    assert.match(text(await decide(bob, 1, 'decline')), /was not approved/)
    assert.equal((await list(ada)).expenses[0].status, 'open')
  })
  test('asks with the amount, and stores the decision and the reason', async () => {
    const { question, structuredContent: { status, reason } } = await decide(bob, 1, 'accept')
    assert.match(question, /^Approve 12\.50 EUR for ada\?\n/)
    assert.deepEqual([status, reason, (await list(ada)).expenses[0].status], ['approved', 'Fine', 'approved'])
  })
  test('decides once, and not about the expense of the caller', async () => {
    assert.equal(text(await decide(bob, 1, 'accept', 'reject')), 'Somebody has decided about this expense already.')
    assert.match(text(await decide(bob, 2, 'accept')), /^Nobody decides about their own expenses/)
  })
  test('writes a line of the audit log for each call', async () => {
    await worker.logged(/"event":"audit".*"done":true/)
    const lines = [...worker.logs().matchAll(/\{"event":"audit".*\}/g)].map(([line]) => JSON.parse(line))
    assert.deepEqual(lines.map(({ who, expense, done }) => [who, expense, done]), [['bob', 1, false], ['bob', 1, false], ['bob', 1, true], ['bob', 1, false], ['bob', 2, false]])
  })
})

describe('export-month', () => {
  test('waits while the rates are busy, and has a CSV file and a total', async () => {
    await call(ada, 'submit-expense', { ...MEAL, currency: 'USD' })
    rates.statuses = [429, 200]
    const { status, result } = await until(ada, await startTask(ada, 'export-month', { month: MONTH }))
    assert.deepEqual([status, result.structuredContent], ['completed', { expenses: 2, euros: 18.75 }])
    assert.match(result.content[1].resource.text, /^id,date,.*\r\n1,.*,12\.50 EUR,12\.50,"Tea"\r\n\d+,.*,12\.50 USD,6\.25,"Tea"\r\n$/)
    assert.deepEqual(rates.asked.splice(0), ['USD', 'USD'])
  })
  test('continues after a restart, and does not ask again for a rate that it has', async () => {
    await call(ada, 'submit-expense', { ...MEAL, currency: 'JPY' })
    rates.statuses = [200, 'never']
    const task = await startTask(ada, 'export-month', { month: MONTH })
    while (rates.asked.length < 2) await new Promise((resolve) => setTimeout(resolve, 10))
    await worker.kill()
    await worker.start()
    assert.deepEqual((await until(ada, task)).result.structuredContent, { expenses: 3, euros: 25 })
    assert.deepEqual(rates.asked.splice(0), ['USD', 'JPY', 'JPY'])
  })
  test('says that the rates are not available', async () => {
    rates.statuses = [500]
    const { result } = await until(ada, await startTask(ada, 'export-month', { month: MONTH }))
    assert.deepEqual([result.isError, text(result)], [true, 'The exchange rates are not available. Export the month later.'])
    assert.deepEqual(rates.asked.splice(0), ['USD'])
  })
  test('answers clients without tasks directly', async () => {
    assert.deepEqual((await call(ada, 'export-month', { month: '2020-02' })).structuredContent, { expenses: 0, euros: 0 })
  })
  test('rejects a text that is not a month', async () => assert.equal((await call(ada, 'export-month', { month: '2027' })).isError, true))
})

describe('the policy', () => {
  test('is searched by its words', async () => {
    const { structuredContent: { sources } } = await call(ada, 'search-policy', { queryText: 'Who pays for alcohol?' })
    assert.deepEqual([sources[0].heading, sources[0].id.split('#')[0]], ['Meals > With guests', 'meals'])
  })
  test('goes to the assistant with the question', async () => {
    const answer = text(await call(ada, 'policy-answer', { question: 'Hotels in London?' }))
    assert.match(answer, /^Echo: Hotels in London\?\n\nAnswer from these rules:\n\n[^]*220 EUR/)
  })
})

test('monthly-report has the expenses of a month, and completes the month', async () => {
  assert.deepEqual([await complete(ada, ''), await complete(bob, '2020'), await complete(ada, '19')], [[MONTH], ['2020-02'], []])
  const { body } = await modern(bob, 'prompts/get', { name: 'monthly-report', arguments: { month: '2020-02' } })
  assert.match(body.result.messages[0].content.text, /^Write a report.*2020-02\.[^]*\n\n- 2020-02-29: 12\.50 USD of bob, Tea$/)
})

test('the landing page has the box that searches the policy', async () => {
  const page = await (await fetch(worker.origin, { headers: { Accept: 'text/html' } })).text()
  assert.ok(page.includes('<title>Expenses') && page.includes('search-policy'), page.slice(0, 500))
})

// The last test: the assistant is not started again.
test('policy-answer says what to do if the assistant is down', async () => {
  stopOthers()
  const { isError, content } = await call(ada, 'policy-answer', { question: 'Hotels in London?' })
  assert.deepEqual([isError, content[0].text], [true, 'The assistant is not available. Read the rules with search-policy instead.'])
})
