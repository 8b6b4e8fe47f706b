// Tests the knowledge base with an authorization server that is down, slow or faulty.

import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'

import { startAuthorizationServer } from './authorization-server.mjs'
import { assertAccepted, assertNotLogged, callWith } from './tokens.mjs'
import { startApp } from './workerd.mjs'

const RESOURCE = 'https://kb.example.com/mcp'

const introspectionOptions = (endpoint, { id, secret }) => ({
  vars: {
    MCP_AUTH: 'introspection',
    MCP_RESOURCE: RESOURCE,
    MCP_INTROSPECTION_ENDPOINT: endpoint,
    MCP_INTROSPECTION_CLIENT_ID: id,
  },
  secrets: { MCP_INTROSPECTION_CLIENT_SECRET: secret },
})

/** Asserts that the server answers 503 because it cannot check the token, and that only the log has the cause. */
async function assertUnavailable(worker, token, cause) {
  const { status, headers, body } = await callWith(worker, token)
  assert.deepEqual([status, headers.get('retry-after'), headers.get('www-authenticate')], [503, '5', null], JSON.stringify(body))
  const message = 'Access tokens cannot be checked at the moment. Try again in a few seconds.'
  assert.deepEqual(body, { jsonrpc: '2.0', error: { code: -32600, message } })
  assert.ok(!JSON.stringify([...headers]).includes('127.0.0.1'))
  await worker.logged(new RegExp(`"status":503,"error":-32600,"refused":"unavailable: ${cause}`))
}

describe('while the authorization server is down', () => {
  let authorization, introspectionWorker, jwtWorker
  before(async () => {
    authorization = await startAuthorizationServer()
    const { issuer, jwksUrl, introspectionUrl, resourceServer, resources } = authorization
    introspectionWorker = await startApp(introspectionOptions(introspectionUrl, resourceServer))
    jwtWorker = await startApp({ vars: { MCP_AUTH: 'jwt', MCP_RESOURCE: RESOURCE, MCP_ISSUER: issuer, MCP_JWKS_URL: jwksUrl } })
    resources.set(RESOURCE, { scopes: 'kb:read' })
  })
  after(() => Promise.all([introspectionWorker, jwtWorker, authorization].map((each) => each?.stop())))

  const get = () => authorization.clientCredentials({ resource: RESOURCE, scope: 'kb:read' })

  test('cached introspection answers are used, and other tokens get 503', async () => {
    const [cached, uncached] = [await get(), await get()]
    await assertAccepted(introspectionWorker, cached)
    await authorization.stop()
    await assertUnavailable(introspectionWorker, uncached, 'the other server cannot be reached: ')
    await assertAccepted(introspectionWorker, cached)
    await authorization.start()
    await assertAccepted(introspectionWorker, uncached)
  })

  test('signed tokens get 503 until the keys are fetched, and the cached keys are used after that', async () => {
    authorization.resources.set(RESOURCE, { scopes: 'kb:read', format: 'jwt' })
    const [first, second] = [await get(), await get()]
    await authorization.stop()
    await assertUnavailable(jwtWorker, first, 'the keys of the issuer cannot be fetched: the other server cannot be reached: ')
    await authorization.start()
    // The server fetches the keys again after the time in Retry-After, and no token makes it fetch them earlier.
    await assertUnavailable(jwtWorker, first, 'the keys of the issuer cannot be fetched: the last attempt failed less than 5 s ago')
    await sleep(6_000)
    await assertAccepted(jwtWorker, first)
    await authorization.stop()
    await assertAccepted(jwtWorker, second)
  })

  test('the log contains no token and no secret', () =>
    assertNotLogged([introspectionWorker, jwtWorker], authorization.resourceServer))
})

