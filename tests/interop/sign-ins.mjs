// Signs a person in to a foreign authorization server with examples/desk, in a browser without a window. Then the server starts again with an
// empty memory, and the person signs in again.

import { join } from 'node:path'

import { startAuthorizationServer } from '../e2e/authorization-server.mjs'
import { CookieBrowser } from '../e2e/cookie-browser.mjs'
import { startRecordingProxy } from '../e2e/recording-proxy.mjs'
import { ENVELOPE, modern } from '../e2e/requests.mjs'
import { ROOT, randomToken } from '../e2e/worker.mjs'
import { startWorkerd, startWorkerds } from '../e2e/workerd.mjs'
import { startSubject } from './servers.mjs'

const SCRIPTS = join(ROOT, 'tests/interop/sign-ins')
/** The sign-ins that a person tries after the restart of the authorization server. */
const TRIES = 3
const SCOPES = 'account:read'

const deskAt = (resource) => ({
  name: 'desk',
  database: true,
  vars: (origins) => ({ TRACKER_URL: resource, DESK_URL: origins[0].replace('127.0.0.1', 'localhost'), MCP_LOG: 'all' }),
  secrets: { MCP_TOKEN_KEY: randomToken() },
})

async function callAccount(desk) {
  const capabilities = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { url: {} } } }
  const { body } = await modern(desk, 'tools/call', { _meta: { ...ENVELOPE, ...capabilities }, name: 'get-account', arguments: {} })
  return body.result ?? body
}

/** Signs in, if the call asks for it. Returns the problem, if the person then has no access. */
async function access(desk) {
  const asked = await callAccount(desk)
  const url = Object.values(asked.inputRequests ?? {})[0]?.params.url
  if (!url) return asked.isError || asked.error ? `the call fails: ${JSON.stringify(asked).slice(0, 400)}` : undefined
  // The forms of the desk and of oidc-provider.
  const fill = ({ text }) => {
    const returnTo = /name="return_to" type="hidden" value="(.*)"/.exec(text)?.[1]
    if (returnTo !== undefined) return { action: '/session', fields: { token: desk.token, return_to: returnTo.replaceAll('&amp;', '&') } }
    if (text.includes('name="person"')) return { fields: { person: 'ada' } }
    return text.includes('name="decision"') ? { fields: { decision: 'allow' } } : undefined
  }
  const page = await new CookieBrowser().open(url, fill)
  const sentence = /<p>(.*)<\/p>/.exec(page.text)?.[1] ?? page.text.slice(0, 300)
  if (page.status !== 200 || !sentence.includes('You are signed in')) {
    return `the sign-in ends at ${page.url.pathname} with ${page.status}: ${sentence}`
  }
  const answer = await callAccount(desk)
  const hasFailed = answer.isError || answer.error || answer.inputRequests
  return hasFailed ? `the call after the sign-in: ${JSON.stringify(answer).slice(0, 400)}` : undefined
}

const withLog = (problem, desk) => {
  const line = desk.logs().split('\n').findLast((line) => line.includes('"sign-in"') || line.includes('sign-in to')) ?? ''
  return `${problem} (log: ${line.trim().slice(0, 400)})`
}

/** oidc-provider has no MCP server, so examples/everything accepts its tokens. */
async function startOidcProvider() {
  const proxy = await startRecordingProxy()
  const url = `${proxy.origin}/mcp`
  const issuing = { hasPages: true, resources: { [url]: { scopes: SCOPES } } }
  const { issuer, introspectionUrl, resourceServer, stop } = await startAuthorizationServer(issuing)
  const tracker = await startWorkerd({
    name: 'everything',
    vars: {
      MCP_AUTH: 'introspection', MCP_RESOURCE: url, MCP_AUTHORIZATION_SERVERS: issuer, MCP_SCOPES: SCOPES,
      MCP_INTROSPECTION_ENDPOINT: introspectionUrl, MCP_INTROSPECTION_CLIENT_ID: resourceServer.id,
    },
    secrets: { MCP_INTROSPECTION_CLIENT_SECRET: resourceServer.secret },
  })
  proxy.target = tracker.origin
  return { url, stop: async () => { await Promise.all([tracker.stop(), stop(), proxy.stop()]) } }
}

/** Returns the facts about an authorization server, and the problems of the sign-in. */
export async function judgeSignIn(subject) {
  let server = subject.packages ? await startSubject(subject, { scripts: SCRIPTS }) : await startOidcProvider()
  const [desk] = await startWorkerds([deskAt(server.url)])
  const facts = {}
  const problems = []
  try {
    const first = await access(desk)
    facts.signIn = !first
    if (first) return { facts, problems: [`sign-in: ${withLog(first, desk)}`] }
    if (!subject.packages) return { facts, problems }
    const { port } = new URL(server.url)
    await server.stop()
    server = await startSubject(subject, { scripts: SCRIPTS, port })
    let later
    for (let tries = 0; tries < TRIES; tries += 1) {
      later = await access(desk)
      if (!later) break
    }
    facts.afterRestart = !later
    if (later) problems.push(`after a restart: ${withLog(later, desk)}`)
    return { facts, problems }
  } finally {
    await desk.stop()
    await server.stop()
  }
}
