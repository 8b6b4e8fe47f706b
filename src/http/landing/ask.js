// A client of revision 2026-07-28 for the endpoint of this page.

const { name: SERVER, path: PATH, url: KNOWN_URL } = document.body.dataset
const ENDPOINT = location.origin + PATH
const REVISION = '2026-07-28'
const META = {
  'io.modelcontextprotocol/protocolVersion': REVISION,
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** An error that explains to the user why there is no result. */
class RequestError extends Error {
  constructor(message, details) {
    super(message)
    Object.assign(this, details)
  }
}

/** The token that the user typed in. The page stores it only here. */
let token = ''

/**
 * Sends a request and returns its result. `args` is the JSON text of its arguments, so that the page does not round numbers.
 * Throws a `RequestError`. Its `status` is the HTTP status, if there was a response.
 */
async function ask(method, params = {}, { args, headers = {} } = {}) {
  if (/[^!-~]/.test(token)) throw new RequestError('A token contains only ASCII characters, without spaces. Copy the complete token.')
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
    throw new RequestError(`The server cannot be reached (${cause.message}). Check that the server is running and that you are online.`)
  }
  let message
  try {
    message = JSON.parse(text)
  } catch {
    // The response is not from the server but from a proxy.
  }
  if (message?.result) return message.result
  throw requestError(response, message?.error)
}

function requestError(response, error) {
  const { status, headers } = response
  const challenge = headers.get('WWW-Authenticate')
  const wait = headers.get('Retry-After')
  let words = error?.message ?? `The server answered with status ${status}, without an error message.`
  // A 403 for missing scopes has a challenge. A 403 for the origin has no challenge.
  if (status === 403 && !challenge) {
    words = `This server does not accept calls from pages of ${location.origin}. If this origin is the address of the ` +
      `server, set MCP_RESOURCE to ${ENDPOINT}. Otherwise, add the origin to MCP_ALLOWED_ORIGINS.`
  }
  if (wait) words += ` Try again in ${wait} seconds.`
  return new RequestError(words, { status, code: error?.code, letsSignIn: challenge?.includes('resource_metadata=') })
}

/** Returns the items of all pages of a list. Stops after the first page that reaches 1000 items. */
async function listAll(method, member) {
  const items = []
  let cursor
  do {
    const result = await ask(method, cursor === undefined ? {} : { cursor })
    items.push(...result[member])
    cursor = result.nextCursor
  } while (cursor !== undefined && items.length < 1000)
  return items
}

/** Encodes a header value: printable ASCII is unchanged, other text becomes base64 (2026-07-28, streamable HTTP, "Value Encoding"). */
function headerValue(text) {
  if (/^[!-~]([ -~]*[!-~])?$/.test(text) && !text.startsWith('=?base64?')) return text
  const bytes = Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte))
  return `=?base64?${btoa(bytes.join(''))}?=`
}
