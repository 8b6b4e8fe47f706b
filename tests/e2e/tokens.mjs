// Tool calls with one token or another, and what becomes of them.

import assert from 'node:assert/strict'

import { modern } from './ask.mjs'

const used = new Set()

/** Calls a tool with `token`; gives status, headers and parsed body. */
export function use(worker, token, name = 'search-documents', args = { query: 'anything' }) {
  used.add(token)
  return modern({ ...worker, token }, 'tools/call', { name, arguments: args })
}

/** The token is taken, and the tool gives a result. */
export async function passes(worker, token) {
  const { status, body } = await use(worker, token)
  assert.deepEqual([status, body.result?.isError], [200, false], JSON.stringify(body))
}

/** The token is refused with a 401 that says this, to people and to programs. */
export async function isRefused(worker, token, why = /^The access token is not valid for this server\.$/) {
  const { status, body, headers } = await use(worker, token)
  assert.equal(status, 401, JSON.stringify(body))
  assert.match(body.error.message, why)
  const challenge = headers.get('www-authenticate')
  assert.ok(challenge.startsWith(`Bearer error="invalid_token", error_description="${body.error.message}"`), challenge)
}

/** The logs have nothing of the tokens that were used here, nor of these, in whatever form they were sent. */
export async function areQuiet(workers, { id, secret }) {
  const form = (text) => new URLSearchParams({ '': text }).toString().slice('='.length)
  const hidden = [...used, secret, form(secret), btoa(`${form(id)}:${form(secret)}`)].flatMap((text) => text.split('.'))
  for (const worker of workers) {
    // The last line comes a moment after the last answer.
    await fetch(`${worker.origin}/the-end`)
    await worker.logged(/GET \/the-end 404/)
    const logs = worker.logs()
    assert.match(logs, /"event":"request"/)
    assert.deepEqual(hidden.filter((text) => text && logs.includes(text)), [], logs)
  }
}
