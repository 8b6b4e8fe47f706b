// Tests the sign-in of persons to another MCP server: examples/desk in workerd, in front of examples/everything and a real authorization
// server. A real browser walks the pages, and a browser without a window does what attackers do.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { chromium } from 'playwright-core'

import { startAuthorizationServer } from './authorization-server.mjs'
import { CookieBrowser } from './cookie-browser.mjs'
import { startRecordingProxy } from './recording-proxy.mjs'
import { ENVELOPE, legacy, modern } from './requests.mjs'
import { ROOT, randomToken } from './worker.mjs'
import { startWorkerds } from './workerd.mjs'

const PERSONS = ['ada', 'bob', 'cyd', 'dan', 'eve', 'fay', 'gus', 'hal', 'ivy', 'jon']
/** The tokens of the persons for the MCP endpoint of the desk. */
const tokens = Object.fromEntries(PERSONS.map((subject) => [subject, randomToken()]))
const SCOPES = 'account:read'
const SIGNED_IN = 'You are signed in to the server tracker. You can close this page.'

let browser, proxy, authorization, otherAuthorization
/**
 * The desk with its tokens in D1, the one with Durable Objects, whose page asks before a sign-in, and the servers that accept tokens of the two
 * authorization servers.
 */
let desk, objectDesk, tracker, otherTracker
/** Each text that the desk sent: pages, headers and results of tools. */
const answers = []
before(async () => {
  const executablePath = (await readFile(join(ROOT, '.tools/browser'), 'utf8').catch(() => {
    throw new Error('The browser is missing. Run scripts/setup --browser')
  })).trim()
  proxy = await startRecordingProxy()
  const resource = `${proxy.origin}/mcp`
  const issuing = { hasPages: true, resources: { [resource]: { scopes: SCOPES } } }
  ;[authorization, otherAuthorization] = await Promise.all([startAuthorizationServer(issuing), startAuthorizationServer(issuing)])
  const deskAt = (n, store) => ({
    name: 'desk',
    database: store === 'd1',
    // With another host than 127.0.0.1, the browser treats the authorization server as another site.
    vars: (origins) => ({
      TRACKER_URL: resource,
      TOKEN_STORE: store,
      ASK_CONSENT: store === 'd1' ? 'no' : 'yes',
      DESK_URL: onLocalhost(origins[n]),
      MCP_LOG: 'all',
    }),
    secrets: {
      MCP_STATIC_TOKENS: JSON.stringify(PERSONS.map((subject) => ({ token: tokens[subject], subject, scopes: [] }))),
      MCP_TOKEN_KEY: randomToken(),
    },
  })
  const trackerOf = ({ issuer, introspectionUrl, resourceServer }) => ({
    name: 'everything',
    vars: {
      MCP_AUTH: 'introspection',
      MCP_RESOURCE: resource,
      MCP_AUTHORIZATION_SERVERS: issuer,
      MCP_SCOPES: SCOPES,
      MCP_INTROSPECTION_ENDPOINT: introspectionUrl,
      MCP_INTROSPECTION_CLIENT_ID: resourceServer.id,
    },
    secrets: { MCP_INTROSPECTION_CLIENT_SECRET: resourceServer.secret },
  })
  const workers = [deskAt(0, 'd1'), deskAt(1, 'durable-object'), trackerOf(authorization), trackerOf(otherAuthorization)]
  await Promise.all([
    chromium.launch({ executablePath }).then((started) => { browser = started }),
    startWorkerds(workers).then((started) => { [desk, objectDesk, tracker, otherTracker] = started }),
  ])
  proxy.target = tracker.origin
})
after(() => Promise.all([browser?.close(), desk?.stop(), proxy?.stop(), authorization?.stop(), otherAuthorization?.stop()]))

const onLocalhost = (origin) => origin.replace('127.0.0.1', 'localhost')

