// An authorization server for development and tests: it signs a token for everybody who asks. It also has exchange rates.
//
//   node examples/expenses/issuer.mjs                                    serves it on http://127.0.0.1:8790
//   curl 'http://127.0.0.1:8790/token?sub=bob&scope=expenses:decide'     prints a token of Bob for http://127.0.0.1:8787/mcp

import { generateKeyPairSync, sign } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { fileURLToPath } from 'node:url'

const RATES = { CHF: 1.05, GBP: 1.17, JPY: 0.006, USD: 0.92 }

const encoded = (value) => Buffer.from(JSON.stringify(value)).toString('base64url')

/** Starts the server on a free port, or on `port`. `token` returns a token with these claims and the usual ones. */
export async function startIssuer(port = 0) {
  const { privateKey, publicKey } = generateKeyPairSync('ed25519')
  const token = (claims) => {
    const now = Math.floor(Date.now() / 1000)
    const all = { iss: url, aud: 'http://127.0.0.1:8787/mcp', client_id: 'development', iat: now, exp: now + 3600, ...claims }
    const message = `${encoded({ alg: 'EdDSA', typ: 'at+jwt', kid: '1' })}.${encoded(all)}`
    return `${message}.${sign(null, message, privateKey).toString('base64url')}`
  }
  const server = createServer((request, response) => {
    const { pathname, searchParams } = new URL(request.url, url)
    const euros = RATES[pathname.replace('/rates/', '')]
    if (pathname === '/jwks') response.end(JSON.stringify({ keys: [{ ...publicKey.export({ format: 'jwk' }), kid: '1', alg: 'EdDSA' }] }))
    else if (pathname === '/token') response.end(`${token(Object.fromEntries(searchParams))}\n`)
    else response.writeHead(euros ? 200 : 404).end(JSON.stringify({ euros }))
  }).listen(port, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}`
  return { url, token, stop: () => server.close() }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await startIssuer(8790)
