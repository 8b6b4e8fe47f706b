// The knowledge base and a real authorization server: tokens that it is asked about, tokens that it has signed, and
// how to get one.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { post } from './ask.mjs'
import { ACCOUNT, startAuthorizationServer } from './authorization-server.mjs'
import { CLIENTS } from './official-clients.mjs'
import { areQuiet, isRefused, passes, use } from './tokens.mjs'
import { randomToken, startWorker } from './worker.mjs'

const RESOURCE = 'https://kb.example.com/mcp'
const OTHER = 'https://other.example.com/mcp'
const scopes = 'kb:read kb:write'
const ANOTHER_SERVER = /^The access token was issued for another server\.$/
const DOCUMENT = { slug: 'greeting', title: 'Greeting', text: 'Hello' }

let authorization
// One that asks, by HTTP Basic; one that knows tokens of its own and asks in the form; one that checks signatures.
let asking, either, signed
before(async () => {
  authorization = await startAuthorizationServer({ resources: { [RESOURCE]: { scopes }, [OTHER]: { scopes } } })
  const { issuer, introspectionUrl, jwksUrl, resourceServer } = authorization
  const introspection = {
    MCP_RESOURCE: RESOURCE,
    MCP_AUTHORIZATION_SERVERS: issuer,
    MCP_ISSUER: issuer,
    MCP_INTROSPECTION_ENDPOINT: introspectionUrl,
    MCP_INTROSPECTION_CLIENT_ID: resourceServer.id,
  }
  const secrets = { MCP_INTROSPECTION_CLIENT_SECRET: resourceServer.secret }
  // No other secrets reach the Worker than those that its configuration lists.
  const config = (toml) => toml.replace('required = [', 'required = ["MCP_INTROSPECTION_CLIENT_SECRET", ')
  asking = await startWorker({ vars: { ...introspection, MCP_AUTH: 'introspection' }, secrets, config })
  either = await startWorker({
    vars: { ...introspection, MCP_AUTH: 'static,introspection', MCP_INTROSPECTION_AUTH_METHOD: 'post' }, secrets, config,
  })
  signed = await startWorker({
    vars: { MCP_AUTH: 'jwt', MCP_ISSUER: issuer, MCP_JWKS_URL: jwksUrl, MCP_AUTHORIZATION_SERVERS: issuer },
  })
})
after(() => Promise.all([asking, either, signed, authorization].map((each) => each?.stop())))

const get = (resource, scope = scopes) => authorization.clientCredentials({ resource, scope })

describe('tokens that the authorization server is asked about', () => {
  test('pass, with the scopes that they have', async () => {
    const reader = await get(RESOURCE, 'kb:read')
    await passes(asking, reader)
    const { status, body, headers } = await use(asking, reader, 'save-document', DOCUMENT)
    assert.deepEqual([status, body.id], [403, 1])
    assert.equal(headers.get('www-authenticate'), 'Bearer error="insufficient_scope", ' +
      'error_description="The access token does not have the scopes for this request. It needs: kb:write.", scope="kb:write", ' +
      'resource_metadata="https://kb.example.com/.well-known/oauth-protected-resource/mcp"')
    const saved = await use(asking, await get(RESOURCE, 'kb:write'), 'save-document', DOCUMENT)
    assert.equal(saved.body.result.structuredContent.slug, 'greeting')
  })

  test('of another server, of nobody, or of no kind are refused', async () => {
    await isRefused(asking, await get(OTHER), ANOTHER_SERVER)
    await isRefused(asking, randomToken())
    await isRefused(asking, asking.token)
  })

  test('that are revoked are refused, but where they have just been asked about', async () => {
    const [early, late] = [await get(RESOURCE), await get(RESOURCE)]
    await authorization.revoke(early)
    await isRefused(asking, early)
    await passes(asking, late)
    await authorization.revoke(late)
    await passes(asking, late)
    // The Worker that has asked keeps the answer, for a minute. Another has to ask.
    await isRefused(either, late)
  })

  test('pass beside those that the server knows by itself', async () => {
    await passes(either, either.token)
    await passes(either, await get(RESOURCE))
    await isRefused(either, await get(OTHER), ANOTHER_SERVER)
    await isRefused(either, randomToken())
  })

  test('are not taken from a URL', async () => {
    const token = await get(RESOURCE)
    const { status, body } = await post({ url: `${asking.url}?access_token=${token}` }, {}, { Authorization: '' })
    assert.equal(status, 400)
    assert.match(body.error.message, /^Access tokens in the URL are rejected/)
    await passes(asking, token)
  })
})