/** Calls a tool as a client that can open URLs, and returns the result. */
async function call(person, { name = 'get-account', at = desk, ...params } = {}) {
  const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } } }
  const { body } = await modern({ ...at, token: tokens[person] }, 'tools/call', {
    _meta: { ...ENVELOPE, ...capabilities }, name, arguments: {}, ...params,
  })
  answers.push(JSON.stringify(body))
  return body.result
}

/** Asserts that a result asks the caller to sign in, and returns the question with its key. */
function question({ inputRequests }) {
  const [[key, { method, params }]] = Object.entries(inputRequests ?? {})
  assert.deepEqual([method, params.mode], ['elicitation/create', 'url'])
  return { key, message: params.message, url: params.url }
}

/** Calls the tool of a person who has not signed in, and returns the link. */
const linkOf = async (person, at = desk) => question(await call(person, { at })).url

/** Asserts that the tool returns the account of the caller. */
async function assertSignedIn(person, at = desk) {
  assert.deepEqual((await call(person, { at })).structuredContent, { userId: person })
}

/** Submits the forms of the desk and of the authorization server for a person. */
const filling = (person, decision = 'allow') => ({ text }) => {
  const returnTo = /name="return_to" type="hidden" value="(.*)"/.exec(text)?.[1]
  if (returnTo !== undefined) return { action: '/session', fields: { token: tokens[person], return_to: returnTo.replaceAll('&amp;', '&') } }
  if (text.includes('name="person"')) return { fields: { person } }
  return text.includes('name="decision"') ? { fields: { decision } } : undefined
}

const newBrowser = () => new CookieBrowser((answer) => {
  if (answer.url.includes('//localhost:')) answers.push(JSON.stringify(answer))
})

/** Returns a browser in which a person has a session of the desk. */
async function browserOf(person, at = desk) {
  const started = newBrowser()
  await started.open(`${onLocalhost(at.origin)}/session?return_to=/session`, filling(person), () => true)
  return started
}

/** Opens a link in a new browser, and signs in. Returns the last answer. */
const signIn = (person, url, decision) => newBrowser().open(url, filling(person, decision))

/** Opens a link, signs in, and stops before the browser comes back. Returns the browser and the URL of the callback. */
async function begin(person, url) {
  const started = await browserOf(person)
  const { next } = await started.open(url, filling(person), ({ pathname }) => pathname === '/sign-in/callback')
  return { started, callback: next }
}

/** Asserts that an answer is a page with only this sentence. */
function assertRefused({ status, text }, sentence) {
  assert.deepEqual([status, /<p>(.*)<\/p>/.exec(text)?.[1]], [400, sentence])
}

const tokenRequests = ({ exchanges }, grant) => exchanges.filter(({ url, sent }) => url === '/token' && (!grant || sent.grant_type === grant))
const count = async () => (await desk.sql('SELECT count(*) AS count FROM oauth_tokens'))[0].count

/**
 * Walks the pages of a sign-in in a window. The person types the token for the desk, presses the button of the page that asks, if there is
 * one, types the name, and consents.
 */
async function walk(t, person, url, at = desk) {
  const context = await browser.newContext()
  t.after(() => context.close())
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  await page.goto(url)
  await page.getByLabel('Access token').fill(tokens[person])
  await page.getByRole('button', { name: 'Continue' }).click()
  if (at === objectDesk) {
    await page.getByRole('heading', { name: 'Desk asks for access' }).waitFor()
    const shown = await page.getByRole('definition').allTextContents()
    assert.deepEqual(shown, ['tracker', `${proxy.origin}/mcp`, authorization.issuer, authorization.issuer, SCOPES])
    await page.getByRole('button', { name: 'Continue' }).click()
  }
  await page.getByLabel('Name').fill(person)
  await page.getByRole('button', { name: 'Sign in' }).click()
  await page.getByRole('button', { name: 'Allow' }).click()
  await page.getByText(SIGNED_IN).waitFor()
  const { origin, pathname } = new URL(page.url())
  assert.deepEqual([origin, pathname], [onLocalhost(at.origin), '/sign-in/callback'])
  answers.push(await page.content())
  const cookies = (await context.cookies()).filter(({ domain }) => domain === 'localhost')
  assert.deepEqual(cookies.map(({ name, httpOnly }) => [name, httpOnly]), [['desk-session', true]], 'the state of the sign-in is gone')
}

