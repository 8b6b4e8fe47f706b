// The knowledge base and a real authorization server: tokens that it is asked about, tokens that it has signed, and how to get one.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'

import { modern, post } from './ask.mjs'
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
  // Only the secrets that are listed there reach the Worker.
  const config = (toml) => toml.replace('["MCP_STATIC_TOKENS"]', '["MCP_STATIC_TOKENS", "MCP_INTROSPECTION_CLIENT_SECRET"]')
  const started = await Promise.all([
    startWorker({ vars: { ...introspection, MCP_AUTH: 'introspection' }, secrets, config }),
    startWorker({
      vars: { ...introspection, MCP_AUTH: 'static,introspection', MCP_INTROSPECTION_AUTH_METHOD: 'post' }, secrets, config,
    }),
    startWorker({
      vars: { MCP_AUTH: 'jwt', MCP_ISSUER: issuer, MCP_JWKS_URL: jwksUrl, MCP_AUTHORIZATION_SERVERS: issuer },
    }),
  ]);
  [asking, either, signed] = started
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
      'error_description="The access token lacks scope for this. It needs: kb:write.", scope="kb:write", ' +
      'resource_metadata="https://kb.example.com/.well-known/oauth-protected-resource/mcp"')
    const saved = await use(asking, await get(RESOURCE, 'kb:write'), 'save-document', DOCUMENT)
    assert.equal(saved.body.result.structuredContent.slug, 'greeting')
  })

  test('of another server, of nobody, or of no kind are refused', async () => {
    await isRefused(asking, await get(OTHER), ANOTHER_SERVER)
    await isRefused(asking, randomToken())
    await isRefused(asking, asking.token)
  })

  test('that are revoked are refused; where one was used before, after a while', async () => {
    const [early, late] = [await get(RESOURCE), await get(RESOURCE)]
    await authorization.revoke(early)
    await isRefused(asking, early)
    await passes(asking, late)
    await authorization.revoke(late)
    await passes(asking, late)
    // What has been said of it is kept by the Worker that it was said to, and by no other.
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
    const { status, body } = await post({ url: `${asking.url}?access_token=${token}`, token }, {})
    assert.equal(status, 400)
    assert.match(body.error.message, /^An access token in the URL /)
    await passes(asking, token)
  })
})

describe('tokens that the authorization server has signed', () => {
  const changed = (part, change) => btoa(JSON.stringify(change(JSON.parse(Buffer.from(part, 'base64url')))))
    .replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')

  for (const algorithm of ['RS256', 'ES256', 'EdDSA']) {
    test(`by ${algorithm}: pass here, and unchanged`, async () => {
      const elsewhere = `${signed.origin}/elsewhere`
      for (const url of [signed.url, elsewhere]) authorization.resources.set(url, { scopes, format: 'jwt', algorithm })
      const token = await get(signed.url, 'kb:read')
      await passes(signed, token)
      assert.equal((await use(signed, token, 'save-document', DOCUMENT)).status, 403)
      await isRefused(signed, await get(elsewhere), ANOTHER_SERVER)

      const [head, claims, signature] = token.split('.')
      assert.equal(JSON.parse(atob(head)).alg, algorithm)
      const more = changed(claims, (content) => ({ ...content, scope: scopes }))
      const another = (signature.startsWith('A') ? 'B' : 'A') + signature.slice(1)
      const unsigned = changed(head, (content) => ({ ...content, alg: 'none' }))
      for (const forged of [
        `${head}.${more}.${signature}`, `${head}.${claims}.${another}`, `${head}.${claims}.`, `${unsigned}.${claims}.`,
      ]) {
        await isRefused(signed, forged)
      }
    })
  }

  test('or not: a token that only the authorization server can read is none', async () => {
    await isRefused(signed, await get(RESOURCE))
  })
})

describe('the way to a token', () => {
  const metadata = '/.well-known/oauth-protected-resource'

  test('begins with who issues tokens, for which server and with which scopes', async () => {
    const { status, headers } = await modern({ ...signed, token: '' }, 'tools/list')
    assert.equal(status, 400, 'an empty token is none')
    const expected = {
      resource: signed.url,
      authorization_servers: [authorization.issuer],
      scopes_supported: ['kb:read', 'kb:write'],
      bearer_methods_supported: ['header'],
      resource_name: 'Knowledge base',
    }
    for (const path of [metadata, `${metadata}/mcp`]) {
      const url = `${signed.origin}${path}`
      const response = await fetch(url, { headers: { Origin: 'https://app.example.com' } })
      assert.deepEqual(await response.json(), expected)
      const inHeaders = [200, 'application/json', '*']
      const seen = ({ status, headers }) => [status, headers.get('content-type'), headers.get('access-control-allow-origin')]
      assert.deepEqual(seen(response), inHeaders)
      const head = await fetch(url, { method: 'HEAD' })
      assert.deepEqual([...seen(head), await head.text()], [...inHeaders, ''])
      const preflight = await fetch(url, { method: 'OPTIONS', headers: { Origin: 'https://app.example.com' } })
      assert.deepEqual([preflight.status, preflight.headers.get('access-control-allow-methods')], [204, 'GET, HEAD, OPTIONS'])
      const posted = await fetch(url, { method: 'POST', body: '{}' })
      assert.deepEqual([posted.status, posted.headers.get('allow')], [405, 'GET, HEAD, OPTIONS'])
      await posted.arrayBuffer()
    }
    assert.equal((await fetch(`${signed.origin}${metadata}/elsewhere`)).status, 404)
    assert.equal((await (await fetch(`${asking.origin}${metadata}/mcp`)).json()).resource, RESOURCE, 'what is configured')
  })
})
