// Asks the endpoint, as any client of 2026-07-28 does.

const { name: SERVER, path: PATH, url: KNOWN_URL } = document.body.dataset
const ENDPOINT = location.origin + PATH
const REVISION = '2026-07-28'
const META = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** Why there is no result, in words. */
class Refused extends Error {
  constructor(message, details) {
    super(message)
    Object.assign(this, details)
  }
}

/** What the reader has typed in, and nothing else holds. */
let token = ''

/**
 * The result of a request. `args`, as JSON text, are its arguments: numbers stay as they were typed.
 * Throws `Refused`, whose `status` is that of HTTP, if there was one.
 */
async function ask(method, params = {}, { args, headers = {} } = {}) {
  if (/[^!-~]/.test(token)) throw new Refused('A token is made of ASCII, without spaces. Was this one copied whole?')
  const rest = JSON.stringify({ ...params, _meta: META })
  const whole = args === undefined ? rest : `{"arguments":${args},${rest.slice(1)}`
  const named = params.name ?? params.uri
  let response, text
  try {
    response = await fetch(ENDPOINT, {
      method: 'POST',
      redirect: 'error',
      headers: {
        Accept: 'application/json',
        'Content-Type': 'application/json',
        'MCP-Protocol-Version': REVISION,
        'Mcp-Method': method,
        ...(named === undefined ? {} : { 'Mcp-Name': headerValue(named) }),
        ...(token ? { Authorization: `Bearer ${token}` } : {}),
        ...headers,
      },
      body: `{"jsonrpc":"2.0","id":1,"method":${JSON.stringify(method)},"params":${whole}}`,
    })
    text = await response.text()
  } catch (cause) {
    throw new Refused(`The server cannot be reached (${cause.message}). Is it running, and are you online?`)
  }
  let message
  try {
    message = JSON.parse(text)
  } catch {
    // Something before the server has answered in its place.
  }
  if (message?.result) return message.result
  throw refused(response, message?.error)
}

function refused(response, error) {
  const { status, headers } = response
  const challenge = headers.get('WWW-Authenticate')
  const wait = headers.get('Retry-After')
  let words = error?.message ?? `The server answered with status ${status}, and did not say why.`
  // A token without the scopes is a 403 too, with a challenge.
  if (status === 403 && !challenge) {
    words = `This server takes no calls from pages of ${location.origin}. If it is this server’s own address, set MCP_RESOURCE ` +
      `to ${ENDPOINT}; else name it in MCP_ALLOWED_ORIGINS.`
  }
  if (wait) words += ` Try again in ${wait} seconds.`
  return new Refused(words, { status, code: error?.code, letsSignIn: challenge?.includes('resource_metadata=') })
}

/** All items of a list, page by page; of one that does not end, the first thousand. */
async function all(method, member) {
  const items = []
  let cursor
  do {
    const result = await ask(method, cursor === undefined ? {} : { cursor })
    items.push(...result[member])
    cursor = result.nextCursor
  } while (cursor !== undefined && items.length < 1000)
  return items
}

/** Printable ASCII as it is, and the rest in base64 (2026-07-28, streamable HTTP, "Value Encoding"). */
function headerValue(text) {
  if (/^[!-~]([ -~]*[!-~])?$/.test(text) && !text.startsWith('=?base64?')) return text
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte))
  return `=?base64?${btoa(bytes.join(''))}?=`
}