describe('a person signs in', () => {
  test('in a browser, while a call of revision 2026-07-28 waits', async (t) => {
    const asked = await call('ada')
    const { key, message, url } = question(asked)
    assert.equal(message, 'The server `tracker` requires you to sign in. Open the page, sign in, and come back.')
    // The client answers when it opens the page, before the person signs in.
    const agreed = { inputResponses: { [key]: { action: 'accept' } }, requestState: asked.requestState }
    const [result] = await Promise.all([call('ada', agreed), walk(t, 'ada', url)])
    assert.deepEqual(result.structuredContent, { userId: 'ada' })
    await assertSignedIn('ada')
  })

  test('in a browser, after a call of revision 2025-11-25', async (t) => {
    const account = async () => {
      const { body } = await legacy({ ...desk, token: tokens.bob }, 'tools/call', { name: 'get-account', arguments: {} })
      answers.push(JSON.stringify(body))
      return body.result
    }
    const { isError, content: [{ text }] } = await account()
    const sentence = /^The server `tracker` requires you to sign in\. Open this link within 10 minutes, and then try again: (\S+)$/
    assert.equal(isError, true)
    assert.match(text, sentence)
    await walk(t, 'bob', sentence.exec(text)[1])
    assert.deepEqual((await account()).structuredContent, { userId: 'bob' })
  })

  test('in a browser whose page asks first, with tokens in Durable Objects, and disconnects', async (t) => {
    await walk(t, 'hal', await linkOf('hal', objectDesk), objectDesk)
    await assertSignedIn('hal', objectDesk)
    await linkOf('hal', desk)
    const disconnected = await call('hal', { at: objectDesk, name: 'disconnect' })
    assert.equal(disconnected.content[0].text, 'This program has no access to your account any more.')
    await linkOf('hal', objectDesk)
  })

  test('and disconnects: the tokens are removed and revoked', async () => {
    await signIn('ivy', await linkOf('ivy'))
    await assertSignedIn('ivy')
    const before = await count()
    const issued = tokenRequests(authorization).at(-1)
    await call('ivy', { name: 'disconnect' })
    assert.equal(await count(), before - 1)
    const { url, sent, status } = authorization.exchanges.at(-1)
    assert.deepEqual([url, sent.token, status], ['/token/revocation', issued.answer.refresh_token, 200])
    await linkOf('ivy')
  })
})

