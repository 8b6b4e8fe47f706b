// The librarian in workerd, and a model that is quick, busy, broken or silent.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { ENVELOPE, NEWEST, call, modern, post } from './requests.mjs'
import { calls, fails, doesNotAnswer, says, startChatServer } from './chat-server.mjs'
import { randomToken, startWorker } from './worker.mjs'

const KEY = 'sk-0123456789'
const SECONDS = 6
const named = (toml) => toml.replace('required = [', 'required = ["LIBRARIAN_API_KEY", ')

const names = async (worker) => (await modern(worker, 'tools/list')).body.result.tools.map(({ name }) => name)

describe('a librarian with a model', () => {
  const [token, writer] = [randomToken(), randomToken()]
  let model, worker
  before(async () => {
    model = await startChatServer()
    const tokens = [{ token, subject: 'ada', scopes: ['kb:read', 'kb:write'] }, { token: writer, subject: 'bob', scopes: ['kb:write'] }]
    const started = await startWorker({
      vars: { LIBRARIAN_MODEL_URL: model.url, LIBRARIAN_MODEL: 'small', LIBRARIAN_SECONDS: String(SECONDS) },
      secrets: { LIBRARIAN_API_KEY: KEY, MCP_STATIC_TOKENS: JSON.stringify(tokens) },
      config: named,
    })
    worker = { ...started, token }
    await call(worker, 'save-document', { slug: 'tea', title: 'Making tea', text: 'Steep for four minutes.' })
    await call(worker, 'save-document', { slug: 'coffee', title: 'Making coffee', text: 'Grind it first.' })
  })
  after(async () => {
    await worker?.stop()
    model?.stop()
  })

  const ask = async (message) => {
    const { isError, content: [{ text }], _meta } = await call(worker, 'ask_librarian', { message })
    return { isError, text, usage: _meta['edge-mcp/usage'] }
  }

  test('is there for those who may read', async () => {
    assert.ok((await names(worker)).includes('ask_librarian'))
    assert.deepEqual(await names({ ...worker, token: writer }), ['save-document', 'run_ingest'])
  })

  test('searches, reads, and answers', async () => {
    model.answersWith(calls('search-documents', { query: 'tea' }), calls('read-document', { slug: 'tea' }), says('Four minutes.'))
    assert.deepEqual(await ask('How long does it steep?'), {
      isError: false,
      text: 'Four minutes.\n\nSources:\n- Making tea (kb://documents/tea)',
      usage: { inputTokens: 9, outputTokens: 15 },
    })
    assert.deepEqual(model.requests.map(({ url }) => url), Array(3).fill('/v1/chat/completions'))
    assert.ok(model.requests.every(({ headers }) => headers.authorization === `Bearer ${KEY}`))
    const [first, , third] = model.requests.map(({ body }) => body)
    assert.deepEqual(first.tools.map((tool) => tool.function.name), ['search-documents', 'read-document'])
    assert.deepEqual(first.messages.map(({ role }) => role), ['system', 'user', 'assistant', 'tool'], 'it has searched')
    const told = third.messages.filter(({ role }) => role === 'tool').map(({ content }) => content)
    assert.match(told[1], /"slug":"tea"/)
    assert.equal(told[2], 'Steep for four minutes.')
  })

  test('tries again when the model is busy', async () => {
    model.answersWith(fails(429), says('See kb://documents/tea.'))
    assert.deepEqual([(await ask('tea')).text, model.requests.length], ['See kb://documents/tea.', 2])
  })

  test('tries again when the model fails', async () => {
    model.answersWith(fails(500, 'oops'), (response) => response.destroy(), says('See kb://documents/tea.'))
    assert.deepEqual([(await ask('tea')).text, model.requests.length], ['See kb://documents/tea.', 3])
  })

  for (const { what, answers, text, cause, isAskedAgain } of [
    { what: 'always fails', answers: [fails(500, `no ${KEY}`)], text: /cannot be reached/, cause: /answers with status 500 \(asked \d+ times\)/, isAskedAgain: true },
    { what: 'is busy for longer than there is time', answers: [fails(429, '', { 'Retry-After': '60' })], text: /endpoint is overloaded/, cause: /answers with status 429/ },
    { what: 'refuses the key', answers: [fails(401, `no ${KEY}`)], text: /rejected this server's key/, cause: /answers with status 401/ },
    { what: 'has another address', answers: [fails(307, '', { Location: '/elsewhere' })], text: /rejected the request/, cause: /answers with status 307/ },
    { what: 'sends a page', answers: [fails(200, '<h1>Welcome</h1>')], text: /cannot be used/, cause: /it is not JSON/, isAskedAgain: true },
    { what: 'says nothing', answers: [says(' ')], text: /cannot be used/, cause: /neither text nor calls/, isAskedAgain: true },
    { what: 'says too much', answers: [says('x'.repeat(1024 * 1024))], text: /cannot be used/, cause: /longer than the limit/ },
    { what: 'goes on calling', answers: [calls('search-documents', { query: 'tea' })], text: /asked 8 times/, cause: /no answer in 8 rounds/, isAskedAgain: true },
  ]) {
    test(`says so when the model ${what}`, async () => {
      model.answersWith(...answers)
      const { isError, text: said } = await ask('What is secret about tea?')
      assert.ok(isError && text.test(said) && !said.includes(KEY), said)
      assert.equal(model.requests.length > 1, Boolean(isAskedAgain), `${model.requests.length} requests`)
      assert.ok(model.requests.every(({ url }) => url === '/v1/chat/completions'))
      await worker.logged(new RegExp(`"subject":"ask_librarian","cause":"[^"]*${cause.source}`))
    })
  }

  test('gives up a model that is silent, and leaves it', async () => {
    model.answersWith(doesNotAnswer)
    const [{ isError, text }] = await Promise.all([ask('tea'), model.requestAborted()])
    assert.ok(isError && text.startsWith(`The model did not answer within ${SECONDS} s.`), text)
    assert.equal(model.requests.length, 1)
  })

  test('keeps the key and the conversation out of the log', async () => {
    await fetch(`${worker.origin}/the-end`)
    await worker.logged(/GET \/the-end 404/)
    assert.deepEqual([KEY, 'secret about tea', 'Steep for'].filter((text) => worker.logs().includes(text)), [])
  })
})

test('a client that leaves ends the request to the model', async () => {
  const model = await startChatServer()
  const worker = await startWorker({ vars: { LIBRARIAN_MODEL_URL: model.url, LIBRARIAN_MODEL: 'small', LIBRARIAN_SECONDS: '120' } })
  try {
    model.answersWith(doesNotAnswer)
    const left = new AbortController()
    const response = await fetch(worker.url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json', Authorization: `Bearer ${worker.token}`, Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': NEWEST, 'Mcp-Method': 'tools/call', 'Mcp-Name': 'ask_librarian',
      },
      body: JSON.stringify({
        jsonrpc: '2.0', id: 1, method: 'tools/call',
        params: { _meta: { ...ENVELOPE, progressToken: 1 }, name: 'ask_librarian', arguments: { message: 'tea' } },
      }),
      signal: left.signal,
    })
    const reader = response.body.getReader()
    let told = ''
    while (!told.includes('asking the model')) told += new TextDecoder().decode((await reader.read()).value)
    assert.match(told, /"message":"calling search-documents"/)
    await model.isRequested()
    const cutOff = model.requestAborted()
    left.abort()
    await cutOff
    assert.equal(model.requests[0].headers.authorization, undefined, 'a model without a key is asked without one')
  } finally {
    await worker.stop()
    model.stop()
  }
})

