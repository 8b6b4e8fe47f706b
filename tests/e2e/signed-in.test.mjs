// Tests examples/signed-in in workerd: both Workers, from the first request of a client to the calls of a person who has signed in.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'

import { CLIENTS } from './official-clients.mjs'
import { legacy, modern, post } from './requests.mjs'
import { ROOT, homeOf, randomToken, startWorker } from './worker.mjs'
import { freePort, startWorkerd } from './workerd.mjs'

const PASSWORD = randomToken()
const CALLBACK = 'http://127.0.0.1:1/callback'
const METADATA = '/.well-known/oauth-protected-resource'

let worker
before(async () => {
  const port = await freePort()
  const config = (toml) => toml.replaceAll('127.0.0.1:8787', `127.0.0.1:${port}`)
  const logged = (toml) => config(toml).replace('[vars]\n', '[vars]\nMCP_LOG = "all"\n')
  worker = await startWorker({
    name: 'signed-in-auth', port, config, secrets: { PEOPLE: JSON.stringify({ ada: PASSWORD, bob: PASSWORD }) },
    services: { SERVER: { name: 'signed-in', secrets: {}, config: logged } },
  })
})
after(() => worker?.stop())

/** All tokens, codes and handles of this file, which no log may contain. */
const credentials = [PASSWORD]

/** Sends a form. Returns the response without its redirect. */
const submit = (url, fields, headers = {}) =>
  fetch(url, { method: 'POST', body: new URLSearchParams(fields), headers, redirect: 'manual' })

/** Registers a client at the authorization server. Returns its id. */
async function register(more = {}) {
  const response = await fetch(`${worker.origin}/oauth/register`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ client_name: 'e2e', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none', ...more }),
  })
  assert.equal(response.status, 201)
  return (await response.json()).client_id
}

/** Returns the URL at which a person signs in, and the code verifier. */
function authorizationUrl(client, scope, more = {}) {
  const verifier = randomToken()
  const parameters = new URLSearchParams({
    response_type: 'code', client_id: client, redirect_uri: CALLBACK, scope, state: 'the-state', resource: worker.url,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'), code_challenge_method: 'S256', ...more,
  })
  return { url: `${worker.origin}/authorize?${parameters}`, verifier }
}

/** Opens the page on which a person signs in, as a browser. */
async function openPage(url) {
  const response = await fetch(url, { redirect: 'manual' })
  const html = await response.text()
  assert.equal(response.status, 200, html)
  const scopes = [...html.matchAll(/name="scope" value="(.*?)"/g)].map(([, scope]) => scope)
  const [, handle] = /name="handle" value="(.*?)"/.exec(html)
  credentials.push(handle)
  const cookie = response.headers.get('set-cookie').split(';')[0]
  /** Sends the form of the page. */
  const send = (fields = {}, headers = { Cookie: cookie }) => submit(url, [
    ...Object.entries({ handle, name: 'ada', password: PASSWORD, decision: 'allow', ...fields }),
    ...scopes.map((scope) => ['scope', scope]),
  ], headers)
  return { html, headers: response.headers, scopes, send }
}

/** Signs in as a person who allows what the client asks for. Returns the parameters of the redirect to the client. */
async function signIn(url, fields) {
  const answer = await (await openPage(url)).send(fields)
  assert.equal(answer.status, 302, await answer.text())
  const redirect = new URL(answer.headers.get('location'))
  assert.ok(redirect.href.startsWith(`${CALLBACK}?`), redirect.href)
  const parameters = Object.fromEntries(redirect.searchParams)
  if (parameters.code) credentials.push(parameters.code)
  return parameters
}

/** Exchanges a code. Returns the status and the answer of the token endpoint. */
async function exchange(client, code, verifier) {
  const answer = await submit(`${worker.origin}/oauth/token`, {
    grant_type: 'authorization_code', client_id: client, code, code_verifier: verifier, redirect_uri: CALLBACK, resource: worker.url,
  })
  const body = await answer.json()
  credentials.push(...[body.access_token, body.refresh_token].filter(Boolean))
  return { status: answer.status, body }
}

/** Returns a new access token of a person. */
async function tokenOf(scope, fields) {
  const client = await register()
  const { url, verifier } = authorizationUrl(client, scope)
  const { code } = await signIn(url, fields)
  const { status, body } = await exchange(client, code, verifier)
  assert.equal(status, 200, JSON.stringify(body))
  return { client, token: body.access_token }
}

const call = (of, name) => modern(of, 'tools/call', { name, arguments: {} })

/** Asserts that a server rejects a token with 401 and this sentence. */
async function assertRejected(of, token, sentence) {
  const { status, body, headers } = await call({ ...of, token }, 'who-am-i')
  assert.deepEqual([status, body.error.message], [401, sentence])
  assert.ok(headers.get('www-authenticate').startsWith(`Bearer error="invalid_token", error_description="${sentence}", `))
}
const INVALID = 'The access token is not valid for this server.'

