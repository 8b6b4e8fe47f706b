// Tests the knowledge base with a real authorization server: introspected tokens, signed tokens, and the discovery of the authorization
// server by clients.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { ACCOUNT, startAuthorizationServer } from './authorization-server.mjs'
import { CLIENTS } from './official-clients.mjs'
import { post } from './requests.mjs'
import { assertAccepted, assertNotLogged, assertRejected, callWith } from './tokens.mjs'
import { randomToken, startWorker } from './worker.mjs'
import { startWorkerds } from './workerd.mjs'

const RESOURCE = 'https://kb.example.com/mcp'
const OTHER = 'https://other.example.com/mcp'
const scopes = 'kb:read kb:write'
const ANOTHER_SERVER = /^The access token was issued for another server\.$/
const DOCUMENT = { slug: 'greeting', title: 'Greeting', text: 'Hello' }

let authorization
// Workers with introspection by HTTP Basic; with static tokens and introspection by `client_secret_post`; and with signed tokens.
let introspectionWorker, combinedWorker, jwtWorker
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
  const app = { name: 'app', database: true };
  [introspectionWorker, combinedWorker, jwtWorker] = await startWorkerds([
    { ...app, secrets, vars: { ...introspection, MCP_AUTH: 'introspection' } },
    { ...app, secrets, vars: { ...introspection, MCP_AUTH: 'static,introspection', MCP_INTROSPECTION_AUTH_METHOD: 'post' } },
    { ...app, vars: { MCP_AUTH: 'jwt', MCP_ISSUER: issuer, MCP_JWKS_URL: jwksUrl, MCP_AUTHORIZATION_SERVERS: issuer } },
  ])
})
after(() => Promise.all([introspectionWorker, combinedWorker, jwtWorker, authorization].map((each) => each?.stop())))

const get = (resource, scope = scopes) => authorization.clientCredentials({ resource, scope })

describe('introspected tokens', () => {
  test('are accepted with their scopes', async () => {
    const reader = await get(RESOURCE, 'kb:read')
    await assertAccepted(introspectionWorker, reader)
    const { status, body, headers } = await callWith(introspectionWorker, reader, 'save-document', DOCUMENT)
    assert.deepEqual([status, body.id], [403, 1])
    assert.equal(headers.get('www-authenticate'), 'Bearer error="insufficient_scope", ' +
      'error_description="The access token does not have the scopes for this request. It needs: kb:write.", scope="kb:write", ' +
      'resource_metadata="https://kb.example.com/.well-known/oauth-protected-resource/mcp"')
    const saved = await callWith(introspectionWorker, await get(RESOURCE, 'kb:write'), 'save-document', DOCUMENT)
    assert.equal(saved.body.result.structuredContent.slug, 'greeting')
  })

  test('are rejected if they are unknown or for another server', async () => {
    await assertRejected(introspectionWorker, await get(OTHER), ANOTHER_SERVER)
    await assertRejected(introspectionWorker, randomToken())
    await assertRejected(introspectionWorker, introspectionWorker.token)
  })

  test('are rejected after revocation, unless their introspection answer is cached', async () => {
    const [early, late] = [await get(RESOURCE), await get(RESOURCE)]
    await authorization.revoke(early)
    await assertRejected(introspectionWorker, early)
    await assertAccepted(introspectionWorker, late)
    await authorization.revoke(late)
    await assertAccepted(introspectionWorker, late)
    // The first Worker caches the introspection answer for 60 s. The second Worker has no cached answer.
    await assertRejected(combinedWorker, late)
  })

  test('are accepted on an endpoint that also has static tokens', async () => {
    await assertAccepted(combinedWorker, combinedWorker.token)
    await assertAccepted(combinedWorker, await get(RESOURCE))
    await assertRejected(combinedWorker, await get(OTHER), ANOTHER_SERVER)
    await assertRejected(combinedWorker, randomToken())
  })

  test('are rejected in a URL', async () => {
    const token = await get(RESOURCE)
    const { status, body } = await post({ url: `${introspectionWorker.url}?access_token=${token}` }, {}, { Authorization: '' })
    assert.equal(status, 400)
    assert.match(body.error.message, /^Access tokens in the URL are rejected/)
    await assertAccepted(introspectionWorker, token)
  })
})

/** Decodes a part of a JWT. */
const decode = (part) => JSON.parse(Buffer.from(part, 'base64url'))
/** Changes some members of a part of a JWT. */
const changed = (part, members) => Buffer.from(JSON.stringify({ ...decode(part), ...members })).toString('base64url')

describe('signed tokens', () => {
  for (const algorithm of ['RS256', 'ES256', 'EdDSA']) {
    test(`with ${algorithm} are accepted, and rejected if they are modified or for another server`, async () => {
      const elsewhere = `${jwtWorker.origin}/elsewhere`
      for (const url of [jwtWorker.url, elsewhere]) authorization.resources.set(url, { scopes, format: 'jwt', algorithm })
      const token = await get(jwtWorker.url, 'kb:read')
      await assertAccepted(jwtWorker, token)
      assert.equal((await callWith(jwtWorker, token, 'save-document', DOCUMENT)).status, 403)
      await assertRejected(jwtWorker, await get(elsewhere), ANOTHER_SERVER)

      const [head, claims, signature] = token.split('.')
      assert.equal(decode(head).alg, algorithm)
      const another = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1)
      for (const forged of [
        `${head}.${changed(claims, { scope: scopes })}.${signature}`,
        `${head}.${claims}.${another}`,
        `${head}.${claims}.${signature}AAAA`,
        `${head}.${claims}.`,
        `${changed(head, { alg: 'none' })}.${claims}.`,
      ]) {
        await assertRejected(jwtWorker, forged)
      }
    })
  }

  test('opaque and static tokens are rejected on the same endpoint', async () => {
    await assertRejected(jwtWorker, await get(RESOURCE))
    await assertRejected(jwtWorker, jwtWorker.token)
  })
})

