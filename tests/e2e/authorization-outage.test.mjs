// The knowledge base and an authorization server that is down, slow, or out of its mind.

import assert from 'node:assert/strict'
import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'

import { startAuthorizationServer } from './authorization-server.mjs'
import { areQuiet, passes, use } from './tokens.mjs'
import { startWorker } from './worker.mjs'

const RESOURCE = 'https://kb.example.com/mcp'

const asks = (endpoint, { id, secret }) => ({
  vars: {
    MCP_AUTH: 'introspection',
    MCP_RESOURCE: RESOURCE,
    MCP_INTROSPECTION_ENDPOINT: endpoint,
    MCP_INTROSPECTION_CLIENT_ID: id,
  },
  secrets: { MCP_INTROSPECTION_CLIENT_SECRET: secret },
  config: (toml) => toml.replace('required = [', 'required = ["MCP_INTROSPECTION_CLIENT_SECRET", '),
})

/** Nobody can say whether the token is good: so much is said, and the log says why. */
async function cannotBeChecked(worker, token, cause) {
  const { status, headers, body } = await use(worker, token)
  assert.deepEqual([status, headers.get('retry-after'), headers.get('www-authenticate')], [503, '5', null], JSON.stringify(body))
  const message = 'Access tokens cannot be checked at the moment. Try again in a few seconds.'
  assert.deepEqual(body, { jsonrpc: '2.0', error: { code: -32600, message } })
  assert.ok(!JSON.stringify([...headers]).includes('127.0.0.1'))
  await worker.logged(new RegExp(`"status":503,"error":-32600,"refused":"unavailable: ${cause}`))
}

describe('an authorization server that is down', () => {
  let authorization, asking, signed
  before(async () => {
    authorization = await startAuthorizationServer()
    const { issuer, jwksUrl, introspectionUrl, resourceServer, resources } = authorization
    asking = await startWorker(asks(introspectionUrl, resourceServer))
    signed = await startWorker({ vars: { MCP_AUTH: 'jwt', MCP_RESOURCE: RESOURCE, MCP_ISSUER: issuer, MCP_JWKS_URL: jwksUrl } })
    resources.set(RESOURCE, { scopes: 'kb:read' })
  })
  after(() => Promise.all([asking, signed, authorization].map((each) => each?.stop())))

  const get = () => authorization.clientCredentials({ resource: RESOURCE, scope: 'kb:read' })

  test('cannot be asked: tokens that were seen pass, and the others once it is back', async () => {
    const [seen, unseen] = [await get(), await get()]
    await passes(asking, seen)
    await authorization.stop()
    await cannotBeChecked(asking, unseen, 'the other server cannot be reached: ')
    await passes(asking, seen)
    await authorization.start()
    await passes(asking, unseen)
  })

  test('has its keys to itself: no signature passes until it is back, and then all do without it', async () => {
    authorization.resources.set(RESOURCE, { scopes: 'kb:read', format: 'jwt' })
    const [first, second] = [await get(), await get()]
    await authorization.stop()
    await cannotBeChecked(signed, first, 'the keys of the issuer cannot be fetched: the other server cannot be reached: ')
    await authorization.start()
    // The keys are fetched again after the time that the answer has named, and no token can bring that forward.
    await cannotBeChecked(signed, first, 'the keys of the issuer cannot be fetched: the last attempt failed less than 5 s ago')
    await sleep(6_000)
    await passes(signed, first)
    await authorization.stop()
    await passes(signed, second)
  })

  test('stays out of the log, with its tokens and its secret', () => areQuiet([asking, signed], authorization.resourceServer))
})

