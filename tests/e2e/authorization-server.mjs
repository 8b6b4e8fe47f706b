// Runs a real authorization server on the loopback address, with its own port and its own keys. It writes nothing to the disk.
//
//   const authorization = await startAuthorizationServer()
//   authorization.resources.set(worker.url, { format: 'jwt', scopes: 'kb:read kb:write' })
//   const token = await authorization.clientCredentials({ resource: worker.url, scope: 'kb:read' })
//   await authorization.stop()
//
// The server is oidc-provider, which is certified and strict. A server of our own could repeat the misunderstandings of the code under
// test, so the tests would not find them.

import { generateKeyPair } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { promisify } from 'node:util'

import Provider, { errors } from 'oidc-provider'
// This is the default store of oidc-provider. oidc-provider prints a warning unless the store is set explicitly.
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js'

/** The user who signs in. The server grants every consent for this user without a page. */
export const ACCOUNT = 'ada'

// A client must form-encode these values before it sends them with HTTP Basic (RFC 6749, section 2.3.1). Otherwise the server rejects it.
const CLIENT = { id: 'nightly job: 100% + more', secret: 'p&ss w:rd/50%+?=' }
const RESOURCE_SERVER = { id: 'mcp: 100% + server', secret: 'k+y 9%:&=/' }

const HOUR = 3600
const KEYS = {
  RS256: ['rsa', { modulusLength: 2048 }],
  ES256: ['ec', { namedCurve: 'P-256' }],
  EdDSA: ['ed25519'],
}

/**
 * Starts an authorization server with client credentials, authorization codes with PKCE for dynamically registered clients, introspection
 * and revocation.
 *
 * @param {object} [options]
 * @param {Record<string, Resource>} [options.resources] the resources for which the server issues tokens, by the URL in the `resource`
 *   parameter of a client (RFC 8707). The audience of a token is exactly this URL
 * @param {Credentials} [options.client] the client that may use `client_credentials`; the default credentials need form-encoding
 * @param {Credentials} [options.resourceServer] the client that may introspect tokens; the default credentials need form-encoding
 * @param {boolean} [options.hasPages] whether persons sign in and consent with forms, instead of ACCOUNT without a page. The server then
 *   issues refresh tokens, replaces them with each use, and revokes the access if one is used twice. Clients can revoke their tokens
 * @returns {Promise<AuthorizationServer>}
 *
 * @typedef {object} Resource
 * @property {string} scopes the scopes of the resource; its tokens do not get other scopes
 * @property {'opaque' | 'jwt'} [format] the format of its access tokens: `opaque` (default), for introspection, or `jwt`
 * @property {'RS256' | 'ES256' | 'EdDSA'} [algorithm] the signature algorithm of its JWTs, RS256 by default
 * @property {number} [lifetime] the lifetime of its access tokens in seconds, one hour by default
 *
 * @typedef {{ id: string, secret: string }} Credentials
 *
 * @typedef {object} AuthorizationServer
 * @property {string} issuer http://127.0.0.1:PORT, without a slash at the end
 * @property {string} introspectionUrl
 * @property {string} jwksUrl
 * @property {Map<string, Resource>} resources the resources; a test can change them at any time
 * @property {Credentials} client
 * @property {Credentials} resourceServer
 * @property {(request: { resource?: string, scope?: string }) => Promise<string>} clientCredentials returns an access token for the client
 *   itself. Without `scope`, the token has no scope
 * @property {(token: string) => Promise<void>} revoke revokes an opaque token. A JWT cannot be revoked
 * @property {(url: string | URL) => Promise<Record<string, string>>} authorize follows an authorization URL like the browser of ACCOUNT, up
 *   to the redirect URI, and does not request that URI. Returns the parameters in its query: `code`, `iss` and `state`, or `error` and
 *   `error_description` instead of `code`. The server denies a request that has no scope of the resource
 * @property {() => Promise<void>} forgetClients removes the clients that have registered themselves
 * @property {Exchange[]} exchanges all requests and answers
 * @property {() => Promise<void>} stop stops the server; connections are refused until `start`
 * @property {() => Promise<void>} start starts the server again after `stop`, with the same issuer, keys, clients and tokens
 *
 * @typedef {{ method: string, url: string, headers: object, sent?: object, status: number, answer: unknown }} Exchange a request with its
 *   parsed form or JSON, and the answer
 */