describe('discovery', () => {
  const METADATA = '/.well-known/oauth-protected-resource'
  const METHODS = 'GET, HEAD, OPTIONS'
  const headers = { Origin: 'https://app.example.com' }

  test('starts with a challenge and the protected resource metadata', async () => {
    const challenged = await fetch(jwtWorker.url, { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: '{}' })
    assert.equal(challenged.status, 401)
    assert.equal(challenged.headers.get('www-authenticate'),
      `Bearer scope="kb:read kb:write", resource_metadata="${jwtWorker.origin}${METADATA}/mcp"`)
    for (const path of [METADATA, `${METADATA}/mcp`]) {
      const url = `${jwtWorker.origin}${path}`
      const read = await fetch(url, { headers })
      assert.deepEqual(await read.json(), {
        resource: jwtWorker.url,
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
    assert.equal((await fetch(`${jwtWorker.origin}${METADATA}/elsewhere`)).status, 404)
    const configured = await fetch(`${introspectionWorker.origin}${METADATA}/mcp`)
    assert.equal((await configured.json()).resource, RESOURCE)
  })

  test('redirects older clients to the metadata of the authorization server', async () => {
    const url = `${jwtWorker.origin}/.well-known/oauth-authorization-server`
    const { status, headers } = await fetch(url, { redirect: 'manual' })
    assert.deepEqual([status, headers.get('location')],
      [302, `${authorization.issuer}/.well-known/oauth-authorization-server`])
    const { issuer, token_endpoint } = await (await fetch(url)).json()
    assert.equal(issuer, authorization.issuer)
    assert.ok(token_endpoint.startsWith(issuer))
  })

  for (const { name, make, Transport } of CLIENTS) {
    test(`gives ${name} a token after the user has signed in`, async () => {
      authorization.resources.set(jwtWorker.url, { scopes, format: 'jwt' })
      const stored = {}
      const authProvider = {
        redirectUrl: 'http://127.0.0.1:1/callback',
        clientMetadata: {
          client_name: 'e2e', redirect_uris: ['http://127.0.0.1:1/callback'], token_endpoint_auth_method: 'none',
        },
        state: () => 'the-state',
        clientInformation: () => stored.client,
        saveClientInformation: (client) => { stored.client = client },
        tokens: () => stored.tokens,
        saveTokens: (tokens) => { stored.tokens = tokens },
        codeVerifier: () => stored.verifier,
        saveCodeVerifier: (verifier) => { stored.verifier = verifier },
        discoveryState: () => stored.discovery,
        saveDiscoveryState: (discovery) => { stored.discovery = discovery },
        redirectToAuthorization: (url) => { stored.redirect = url },
      }
      const transport = () => new Transport(new URL(jwtWorker.url), { authProvider })

      const first = transport()
      await assert.rejects(make().connect(first), /Unauthorized/)
      const { code, iss, state } = await authorization.authorize(stored.redirect)
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
      const { sub, scope } = decode(stored.tokens.access_token.split('.')[1])
      assert.deepEqual([sub, scope], [ACCOUNT, scopes])
      await assertAccepted(jwtWorker, stored.tokens.access_token)
    })
  }
})

test('the rate limit applies to each caller separately', async () => {
  const [limited, other] = [randomToken(), randomToken()]
  const tokens = [limited, other].map((token, n) => ({ token, subject: `caller ${n}`, scopes: ['kb:read'] }))
  const worker = await startWorker({
    secrets: { MCP_STATIC_TOKENS: JSON.stringify(tokens) },
    config: (toml) => toml.replace('limit = 1000', 'limit = 3'),
  })
  try {
    // If a new period starts during the test, up to twice the limit can pass.
    const countUntil429 = async (token, statusBefore) => {
      for (let passed = 0; passed <= 6; passed++) {
        const { status, headers, body } = await callWith(worker, token)
        if (status === 429) {
          assert.equal(headers.get('retry-after'), '60')
          assert.match(body.error.message, /^Too many requests\. Wait/)
          return passed
        }
        assert.equal(status, statusBefore)
      }
      assert.fail('the limit was not applied')
    }
    assert.ok(await countUntil429(limited, 200) >= 3)
    await assertAccepted(worker, other)
    // Requests without a valid token count for the address, and so does the request for the landing page with which `startWorker` waits for
    // the Worker. Requests of authenticated callers do not.
    assert.ok(await countUntil429(randomToken(), 401) >= 2)
    await assertAccepted(worker, other)
    await assertNotLogged([worker], authorization.resourceServer)
  } finally {
    await worker.stop()
  }
})

test('the log contains no token and no secret', () =>
  assertNotLogged([introspectionWorker, combinedWorker, jwtWorker], authorization.resourceServer))