describe('nothing is saved', () => {
  test('for a callback in another browser, without GET, or a second time', async () => {
    const { started, callback } = await begin('cyd', await linkOf('cyd'))
    const replay = started.copy()
    const [rows, requests] = [await count(), tokenRequests(authorization).length]
    const another = await browserOf('cyd')
    assertRefused(await another.request(callback), 'This answer does not belong to a sign-in of this browser. Sign in again.')
    assert.equal((await started.request(callback, { method: 'HEAD' })).status, 405)
    assert.deepEqual([await count(), tokenRequests(authorization).length], [rows, requests])
    assert.match((await started.request(callback)).text, new RegExp(SIGNED_IN))
    await assertSignedIn('cyd')
    assertRefused(await replay.request(callback), 'You cannot sign in to the server tracker, because this sign-in has been used already. Begin again.')
    assert.equal(tokenRequests(authorization).length, requests + 1)
    // The authorization server revokes the access if it gets a code twice.
    await assertSignedIn('cyd')
  })

  test('for another person than the one who called the tool', async () => {
    const link = await linkOf('dan')
    const eve = await browserOf('eve')
    const requests = authorization.exchanges.length
    assertRefused(await eve.open(link), 'This link was made for another person. Sign in to this program as that person.')
    assert.equal(authorization.exchanges.length, requests)

    // Another person takes over the browser in which the sign-in began.
    const { started, callback } = await begin('dan', link)
    await started.open(`${onLocalhost(desk.origin)}/session?return_to=/session`, filling('eve'), () => true)
    const rows = await count()
    assertRefused(await started.request(callback), 'Another person began this sign-in. Nothing was saved.')
    assert.equal(await count(), rows)
    await signIn('eve', await linkOf('eve'))
    await assertSignedIn('eve')
    await linkOf('dan')
  })

  test('if the person denies the access, or does not agree to sign in', async () => {
    const asked = await call('dan')
    const { key, url } = question(asked)
    assertRefused(await signIn('dan', url, 'deny'), 'You did not allow the access.')
    const declined = await call('dan', { inputResponses: { [key]: { action: 'decline' } }, requestState: asked.requestState })
    assert.deepEqual([declined.isError, declined.content[0].text],
      [true, 'The server `tracker` was not called, because you did not agree to sign in.'])
  })

  test('if the answer names another authorization server', async () => {
    const { started, callback } = await begin('dan', await linkOf('dan'))
    const requests = [authorization, otherAuthorization].map(({ exchanges }) => exchanges.length)
    callback.searchParams.set('iss', otherAuthorization.issuer)
    assertRefused(await started.request(callback), 'This answer comes from another authorization server. Sign in again.')
    assert.deepEqual([authorization, otherAuthorization].map(({ exchanges }) => exchanges.length), requests)
    await linkOf('dan')
  })
})