test('a request without a token leads to the metadata of the server and of its authorization server', async () => {
  const { status, headers } = await post(worker, { jsonrpc: '2.0', id: 1, method: 'ping' }, { Authorization: '' })
  assert.equal(status, 401)
  assert.equal(headers.get('www-authenticate'), `Bearer scope="profile:read", resource_metadata="${worker.origin}${METADATA}/mcp"`)
  for (const path of [`${METADATA}/mcp`, METADATA]) {
    assert.deepEqual(await (await fetch(`${worker.origin}${path}`)).json(), {
      resource: worker.url,
      authorization_servers: [worker.origin],
      scopes_supported: ['profile:read'],
      bearer_methods_supported: ['header'],
    })
  }
  const server = await (await fetch(`${worker.origin}/.well-known/oauth-authorization-server`)).json()
  assert.deepEqual(
    [server.issuer, server.authorization_endpoint, server.token_endpoint, server.registration_endpoint],
    [worker.origin, ...['/authorize', '/oauth/token', '/oauth/register'].map((path) => worker.origin + path)])
  assert.deepEqual(server.code_challenge_methods_supported, ['S256'])
  assert.deepEqual(server.scopes_supported, ['profile:read', 'badge:print'])
  assert.equal(server.client_id_metadata_document_supported, true)
  assert.equal(server.authorization_response_iss_parameter_supported, true)
})

describe('a person who has signed in', () => {
  test('calls the tools of the server in the newest and in an older revision', async () => {
    const of = { ...worker, ...await tokenOf('profile:read') }
    for (const request of [modern, legacy]) {
      const { body: { result: { tools } } } = await request(of, 'tools/list')
      assert.deepEqual(tools.map(({ name }) => name), ['who-am-i', 'print-badge'])
      const { body: { result } } = await request(of, 'tools/call', { name: 'who-am-i', arguments: {} })
      assert.deepEqual(result.structuredContent, { name: 'ada', scopes: ['profile:read'] })
    }
  })

  test('has the scopes that the person has allowed, and a tool names further scopes', async () => {
    const badge = 'badge:print'
    const { token } = await tokenOf('profile:read')
    const { status, body, headers } = await call({ ...worker, token }, 'print-badge')
    const sentence = `The access token does not have the scopes for this request. It needs: ${badge}.`
    assert.deepEqual([status, body.error.message], [403, sentence])
    assert.equal(headers.get('www-authenticate'), `Bearer error="insufficient_scope", error_description="${sentence}", ` +
      `scope="${badge}", resource_metadata="${worker.origin}${METADATA}/mcp"`)
    const { token: both } = await tokenOf(`profile:read ${badge}`, { name: 'bob' })
    assert.equal((await call({ ...worker, token: both }, 'print-badge')).body.result.content[0].text, '[ bob ]')
  })

  for (const { name, make, Transport } of CLIENTS) {
    test(`gives access to ${name}, and more access when a tool needs it`, async () => {
      const stored = {}
      const authProvider = {
        redirectUrl: CALLBACK,
        clientMetadata: { client_name: 'e2e', redirect_uris: [CALLBACK], token_endpoint_auth_method: 'none' },
        clientInformation: () => stored.client,
        saveClientInformation: (client) => { stored.client = client },
        tokens: () => stored.tokens,
        saveTokens: (tokens) => {
          stored.tokens = tokens
          credentials.push(tokens.access_token, tokens.refresh_token)
        },
        codeVerifier: () => stored.verifier,
        saveCodeVerifier: (verifier) => { stored.verifier = verifier },
        discoveryState: () => stored.discovery,
        saveDiscoveryState: (discovery) => { stored.discovery = discovery },
        redirectToAuthorization: (url) => { stored.redirect = url },
      }
      const transport = () => new Transport(new URL(worker.url), { authProvider })
      const finish = async (transport) => {
        const { code, iss } = await signIn(stored.redirect)
        await transport.finishAuth(code, iss)
      }
      const first = transport()
      await assert.rejects(make().connect(first), /Unauthorized/)
      await finish(first)
      const [client, second] = [make(), transport()]
      await client.connect(second)
      try {
        assert.deepEqual((await client.listTools()).tools.map(({ name }) => name), ['who-am-i', 'print-badge'])
        const who = await client.callTool({ name: 'who-am-i', arguments: {} })
        assert.deepEqual(who.structuredContent, { name: 'ada', scopes: ['profile:read'] })
        const badge = client.callTool({ name: 'print-badge', arguments: {} })
        // This library refreshes its token instead, and the new token has the same scopes.
        if (name === 'sdk 1.32') return await assert.rejects(badge, /403 after trying upscoping/)
        await assert.rejects(badge, /Unauthorized/)
        await finish(second)
        assert.equal((await client.callTool({ name: 'print-badge', arguments: {} })).content[0].text, '[ ada ]')
      } finally {
        await client.close()
      }
    })
  }
})