describe('an authorization server that answers', () => {
  const LIMIT = 64 * 1024
  const active = (length = 0) =>
    JSON.stringify({ active: true, aud: RESOURCE, sub: 'ada', scope: 'kb:read' }).padEnd(length)
  const packed = { 'Content-Encoding': 'gzip' }
  const says = (body, status = 200, headers = {}) => (response) => response.writeHead(status, headers).end(body)
  const begins = (body, then) => (response) => response.writeHead(200).write(body, () => then?.(response))
  const announces = (length, then) => (response) =>
    response.writeHead(200, { 'Content-Length': length }).write(active(), () => then(response))
  const goesOn = (response) => {
    response.writeHead(200)
    const more = () => { while (!response.destroyed && response.write(' '.repeat(LIMIT / 4))); }
    response.on('drain', more)
    more()
  }

  const TOO_SLOW = 'the other server did not answer in time'
  const TOO_LARGE = 'the answer of the other server is too long'
  const WAYS = [
    { what: 'nothing', answer: () => {}, cause: TOO_SLOW, isCutOff: true },
    { what: 'by halves', answer: begins('{"active":true,'), cause: TOO_SLOW, isCutOff: true },
    { what: 'without an end', answer: goesOn, cause: TOO_LARGE, isCutOff: true },
    { what: 'a byte too much', answer: says(active(LIMIT + 1)), cause: TOO_LARGE },
    { what: 'a byte too much, packed', answer: says(gzipSync(active(LIMIT + 1)), 200, packed), cause: TOO_LARGE },
    { what: 'and hangs up', answer: begins('{"active":', (response) => response.destroy()), cause: 'the other server cannot be reached: ' },
    { what: 'by a reset', answer: (response) => response.socket.resetAndDestroy(), cause: 'the other server cannot be reached: ' },
    { what: 'less than it announced', answer: announces(1000, (response) => response.socket.end()), cause: 'the other server cannot be reached: ' },
    { what: 'more than it announced', answer: announces(10, (response) => response.end()), cause: 'the answer of the authorization server is not a JSON object' },
    { what: 'that another knows', answer: says(active(), 302, { Location: '/another' }), cause: 'the authorization server answers with status 302' },
    { what: 'that another has to be asked', answer: says(active(), 307, { Location: '/another' }), cause: 'the authorization server answers with status 307' },
    { what: 'that it does not know the server', answer: says(active(), 401), cause: 'the authorization server answers with status 401' },
    { what: 'that it has failed', answer: says(active(), 500), cause: 'the authorization server answers with status 500' },
    { what: 'with a page', answer: says('<h1>Welcome</h1>'), cause: 'the answer of the authorization server is not a JSON object' },
    { what: 'neither yes nor no', answer: says('{}'), cause: 'the answer of the authorization server has no `active`' },
  ]
  const tokenFor = (what) => Buffer.from(what).toString('base64url')
  const FULL = { what: 'in full', answer: says(active(LIMIT)) }
  const ANSWERS = new Map([...WAYS, FULL].map(({ what, answer }) => [tokenFor(what), answer]))

  // A token of its own kind: nothing is said of it, and only once nobody waits for that any more are there keys to check it by.
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
    response.on('close', () => { if (!response.writableFinished) server.emit(`cut off: ${token}`) })
    if (request.url === '/keys') return isLeft.then(() => says(keys)(response))
    const answer = request.url === '/introspection' ? ANSWERS.get(token) : says(active())
    answer?.(response)
  })
  const isLeft = once(server, `cut off: ${signedToken}`)
  const resourceServer = { id: 'mcp', secret: 'k+y 9%:&=/' }
  let worker
  before(async () => {
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const origin = `http://127.0.0.1:${server.address().port}`
    const { vars, ...more } = asks(`${origin}/introspection`, resourceServer)
    const both = { ...vars, MCP_AUTH: 'introspection,jwt', MCP_ISSUER: issuer, MCP_JWKS_URL: `${origin}/keys` }
    worker = await startWorker({ ...more, vars: both })
  })
  after(async () => {
    await worker?.stop()
    server.close()
    server.closeAllConnections()
  })

  test('in full: the token passes', () => passes(worker, tokenFor(FULL.what)))

  describe('badly:', { concurrency: true }, () => {
    test('nothing, and is left before another is asked', () => passes(worker, signedToken))
    for (const { what, cause, isCutOff } of WAYS) {
      test(what, async () => {
        const end = isCutOff && once(server, `cut off: ${tokenFor(what)}`)
        await cannotBeChecked(worker, tokenFor(what), cause)
        await end
      })
    }
  })

  test('is not followed elsewhere', () => assert.deepEqual([...paths].sort(), ['/introspection', '/keys']))

  test('stays out of the log, with the tokens and the secret', () => areQuiet([worker], resourceServer))
})
