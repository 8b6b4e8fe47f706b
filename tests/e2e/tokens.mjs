// Calls tools with different tokens and checks the responses and the logs.

import assert from 'node:assert/strict'

import { modern } from './requests.mjs'

const usedTokens = new Set()

/** Calls a tool with `token`. Returns the status, the headers and the parsed body. */
export function callWith(worker, token, name = 'search-documents', args = { query: 'anything' }) {
  usedTokens.add(token)
  return modern({ ...worker, token }, 'tools/call', { name, arguments: args })
}

/** Asserts that the server accepts the token and that the tool returns a result. */
export async function assertAccepted(worker, token) {
  const { status, body } = await callWith(worker, token)
  assert.deepEqual([status, body.result?.isError], [200, false], JSON.stringify(body))
}

/** Asserts that the server rejects the token with 401. The body and the `WWW-Authenticate` challenge must contain the expected message. */
export async function assertRejected(worker, token, expected = /^The access token is not valid for this server\.$/) {
  const { status, body, headers } = await callWith(worker, token)
  assert.equal(status, 401, JSON.stringify(body))
  assert.match(body.error.message, expected)
  const challenge = headers.get('www-authenticate')
  assert.ok(challenge.startsWith(`Bearer error="invalid_token", error_description="${body.error.message}"`), challenge)
}

/**
 * Asserts that the logs do not contain any part of a token from `callWith`, or the secret of the resource server as plain text,
 * form-encoded or in Basic credentials.
 */
export async function assertNotLogged(workers, { id, secret }) {
  const form = (text) => new URLSearchParams({ '': text }).toString().slice('='.length)
  const hidden = [...usedTokens, secret, form(secret), btoa(`${form(id)}:${form(secret)}`)].flatMap((text) => text.split('.'))
  for (const worker of workers) {
    // The last log line can follow the last response after a short delay, so send one more request and wait for its line.
    await fetch(`${worker.origin}/the-end`)
    await worker.logged(/"status":404/)
    const logs = worker.logs()
    assert.match(logs, /"event":"request"/)
    assert.deepEqual(hidden.filter((text) => text && logs.includes(text)), [], logs)
  }
}
