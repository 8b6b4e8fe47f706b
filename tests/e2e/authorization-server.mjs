// A real authorization server on loopback, for tests: own port, own keys, nothing on disk.
//
//   const authorization = await startAuthorizationServer()
//   authorization.resources.set(worker.url, { format: 'jwt', scopes: 'kb:read kb:write' })
//   const token = await authorization.clientCredentials({ resource: worker.url, scope: 'kb:read' })
//   await authorization.stop()
//
// Why oidc-provider and not a few routes of our own: routes of our own would share every
// misunderstanding with the code that they are to test. This one is certified, and strict.

import { generateKeyPair } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { promisify } from 'node:util'

import Provider, { errors } from 'oidc-provider'
// The store that oidc-provider takes by itself; given by hand, it comes without a warning on the console.
import { createMemoryAdapter } from 'oidc-provider/lib/adapters/memory_adapter.js'

/** The person who signs in, and at once agrees to everything. */
export const ACCOUNT = 'ada'

// Who sends these by Basic without form-encoding them first (RFC 6749, section 2.3.1) is refused.
const CLIENT = { id: 'nightly job: 100% + more', secret: 'p&ss w:rd/50%+?=' }
const RESOURCE_SERVER = { id: 'mcp: 100% + server', secret: 'k+y 9%:&=/' }

const HOUR = 3600
const KEYS = {
  RS256: ['rsa', { modulusLength: 2048 }],
  ES256: ['ec', { namedCurve: 'P-256' }],
  EdDSA: ['ed25519'],
}

/**
 * Starts an authorization server: client credentials, the authorization code with PKCE for clients that
 * register themselves, introspection and revocation.
 *
 * @param {object} [options]
 * @param {Record<string, Resource>} [options.resources] what tokens are issued for, by the URL that a client
 *   asks for (RFC 8707); that URL is the audience, to the letter
 * @param {Credentials} [options.client] who may use `client_credentials`; the default needs form-encoding
 * @param {Credentials} [options.resourceServer] who may introspect; the default needs form-encoding
 * @returns {Promise<AuthorizationServer>}
 *
 * @typedef {object} Resource
 * @property {string} scopes those that it knows; others are left out of its tokens
 * @property {'opaque' | 'jwt'} [format] of its access tokens, `opaque` (default) to be introspected
 * @property {'RS256' | 'ES256' | 'EdDSA'} [algorithm] that its JWTs are signed with, RS256 by default
 * @property {number} [lifetime] of its access tokens in seconds, an hour by default
 *
 * @typedef {{ id: string, secret: string }} Credentials
 *
 * @typedef {object} AuthorizationServer
 * @property {string} issuer http://127.0.0.1:PORT, with no slash at the end
 * @property {string} introspectionUrl
 * @property {string} jwksUrl
 * @property {Map<string, Resource>} resources to add to, change and take from at any time
 * @property {Credentials} client
 * @property {Credentials} resourceServer
 * @property {(request: { resource?: string, scope?: string }) => Promise<string>} clientCredentials an access
 *   token for the client itself; without `scope` one that has no scope
 * @property {(token: string) => Promise<void>} revoke ends any opaque token; a JWT cannot be revoked
 * @property {(url: string | URL) => Promise<Record<string, string>>} authorize follows an authorization URL, as
 *   the browser of ACCOUNT, up to the redirect URI, which is not asked; gives what its query holds:
 *   `code`, `iss` and `state`, or `error` and its description in place of the code. A request without a scope
 *   that the resource knows is denied.
 * @property {() => Promise<void>} stop from here on connections are refused
 * @property {() => Promise<void>} start after a stop: the same issuer with the same keys, clients and tokens
 */
export async function startAuthorizationServer({
  resources: initial = {}, client = CLIENT, resourceServer = RESOURCE_SERVER,
} = {}) {
  const resources = new Map(Object.entries(initial))
  // The port is in the issuer, and the issuer in all that the provider says: so the port comes first.
  const server = createServer()
  // No connection outlives its answer: after a stop, a client is refused at once and not cut off first.
  server.maxRequestsPerSocket = 1
  await listen(server, 0)
  const { port } = server.address()
  const issuer = `http://127.0.0.1:${port}`
  const provider = new Provider(issuer, configuration({ resources, client, resourceServer, keys: await signingKeys() }))
  provider.use(consent(provider))
  server.on('request', provider.callback())

  // A request of a confidential client; gives the text of the answer.
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
    async clientCredentials({ resource, scope }) {
      return JSON.parse(await post('token', client, { grant_type: 'client_credentials', resource, scope })).access_token
    },
    async revoke(token) {
      await post('revocation', client, { token })
    },
    authorize: (url) => authorize(url, issuer),
    async stop() {
      const closed = once(server, 'close')
      server.close()
      // Those that are being answered, and those that have not asked yet.
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

// Whatever is left out here, oidc-provider has a default for, and for many of those a line on the console.
const configuration = ({ resources, client, resourceServer, keys }) => ({
  adapter: createMemoryAdapter(),
  jwks: { keys },
  clients: [
    { ...confidential(client), grant_types: ['client_credentials'] },
    { ...confidential(resourceServer), grant_types: [] },
  ],
  clientAuthMethods: ['client_secret_basic', 'client_secret_post', 'none'],
  // The official client registers for refresh tokens unless it is told not to: let it, and issue none.
  scopes: [],
  issueRefreshToken: () => false,
  pkce: { required: () => true },
  // A client registers with the scopes it will ask for, and oidc-provider refuses those that it has not been
  // told of at the start. Which ones are granted is for the resource to say, so this is not held on to.
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
    Interaction: HOUR,
    Session: HOUR,
  },
  clientBasedCORS: () => false,
  findAccount: (_ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  interactions: { url: (_ctx, { uid }) => `/interaction/${uid}` },
  // The page for the person is read by a test, in the error that authorize throws.
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
    revocation: { enabled: true, allowedPolicy: (_ctx, { clientId }) => clientId === client.id },
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

// Where the pages to sign in and to agree would be.
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

async function authorize(start, issuer) {
  const cookies = new Map()
  let url = new URL(start)
  // Three requests lead there: the authorization, the consent, and what resumes the first. More go in circles.
  for (let hops = 0; hops < 10; hops += 1) {
    const response = await fetch(url, {
      redirect: 'manual',
      headers: { Cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    })
    const text = await response.text()
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)
      // oidc-provider empties a cookie to delete it.
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