/** A part of a signed token, and the same with some members changed. */
const read = (part) => JSON.parse(Buffer.from(part, 'base64url'))
const changed = (part, members) => Buffer.from(JSON.stringify({ ...read(part), ...members })).toString('base64url')

describe('tokens that the authorization server has signed', () => {
  for (const algorithm of ['RS256', 'ES256', 'EdDSA']) {
    test(`by ${algorithm}: pass here, and unchanged`, async () => {
      const elsewhere = `${signed.origin}/elsewhere`
      for (const url of [signed.url, elsewhere]) authorization.resources.set(url, { scopes, format: 'jwt', algorithm })
      const token = await get(signed.url, 'kb:read')
      await passes(signed, token)
      assert.equal((await use(signed, token, 'save-document', DOCUMENT)).status, 403)
      await isRefused(signed, await get(elsewhere), ANOTHER_SERVER)

      const [head, claims, signature] = token.split('.')
      assert.equal(read(head).alg, algorithm)
      const another = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1)
      for (const forged of [
        `${head}.${changed(claims, { scope: scopes })}.${signature}`,
        `${head}.${claims}.${another}`,
        `${head}.${claims}.${signature}AAAA`,
        `${head}.${claims}.`,
        `${changed(head, { alg: 'none' })}.${claims}.`,
      ]) {
        await isRefused(signed, forged)
      }
    })
  }

  test('are not those that it alone can read, nor any other', async () => {
    await isRefused(signed, await get(RESOURCE))
    await isRefused(signed, signed.token)
  })
})