describe('the page of the authorization server', () => {
  test('names the client and the place of its access, and no other page can frame it', async () => {
    const client = await register({ client_name: '<script>x</script>' })
    const { html, headers, scopes } = await openPage(authorizationUrl(client, 'profile:read badge:print').url)
    assert.match(html, /<h1>&#60;script&#62;x&#60;\/script&#62; asks for access<\/h1>/)
    assert.match(html, /Its access goes to 127\.0\.0\.1, a program on your computer\./)
    assert.deepEqual(scopes, ['profile:read', 'badge:print'])
    assert.equal(headers.get('content-security-policy'), "default-src 'none'; frame-ancestors 'none'")
    assert.equal(headers.get('cache-control'), 'no-store')
  })

  test('rejects a body that is not a form', async () => {
    for (const type of ['application/json', 'multipart/form-data', '']) {
      const answer = await fetch(`${worker.origin}/authorize`, { method: 'POST', body: '{}', headers: { 'Content-Type': type } })
      assert.deepEqual([answer.status, await answer.text()], [415, 'Send the form of this page.'], type)
    }
  })

  test('returns to the client with an error if the person denies access', async () => {
    const { url } = authorizationUrl(await register(), 'profile:read')
    const { error, state, iss, code } = await signIn(url, { decision: 'deny', password: '' })
    assert.deepEqual({ error, state, iss, code }, { error: 'access_denied', state: 'the-state', iss: worker.origin, code: undefined })
  })

  test('gives no code without the right password, and lets the person try again', async () => {
    const { send } = await openPage(authorizationUrl(await register(), 'profile:read').url)
    const inherited = { name: 'toString', password: String(Object.prototype.toString) }
    for (const fields of [{ password: '' }, { password: 'guess' }, { name: 'eve' }, { name: '' }, inherited]) {
      const answer = await send(fields)
      assert.deepEqual([answer.status, await answer.text()], [403, 'The name or the password is wrong. Go back, and try again.'])
      assert.equal(answer.headers.get('location'), null)
    }
    assert.equal((await send()).status, 302)
  })

  test('takes a form once, and only from the browser that has opened the page', async () => {
    const { send } = await openPage(authorizationUrl(await register(), 'profile:read').url)
    assert.equal((await send({}, {})).status, 400)
    assert.equal((await send({ scope: 'everything' })).status, 400)
    const { send: sendOnce } = await openPage(authorizationUrl(await register(), 'profile:read').url)
    assert.equal((await sendOnce()).status, 302)
    assert.equal((await sendOnce()).status, 400)
  })

  test('sends nothing to a URI that the client has not registered, and needs PKCE with S256', async () => {
    const client = await register()
    const { url } = authorizationUrl(client, 'profile:read', { redirect_uri: 'https://evil.example.com/' })
    const answer = await fetch(url, { redirect: 'manual' })
    assert.deepEqual([answer.status, answer.headers.get('location')], [400, null])
    await answer.text()
    // The client id is the URL of metadata that no server has.
    const unknown = await fetch(authorizationUrl('https://127.0.0.1:1/client.json', 'profile:read').url, { redirect: 'manual' })
    assert.deepEqual([unknown.status, await unknown.text()], [400, 'The metadata of the client cannot be read.'])
    for (const more of [{ code_challenge_method: 'plain' }, { resource: `${worker.origin}/other` }]) {
      const refused = await fetch(authorizationUrl(client, 'profile:read', more).url, { redirect: 'manual' })
      const { searchParams } = new URL(refused.headers.get('location'))
      assert.deepEqual([refused.status, searchParams.get('code')], [302, null])
      assert.match(searchParams.get('error'), /^invalid_(request|target)$/)
    }
  })
})

describe('a token', () => {
  test('needs the verifier of its code', async () => {
    const client = await register()
    const { code } = await signIn(authorizationUrl(client, 'profile:read').url)
    const { status, body } = await exchange(client, code, randomToken())
    assert.deepEqual([status, body.error], [400, 'invalid_grant'])
  })

  test('is rejected if it is forged, or after its revocation', async () => {
    const { client, token } = await tokenOf('profile:read')
    const [person, grant, secret] = token.split(':')
    const another = secret.startsWith('A') ? `B${secret.slice(1)}` : `A${secret.slice(1)}`
    for (const forged of [`bob:${grant}:${secret}`, `${person}:${grant}:${another}`, `${token}A`, randomToken(), 'ada']) {
      await assertRejected(worker, forged, INVALID)
    }
    assert.equal((await call({ ...worker, token }, 'who-am-i')).status, 200)
    assert.equal((await submit(`${worker.origin}/oauth/token`, { token, client_id: client })).status, 200)
    await assertRejected(worker, token, INVALID)
  })

  test('is not described to anybody outside', async () => {
    const { token } = await tokenOf('profile:read')
    const answers = await Promise.all(['/', '/tokens', '/introspect'].map((path) =>
      fetch(`${worker.origin}${path}`, { method: 'POST', body: token })))
    assert.deepEqual(answers.map(({ status }) => status), [404, 404, 404])
    for (const answer of answers) await answer.text()
  })
})

test('no credential is in the logs', async () => {
  await fetch(`${worker.origin}${METADATA}/mcp`, { method: 'DELETE' })
  await worker.logged(/DELETE [^ ]*oauth-protected-resource\/mcp 405/)
  assert.match(worker.logs(), /"event":"request"/)
  assert.ok(credentials.length > 20)
  assert.deepEqual(credentials.filter((each) => worker.logs().includes(each)), [])
})

describe('the server without its authorization server', () => {
  const URL = 'https://mcp.example.com'
  const NOW = Math.floor(Date.now() / 1000)
  const claims = { iss: URL, sub: 'ada', aud: `${URL}/mcp`, client_id: 'c', scope: 'profile:read', exp: NOW + 600 }
  /** The answers to the questions about each token. A string is not JSON. */
  const ANSWERS = {
    valid: claims,
    unknown: null,
    expired: { ...claims, exp: NOW - 600 },
    foreign: { ...claims, aud: 'https://other.example.com/mcp' },
    'of-another-issuer': { ...claims, iss: 'https://other.example.com' },
    'without-end': { ...claims, exp: undefined },
    broken: '<html>',
  }
  let alone
  before(async () => {
    alone = await startWorkerd({
      name: 'signed-in',
      vars: { MCP_RESOURCE: `${URL}/mcp`, MCP_AUTHORIZATION_SERVERS: URL },
      services: {
        AUTH: `const answers = ${JSON.stringify(ANSWERS)}
          export default { async fetch(request) {
            const answer = answers[await request.text()]
            if (answer === undefined) throw new Error('out of order')
            return new Response(typeof answer === 'string' ? answer : JSON.stringify(answer))
          } }`,
      },
    })
  })
  after(() => alone?.stop())

  test('answers no request without a token, whatever its headers say', async () => {
    const body = { jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }
    const { status, headers } = await post(alone, body, { Authorization: '', 'X-User': 'ada', 'Cf-Worker': 'signed-in-auth' })
    assert.equal(status, 401)
    assert.equal(headers.get('www-authenticate'), `Bearer scope="profile:read", resource_metadata="${URL}${METADATA}/mcp"`)
  })

  test('accepts only tokens that the authorization server describes as its own, for this server, and not expired', async () => {
    const { body } = await call({ ...alone, token: 'valid' }, 'who-am-i')
    assert.deepEqual(body.result.structuredContent, { name: 'ada', scopes: ['profile:read'] })
    await assertRejected(alone, 'unknown', INVALID)
    await assertRejected(alone, 'expired', 'The access token has expired.')
    await assertRejected(alone, 'foreign', 'The access token was issued for another server.')
    await assertRejected(alone, 'of-another-issuer', INVALID)
    await assertRejected(alone, 'without-end', INVALID)
  })

  test('answers 503 if the authorization server fails', async () => {
    for (const token of ['broken', 'fails']) {
      const { status, headers } = await call({ ...alone, token }, 'who-am-i')
      assert.deepEqual([status, headers.get('retry-after'), headers.get('www-authenticate')], [503, '5', null], token)
    }
  })
})

test('the code in docs/identity-providers.md is from the example', async () => {
  const page = await readFile(join(ROOT, 'docs/identity-providers.md'), 'utf8')
  const [, section] = /^## Cloudflare's workers-oauth-provider\n(.*?)^## /ms.exec(page)
  const files = await Promise.all(['src/issuer.rs', 'auth/auth.js'].map((file) => readFile(join(homeOf('signed-in'), file), 'utf8')))
  const blocks = [...section.matchAll(/^```(?:js|rust)\n(.*?)^```$/gms)].map(([, block]) => block.replace(/^# .*\n/gm, ''))
  assert.equal(blocks.length, 2)
  for (const block of blocks) assert.ok(files.some((file) => file.includes(block)), `examples/signed-in does not contain the block:\n${block}`)
  const { devDependencies } = JSON.parse(await readFile(join(ROOT, 'package.json'), 'utf8'))
  assert.ok(section.includes(` version ${devDependencies['@cloudflare/workers-oauth-provider']}.`), section)
})