export async function startAuthorizationServer({
  resources: initial = {}, client = CLIENT, resourceServer = RESOURCE_SERVER, hasPages = false,
} = {}) {
  const resources = new Map(Object.entries(initial))
  // The issuer contains the port, and the responses of the provider contain the issuer. So listen before the provider is created.
  const server = createServer()
  // Each connection serves one request. So after `stop`, a client cannot use an open connection: the server refuses its new connection.
  server.maxRequestsPerSocket = 1
  await listen(server, 0)
  const { port } = server.address()
  const issuer = `http://127.0.0.1:${port}`
  const provider = new Provider(issuer, configuration({ resources, client, resourceServer, hasPages, keys: await signingKeys() }))
  const exchanges = []
  provider.use(async (ctx, next) => {
    await next()
    exchanges.push({
      method: ctx.method, url: ctx.url, headers: ctx.headers, sent: ctx.oidc?.body, status: ctx.status, answer: ctx.body,
    })
  })
  provider.use(hasPages ? pages(provider) : consent(provider))
  server.on('request', provider.callback())

  // Sends a request as a confidential client and returns the text of the response.
  async function post(endpoint, { id, secret }, form) {
    const response = await fetch(provider.urlFor(endpoint), {
      method: 'POST',
      headers: { Authorization: `Basic ${btoa(`${formEncoded(id)}:${formEncoded(secret)}`)}` },
      body: new URLSearchParams(Object.entries(form).filter(([, value]) => value !== undefined)),
    })
    const text = await response.text()
    if (!response.ok) throw new Error(`${endpoint} of the authorization server: HTTP ${response.status}: ${text}`)
    return text
  }

  return {
    issuer,
    introspectionUrl: provider.urlFor('introspection'),
    jwksUrl: provider.urlFor('jwks'),
    resources,
    client,
    resourceServer,
    exchanges,
    async clientCredentials({ resource, scope }) {
      return JSON.parse(await post('token', client, { grant_type: 'client_credentials', resource, scope })).access_token
    },
    async revoke(token) {
      await post('revocation', client, { token })
    },
    authorize: (url) => authorize(url, issuer),
    async forgetClients() {
      const registered = exchanges.filter(({ url, status }) => url === '/reg' && status === 201)
      for (const { answer } of registered) await provider.Client.adapter.destroy(answer.client_id)
    },
    async stop() {
      const closed = once(server, 'close')
      server.close()
      // This also closes connections with a pending response, and connections without a request.
      server.closeAllConnections()
      await closed
    },
    start: () => listen(server, port),
  }
}

async function listen(server, port) {
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
}

// oidc-provider has a default for each missing option, and prints a line for many of them.
const configuration = ({ resources, client, resourceServer, hasPages, keys }) => ({
  adapter: createMemoryAdapter(),
  jwks: { keys },
  clients: [
    { ...confidential(client), grant_types: ['client_credentials'] },
    { ...confidential(resourceServer), grant_types: [] },
  ],
  clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
  // The official client registers for refresh tokens by default. The server accepts the registration.
  scopes: hasPages ? ['offline_access'] : [],
  issueRefreshToken: (_ctx, _client, code) => hasPages && code.scopes.has('offline_access'),
  rotateRefreshToken: true,
  pkce: { required: () => true },
  // A client registers with the scopes that it is going to request, and oidc-provider rejects scopes that are not in its configuration.
  // The resource decides which scopes a token gets, so the server drops the scopes of the registration.
  extraClientMetadata: {
    properties: ['scope'],
    validator: (_ctx, _name, _value, metadata) => { delete metadata.scope },
  },
  ttl: {
    AccessToken: lifetime,
    ClientCredentials: lifetime,
    AuthorizationCode: HOUR,
    Grant: HOUR,
    IdToken: HOUR,
    RefreshToken: HOUR,
    Interaction: HOUR,
    Session: HOUR,
  },
  clientBasedCORS: () => false,
  findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
  // A test reads this page in the error that `authorize` throws.
  renderError: (ctx, _out, error) => {
    ctx.type = 'text'
    ctx.body = error.stack
  },
  features: {
    devInteractions: { enabled: false },
    rpInitiatedLogout: { enabled: false },
    clientCredentials: { enabled: true },
    registration: { enabled: true },
    introspection: { enabled: true, allowedPolicy: (_ctx, { clientId }) => clientId === resourceServer.id },
    revocation: { enabled: true, allowedPolicy: (_ctx, { clientId }) => hasPages || clientId === client.id },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo(_ctx, url) {
        const resource = resources.get(url)
        if (!resource) throw new errors.InvalidTarget(`no such resource: ${url}`)
        return {
          audience: url,
          scope: resource.scopes,
          accessTokenFormat: resource.format ?? 'opaque',
          accessTokenTTL: resource.lifetime,
          jwt: { sign: { alg: resource.algorithm ?? 'RS256' } },
        }
      },
    },
  },
})