describe('faulty introspection responses', () => {
  const LIMIT = 64 * 1024
  const active = (length = 0) =>
    JSON.stringify({ active: true, aud: RESOURCE, sub: 'ada', scope: 'kb:read' }).padEnd(length)
  const compressed = { 'Content-Encoding': 'gzip' }
  const sends = (body, status = 200, headers = {}) => (response) => response.writeHead(status, headers).end(body)
  const sendsStart = (body, then) => (response) => response.writeHead(200).write(body, () => then?.(response))
  const declaresLength = (length, then) => (response) =>
    response.writeHead(200, { 'Content-Length': length }).write(active(), () => then(response))
  const sendsWithoutEnd = (response) => {
    response.writeHead(200)
    const more = () => { while (!response.destroyed && response.write(' '.repeat(LIMIT / 4))); }
    response.on('drain', more)
    more()
  }

  const TOO_SLOW = 'the other server did not answer in time'
  const TOO_LARGE = 'the answer of the other server is too long'
  const FAULTY_ANSWERS = [
    { what: 'no response', answer: () => {}, cause: TOO_SLOW, isAborted: true },
    { what: 'half of a response', answer: sendsStart('{"active":true,'), cause: TOO_SLOW, isAborted: true },
    { what: 'an endless response', answer: sendsWithoutEnd, cause: TOO_LARGE, isAborted: true },
    { what: 'one byte beyond the limit', answer: sends(active(LIMIT + 1)), cause: TOO_LARGE },
    { what: 'one byte beyond the limit, compressed', answer: sends(gzipSync(active(LIMIT + 1)), 200, compressed), cause: TOO_LARGE },
    { what: 'half of a response and closes the connection', answer: sendsStart('{"active":', (response) => response.destroy()),
      cause: 'the other server cannot be reached: ' },
    { what: 'a connection reset', answer: (response) => response.socket.resetAndDestroy(), cause: 'the other server cannot be reached: ' },
    { what: 'fewer bytes than Content-Length', answer: declaresLength(1000, (response) => response.socket.end()),
      cause: 'the other server cannot be reached: ' },
    { what: 'more bytes than Content-Length', answer: declaresLength(10, (response) => response.end()),
      cause: 'the answer of the authorization server is not a JSON object' },
    { what: 'a redirect with status 302', answer: sends(active(), 302, { Location: '/another' }),
      cause: 'the authorization server answers with status 302' },
    { what: 'a redirect with status 307', answer: sends(active(), 307, { Location: '/another' }),
      cause: 'the authorization server answers with status 307' },
    { what: 'status 401', answer: sends(active(), 401), cause: 'the authorization server answers with status 401' },
    { what: 'status 500', answer: sends(active(), 500), cause: 'the authorization server answers with status 500' },
    { what: 'HTML', answer: sends('<h1>Welcome</h1>'), cause: 'the answer of the authorization server is not a JSON object' },
    { what: 'JSON without `active`', answer: sends('{}'), cause: 'the answer of the authorization server has no `active`' },
  ]
  const tokenFor = (what) => Buffer.from(what).toString('base64url')
  const LARGEST = { what: 'the largest valid response', answer: sends(active(LIMIT)) }
  const ANSWERS = new Map([...FAULTY_ANSWERS, LARGEST].map(({ what, answer }) => [tokenFor(what), answer]))

  // The introspection of this token gets no response. The Worker can also check the token as a JWT. The server sends the keys only after
  // the Worker has aborted the introspection.
  const { publicKey, privateKey } = generateKeyPairSync('ed25519')
  const issuer = 'https://auth.example.com'
  const claims = { iss: issuer, aud: RESOURCE, sub: 'ada', scope: 'kb:read', exp: Math.ceil(Date.now() / 1000) + 3600 }
  const message = [{ typ: 'at+jwt', alg: 'EdDSA' }, claims].map((part) => tokenFor(JSON.stringify(part))).join('.')
  const signedToken = `${message}.${sign(null, Buffer.from(message), privateKey).toString('base64url')}`
  const keys = JSON.stringify({ keys: [publicKey.export({ format: 'jwk' })] })

  const paths = new Set()
  const server = createServer(async (request, response) => {
    paths.add(request.url)
    const token = new URLSearchParams(await text(request)).get('token')
    response.on('close', () => { if (!response.writableFinished) server.emit(`aborted: ${token}`) })
    if (request.url === '/keys') return introspectionAborted.then(() => sends(keys)(response))
    const answer = request.url === '/introspection' ? ANSWERS.get(token) : sends(active())
    answer?.(response)
  })
  const introspectionAborted = once(server, `aborted: ${signedToken}`)
  const resourceServer = { id: 'mcp', secret: 'k+y 9%:&=/' }
  let worker
  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const origin = `http://127.0.0.1:${server.address().port}`
    const { vars, ...more } = introspectionOptions(`${origin}/introspection`, resourceServer)
    const both = { ...vars, MCP_AUTH: 'introspection,jwt', MCP_ISSUER: issuer, MCP_JWKS_URL: `${origin}/keys` }
    worker = await startApp({ ...more, vars: both })
  })
  after(async () => {
    await worker?.stop()
    server.close()
    server.closeAllConnections()
  })

  test('a valid response of 64 KiB is accepted', () => assertAccepted(worker, tokenFor(LARGEST.what)))

  describe('if the authorization server sends', { concurrency: true }, () => {
    test('no response, the introspection is aborted before the next method fetches keys', () => assertAccepted(worker, signedToken))
    for (const { what, cause, isAborted } of FAULTY_ANSWERS) {
      test(`${what}, the server answers 503`, async () => {
        const end = isAborted && once(server, `aborted: ${tokenFor(what)}`)
        await assertUnavailable(worker, tokenFor(what), cause)
        await end
      })
    }
  })

  test('redirects are not followed', () => assert.deepEqual([...paths].sort(), ['/introspection', '/keys']))

  test('the log contains no token and no secret', () => assertNotLogged([worker], resourceServer))
})
