// The authorization server of examples/signed-in, and the public Worker of both. People sign in here, and allow
// clients to call the server for them. It forwards the requests for /mcp unchanged: the server checks each token itself, and asks the
// entrypoint `Tokens`.

import { WorkerEntrypoint, env } from 'cloudflare:workers'
import { AuthorizationError, CimdFetchError, OAuthAuthorizationServer } from '@cloudflare/workers-oauth-provider'

const RESOURCE = `${env.ORIGIN}/mcp`
const METADATA = '/.well-known/oauth-protected-resource'

const server = new OAuthAuthorizationServer({
  issuer: env.ORIGIN,
  resources: [RESOURCE],
  scopesSupported: ['profile:read', 'badge:print'],
  // A client has the URL of its metadata as its id. Older clients register themselves instead.
  clientIdMetadataDocumentEnabled: true,
  clientRegistrationEndpoint: '/oauth/register',
})

export default {
  fetch(request, env, cx) {
    const { pathname } = new URL(request.url)
    if (pathname === '/mcp' || pathname === METADATA || pathname === `${METADATA}/mcp`) return env.SERVER.fetch(request)
    if (pathname === '/authorize') return authorize(request)
    return server.fetch(request, env, cx)
  },
}

/** Answers questions about tokens. Only Workers with a binding to this entrypoint reach it: it has no URL. */
export class Tokens extends WorkerEntrypoint {
  /** Returns the claims of the token in the body, with the names of RFC 7662, or `null` for a token that is not valid. */
  async fetch(request) {
    const token = await server.validateToken(RESOURCE, await request.text(), this.env)
    return Response.json(token && {
      iss: env.ORIGIN,
      sub: token.userId,
      aud: token.audience,
      client_id: token.clientId,
      scope: token.scope.join(' '),
      exp: token.expiresAt,
    })
  }
}

/** Shows the page on which a person signs in and allows the access of a client, and answers its form. */
async function authorize(request) {
  const oauth = server.getOAuthApi(env)
  try {
    if (request.method === 'POST') return await decide(oauth, request)
    const asked = await oauth.parseAuthRequest(request)
    const details = await oauth.describeConsent(asked)
    const { handle, headers } = await oauth.beginConsent(asked)
    headers.set('Content-Type', 'text/html; charset=utf-8')
    // The page has the handle of one request, and no other page may frame it.
    headers.set('Cache-Control', 'no-store')
    headers.set('Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'")
    headers.set('X-Frame-Options', 'DENY')
    return new Response(page(details, handle), { headers })
  } catch (error) {
    // The provider sets `redirectTo` only if it knows the client and its redirect URI.
    if (error instanceof AuthorizationError && error.redirectTo) return Response.redirect(error.redirectTo)
    if (error instanceof AuthorizationError) return new Response(error.description, { status: 400 })
    if (error instanceof CimdFetchError) return new Response('The metadata of the client cannot be read.', { status: 400 })
    throw error
  }
}

async function decide(oauth, request) {
  const form = await request.formData().catch(() => undefined)
  if (!form) return new Response('Send the form of this page.', { status: 415 })
  const field = (name) => String(form.get(name) ?? '')
  if (field('decision') !== 'allow') {
    const { headers } = await oauth.denyConsent(request, field('handle'))
    return new Response(null, { status: 302, headers })
  }
  const userId = await signedIn(field('name'), field('password'))
  if (!userId) return new Response('The name or the password is wrong. Go back, and try again.', { status: 403 })
  // The request comes from the storage of the provider, not from the form.
  const approved = await oauth.approveConsent(request, field('handle'), { scope: form.getAll('scope').map(String) })
  const { redirectTo } = await oauth.completeAuthorization({
    request: approved.request, userId, scope: approved.request.scope, metadata: {}, props: {},
  })
  approved.headers.set('Location', redirectTo)
  return new Response(null, { status: 302, headers: approved.headers })
}

/**
 * Returns the id of the person who signs in, if the password is right.
 *
 * Replace this function with the login of your program, for example passkeys, or the session of your website. It compares with the secret
 * PEOPLE, a JSON object from names to passwords, and does not limit the attempts. So the passwords must be long and random.
 *
 * A token begins with the id, so it must have only characters that a token can have, and no `:`. An e-mail address is not such an id.
 */
async function signedIn(name, password) {
  const people = JSON.parse(env.PEOPLE)
  if (!Object.hasOwn(people, name)) return undefined
  // A comparison of digests takes the same time for each wrong password.
  const digests = [password, people[name]].map((text) => crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))
  return crypto.subtle.timingSafeEqual(...await Promise.all(digests)) ? name : undefined
}

// A client chooses its name and its URIs.
const escaped = (text) => text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)

const page = ({ clientName, clientDomain, redirectHost, redirectIsLoopback, scope }, handle) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Sign in</title>
<h1>${escaped(clientName)} asks for access</h1>
<p>${clientDomain ? `It belongs to ${escaped(clientDomain)}.` : 'This name is not verified.'}
Its access goes to ${escaped(redirectHost)}${redirectIsLoopback ? ', a program on your computer. Continue only if you have started it' : ''}.</p>
<form method="post">
<input type="hidden" name="handle" value="${escaped(handle)}">
${scope.map(escaped).map((each) => `<p><label><input type="checkbox" name="scope" value="${each}" checked> ${each}</label></p>`).join('\n')}
<p><label>Name <input name="name" autocomplete="username"></label></p>
<p><label>Password <input name="password" type="password" autocomplete="current-password"></label></p>
<button name="decision" value="allow">Allow</button>
<button name="decision" value="deny">Deny</button>
</form>
</html>
`