const lifetime = (_ctx, token) => token.resourceServer?.accessTokenTTL ?? HOUR

const confidential = ({ id, secret }) =>
  ({ client_id: id, client_secret: secret, redirect_uris: [], response_types: [] })

const formEncoded = (text) => new URLSearchParams({ '': text }).toString().slice('='.length)

const signingKeys = () => Promise.all(Object.entries(KEYS).map(async ([alg, [type, options]]) => {
  const { privateKey } = await promisify(generateKeyPair)(type, options)
  return { ...privateKey.export({ format: 'jwk' }), alg, use: 'sig' }
}))

// Replaces the pages for sign-in and consent.
const consent = (provider) => async (ctx, next) => {
  if (!ctx.path.startsWith('/interaction/')) return next()
  const { params } = await provider.interactionDetails(ctx.req, ctx.res)
  const grant = new provider.Grant({ accountId: ACCOUNT, clientId: params.client_id })
  if (params.scope) {
    grant.addOIDCScope(params.scope)
    for (const resource of [params.resource ?? []].flat()) grant.addResourceScope(resource, params.scope)
  }
  const answer = { login: { accountId: ACCOUNT }, consent: { grantId: await grant.save() } }
  ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, answer))
}

// Serves a form for the name of the person, and one for the consent. Each form is sent to its own URL.
const pages = (provider) => async (ctx, next) => {
  if (!ctx.path.startsWith('/interaction/')) return next()
  const { params, prompt, session } = await provider.interactionDetails(ctx.req, ctx.res)
  if (ctx.method !== 'POST') {
    ctx.type = 'html'
    ctx.body = prompt.name === 'login'
      ? '<form method="post"><label>Name <input name="person"></label><button>Sign in</button></form>'
      : '<form method="post"><button name="decision" value="allow">Allow</button><button name="decision" value="deny">Deny</button></form>'
    return undefined
  }
  let form = ''
  for await (const part of ctx.req) form += part
  const { person, decision } = Object.fromEntries(new URLSearchParams(form))
  const answer = async () => {
    if (prompt.name === 'login') return { login: { accountId: person } }
    if (decision !== 'allow') return { error: 'access_denied', error_description: 'The person does not allow it.' }
    const grant = new provider.Grant({ accountId: session.accountId, clientId: params.client_id })
    grant.addOIDCScope((prompt.details.missingOIDCScope ?? []).join(' '))
    for (const [resource, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {})) {
      grant.addResourceScope(resource, scopes.join(' '))
    }
    return { consent: { grantId: await grant.save() } }
  }
  ctx.redirect(await provider.interactionResult(ctx.req, ctx.res, await answer()))
}

async function authorize(start, issuer) {
  const cookies = new Map()
  let url = new URL(start)
  // The flow takes three requests: authorization, consent, and the resumed authorization. A longer flow is a redirect loop.
  for (let hops = 0; hops < 10; hops += 1) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    const text = await response.text()
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)
      // oidc-provider deletes a cookie by setting an empty value.
      if (value) cookies.set(name, value)
      else cookies.delete(name)
    }
    const location = response.headers.get('Location')
    if (!location) throw new Error(`${url.pathname} of the authorization server: HTTP ${response.status}: ${text}`)
    url = new URL(location, url)
    if (url.origin !== issuer) return Object.fromEntries(url.searchParams)
  }
  throw new Error(`the authorization server keeps redirecting, now to ${url}`)
}