describe('the way to a token', () => {
  const METADATA = '/.well-known/oauth-protected-resource'
  const METHODS = 'GET, HEAD, OPTIONS'
  const headers = { Origin: 'https://app.example.com' }

  test('begins with who issues tokens, for which server and with which scopes', async () => {
    const unknown = await fetch(signed.url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' })
    assert.equal(unknown.status, 401)
    assert.equal(unknown.headers.get('www-authenticate'),
      `Bearer scope="kb:read kb:write", resource_metadata="${signed.origin}${METADATA}/mcp"`)
    for (const path of [METADATA, `${METADATA}/mcp`]) {
      const url = `${signed.origin}${path}`
      const read = await fetch(url, { headers })
      assert.deepEqual(await read.json(), {
        resource: signed.url,
        authorization_servers: [authorization.issuer],
        scopes_supported: ['kb:read', 'kb:write'],
        bearer_methods_supported: ['header'],
        resource_name: 'Knowledge base',
      })
      const head = await fetch(url, { method: 'HEAD', headers })
      assert.equal(await head.text(), '')
      for (const { status, headers } of [read, head]) {
        assert.deepEqual([status, headers.get('content-type'), headers.get('access-control-allow-origin')],
          [200, 'application/json', '*'])
      }
      const preflight = await fetch(url, { method: 'OPTIONS', headers })
      assert.deepEqual([preflight.status, preflight.headers.get('access-control-allow-methods')], [204, METHODS])
      const posted = await fetch(url, { method: 'POST', body: '{}' })
      assert.deepEqual([posted.status, posted.headers.get('allow')], [405, METHODS])
      await posted.arrayBuffer()
    }
    assert.equal((await fetch(`${signed.origin}${METADATA}/elsewhere`)).status, 404)
    const configured = await fetch(`${asking.origin}${METADATA}/mcp`)
    assert.equal((await configured.json()).resource, RESOURCE)
  })

  test('leads older clients to the authorization server', async () => {
    const url = `${signed.origin}/.well-known/oauth-authorization-server`
    const { status, headers } = await fetch(url, { redirect: 'manual' })
    assert.deepEqual([status, headers.get('location')],
      [302, `${authorization.issuer}/.well-known/oauth-authorization-server`])
    const { issuer, token_endpoint } = await (await fetch(url)).json()
    assert.equal(issuer, authorization.issuer)
    assert.ok(token_endpoint.startsWith(issuer))
  })

  for (const { name, make, Transport } of CLIENTS) {
    test(`is found by ${name}`, async () => {
      authorization.resources.set(signed.url, { scopes, format: 'jwt' })
      const kept = {}
      const authProvider = {
        redirectUrl: 'http://127.0.0.1:1/callback',
        clientMetadata: {
          client_name: 'e2e', redirect_uris: ['http://127.0.0.1:1/callback'], token_endpoint_auth_method: 'none',
        },
        state: () => 'the-state',
        clientInformation: () => kept.client,
        saveClientInformation: (client) => { kept.client = client },
        tokens: () => kept.tokens,
        saveTokens: (tokens) => { kept.tokens = tokens },
        codeVerifier: () => kept.verifier,
        saveCodeVerifier: (verifier) => { kept.verifier = verifier },
        discoveryState: () => kept.discovery,
        saveDiscoveryState: (discovery) => { kept.discovery = discovery },
        redirectToAuthorization: (url) => { kept.redirect = url },
      }
      const transport = () => new Transport(new URL(signed.url), { authProvider })

      const first = transport()
      await assert.rejects(make().connect(first), /Unauthorized/)
      const { code, iss, state } = await authorization.authorize(kept.redirect)
      assert.equal(state, 'the-state')
      await first.finishAuth(code, iss)

      const client = make()
      await client.connect(transport())
      try {
        const saved = await client.callTool({ name: 'save-document', arguments: DOCUMENT })
        assert.equal(saved.structuredContent.slug, 'greeting')
      } finally {
        await client.close()
      }
      const { sub, scope } = read(kept.tokens.access_token.split('.')[1])
      assert.deepEqual([sub, scope], [ACCOUNT, scopes])
      await passes(signed, kept.tokens.access_token)
    })
  }
})

test('who calls too often is told to wait, and nobody else is', async () => {
  const [eager, other] = [randomToken(), randomToken()]
  const tokens = [eager, other].map((token, n) => ({ token, subject: `caller ${n}`, scopes: ['kb:read'] }))
  const worker = await startWorker({
    secrets: { MCP_STATIC_TOKENS: JSON.stringify(tokens) },
    config: (toml) => toml.replace('limit = 1000', 'limit = 3'),
  })
  try {
    // Twice the limit may pass, where the minute ends in between.
    const until429 = async (token, before) => {
      for (let passed = 0; passed <= 6; passed++) {
        const { status, headers, body } = await use(worker, token)
        if (status === 429) {
          assert.equal(headers.get('retry-after'), '60')
          assert.match(body.error.message, /^Too many requests\. Wait/)
          return passed
        }
        assert.equal(status, before)
      }
      assert.fail('there is no limit')
    }
    assert.ok(await until429(eager, 200) >= 3)
    await passes(worker, other)
    // What nobody has sent with a good token counts against the address, and what callers have sent does not.
    assert.ok(await until429(randomToken(), 401) >= 3)
    await passes(worker, other)
    await areQuiet([worker], authorization.resourceServer)
  } finally {
    await worker.stop()
  }
})

test('no log has a token or the secret', () => areQuiet([asking, either, signed], authorization.resourceServer))