test('without a model there is no librarian, and the log says how to have one', async () => {
  const worker = await startWorker()
  try {
    assert.deepEqual(await names(worker), ['search-documents', 'read-document', 'save-document', 'run_ingest'])
    await worker.logged(/ask_librarian is not served, because no model is configured. Set LIBRARIAN_MODEL_URL and LIBRARIAN_MODEL/)
    await names(worker)
    assert.equal(worker.logs().match(/ask_librarian is not served/g).length, 1)
    const { body } = await modern(worker, 'tools/call', { name: 'ask_librarian', arguments: { message: 'tea' } })
    assert.equal(body.error.code, -32602)
  } finally {
    await worker.stop()
  }
})

for (const [what, vars, variable] of [
  ['half a model', { LIBRARIAN_MODEL: 'small' }, 'LIBRARIAN_MODEL_URL'],
  ['a model that anybody could listen to', { LIBRARIAN_MODEL: 'small', LIBRARIAN_MODEL_URL: 'http://models.example.com/v1' }, 'LIBRARIAN_MODEL_URL'],
]) {
  test(`${what}: 503 that names ${variable}`, async () => {
    const worker = await startWorker({ vars })
    try {
      const { status, body } = await post(worker, { jsonrpc: '2.0', id: 1, method: 'ping' })
      assert.equal(status, 503)
      assert.match(body.error.message, new RegExp(variable))
    } finally {
      await worker.stop()
    }
  })
}