describe('tokens expire', () => {
  /**
   * Gives the access tokens that `work` gets a short lifetime, and returns after they have expired. The desk uses them for half of it, so all
   * calls of `work` have to end in this time.
   */
  async function expired(work, seconds = 2) {
    const resource = authorization.resources.get(`${proxy.origin}/mcp`)
    resource.lifetime = seconds
    await work()
    delete resource.lifetime
    await sleep(seconds * 1000 + 50)
  }

  test('and ten calls at once refresh them once, until the access is revoked', async () => {
    await expired(async () => signIn('fay', await linkOf('fay')))
    const before = tokenRequests(authorization).length
    await expired(() => Promise.all(Array.from({ length: 10 }, () => assertSignedIn('fay'))), 4)
    const refreshes = tokenRequests(authorization).slice(before)
    assert.deepEqual(refreshes.map(({ sent, status }) => [sent.grant_type, status]), [['refresh_token', 200]])
    // The authorization server has replaced the refresh token. It revokes the access if it gets the old one again.
    await expired(() => assertSignedIn('fay'))
    const latest = tokenRequests(authorization).at(-1)
    assert.notEqual(latest.sent.refresh_token, refreshes[0].sent.refresh_token)

    const { client_id: id, client_secret: secret } = authorization.exchanges.find(({ url }) => url === '/reg').answer
    const revoked = await fetch(`${authorization.issuer}/token/revocation`, {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`${id}:${secret}`)}` },
      body: new URLSearchParams({ token: latest.answer.refresh_token }),
    })
    assert.equal(revoked.status, 200)
    const link = await linkOf('fay')
    const { sent, answer } = tokenRequests(authorization).at(-1)
    assert.deepEqual([sent.grant_type, answer.error], ['refresh_token', 'invalid_grant'])
    await desk.logged(/the refresh of a token ended the access: .*invalid_grant/)
    await signIn('fay', link)
    await assertSignedIn('fay')
  })

  test('and a server with another authorization server gets tokens of this one', async (t) => {
    t.after(() => { proxy.target = tracker.origin })
    await signIn('gus', await linkOf('gus'))
    await assertSignedIn('gus')
    proxy.target = otherTracker.origin
    const link = await linkOf('gus')
    const known = JSON.stringify(authorization.exchanges)
    assert.deepEqual(otherAuthorization.exchanges.map(({ url }) => url).filter((url) => url !== '/token/introspection'), [])
    const { text } = await signIn('gus', link)
    assert.ok(text.includes(SIGNED_IN), text)
    await assertSignedIn('gus')

    const sent = otherAuthorization.exchanges.filter(({ url }) => url !== '/token/introspection')
    assert.equal(sent.filter(({ url, status }) => url === '/reg' && status === 201).length, 1)
    const values = sent.flatMap(({ headers, sent = {} }) => [headers.authorization, sent.client_id, sent.client_secret, sent.refresh_token])
    assert.deepEqual(values.filter((value) => value && known.includes(value)), [])
    for (const { client_id: id } of authorization.exchanges.filter(({ url }) => url === '/reg').map(({ answer }) => answer)) {
      assert.ok(!JSON.stringify(sent).includes(id))
    }
  })
})

test('an authorization server that has forgotten this program registers it again', async () => {
  const { started, callback } = await begin('jon', await linkOf('jon'))
  await authorization.forgetClients()
  assertRefused(await started.request(callback), 'You cannot sign in to the server tracker, ' +
    'because its authorization server rejects the request for an access token (invalid_client).')
  await signIn('jon', await linkOf('jon'))
  await assertSignedIn('jon')
})

test('no token leaves the parties that it belongs to', async () => {
  const requests = (exchanges) => JSON.stringify(exchanges.map(({ method, url, headers, sent }) => ({ method, url, headers, sent })))
  const issuers = [authorization, otherAuthorization]
  // The tokens for the desk do not reach the server behind it or an authorization server.
  const outside = [proxy, ...issuers].map(({ exchanges }) => requests(exchanges)).join()
  assert.deepEqual(PERSONS.filter((person) => outside.includes(tokens[person])), [])
  // The tokens for the server behind the desk, and the secrets of the sign-in, are not in an answer, in the log or readable in D1.
  const all = issuers.flatMap(({ exchanges }) => exchanges)
  const issued = all.filter(({ status, answer }) => status < 300 && answer).flatMap(({ answer }) => [answer.access_token, answer.refresh_token])
  const secrets = all.flatMap(({ sent = {}, answer }) => [sent.code_verifier, answer?.client_secret])
  const codes = all.map(({ sent }) => sent?.code)
  const hidden = [...new Set([...issued, ...secrets].filter(Boolean))]
  assert.ok(issued.filter(Boolean).length > 20)
  const stored = await desk.sql('SELECT key, value FROM oauth_tokens')
  assert.ok(stored.length > 5)
  await fetch(`${desk.origin}/the-end`)
  await desk.logged(/"status":404/)
  for (const text of [answers.join(), JSON.stringify(stored), desk.logs()]) {
    assert.deepEqual(hidden.filter((secret) => text.includes(secret)), [])
  }
  assert.deepEqual(codes.filter((code) => code && desk.logs().includes(code)), [])
  // Each row is a digest and an encrypted value, in base64.
  for (const { key, value } of stored) {
    assert.match(`${key} ${value}`, /^[\w-]{43} [\w-]{40,}$/)
    const bytes = String(Buffer.from(value, 'base64url'))
    assert.deepEqual(['Bearer', '127.0.0.1', 'issuer', ...hidden].filter((text) => bytes.includes(text)), [])
  }
  assert.deepEqual(PERSONS.filter((person) => desk.logs().includes(tokens[person])), [])
  const used = new Set(proxy.exchanges.map(({ headers }) => headers.authorization).filter(Boolean))
  assert.deepEqual([...used].filter((header) => !issued.includes(header.replace('Bearer ', ''))), [])
})
