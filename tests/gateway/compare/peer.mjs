// A client without a library. It keeps the digits of the numbers in the answers.

const MODERN = '2026-07-28'
const CLIENT = { name: 'compare', version: '1.0.0' }

/** Parses JSON. A number becomes a text that no other value has, with its digits: `1` and `1.0` differ. */
const parse = (text) => JSON.parse(text, (_, value, context) => (typeof value === 'number' ? `\0${context.source}` : value))

/** Returns a parsed value as JSON. */
export const shown = (value) => JSON.stringify(value)?.replaceAll(/"\\u0000([^"]*)"/g, '$1')

/** Returns the message with this id in a body, which is JSON or an event stream. */
function messageOf(body, id) {
  const texts = /^(event|data|id|retry|:)/m.test(body.slice(0, 200)) && !body.startsWith('{')
    ? body.split(/\r?\n\r?\n/).map((event) => event.split(/\r?\n/).filter((line) => line.startsWith('data:')).map((line) => line.slice(5)).join('\n'))
    : [body]
  return texts.filter((text) => text.trim()).map(parse).find((message) => message.id === id)
}

const encoded = (value) => (/^[\x21-\x7e]([\x20-\x7e]*[\x21-\x7e])?$/.test(value) ? value : `=?base64?${Buffer.from(value).toString('base64')}?=`)

/**
 * Connects to a server in a revision. A server that does not speak it is asked in another one, as a client of both eras does.
 *
 * @param {string} url
 * @param {{ revision?: string, token?: string }} options
 * @returns {Promise<Peer>}
 *
 * @typedef {object} Peer
 * @property {string} revision the revision that the server speaks
 * @property {(method: string, params?: object, headers?: object) => Promise<object>} request returns the `result` or the `error`, with the other
 *   members of the answer. Only a server of 2026-07-28 gets the headers
 * @property {() => Promise<void>} close
 */
export async function connect(url, { revision = MODERN, token } = {}) {
  let session
  let id = 0
  const post = async (message, headers = {}) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        ...(token ? { authorization: `Bearer ${token}` } : {}),
        ...(session ? { 'mcp-session-id': session } : {}),
        ...headers,
      },
      body: JSON.stringify({ jsonrpc: '2.0', ...message }),
    })
    return { response, body: await response.text() }
  }
  const answer = async (message, headers) => {
    const own = ++id
    const { response, body } = await post({ ...message, id: own }, headers)
    let answered
    try {
      answered = messageOf(body, `\0${own}`)
    } catch {}
    return { ...answered ?? { error: { code: `HTTP ${response.status}`, message: body.slice(0, 200) } }, response }
  }
  const modern = (method, params = {}, headers = {}) => {
    const target = params.name ?? params.uri
    const _meta = {
      'io.modelcontextprotocol/protocolVersion': MODERN,
      'io.modelcontextprotocol/clientInfo': CLIENT,
      'io.modelcontextprotocol/clientCapabilities': {},
    }
    return answer({ method, params: { ...params, _meta } }, {
      'mcp-protocol-version': MODERN, 'mcp-method': method, ...(target ? { 'mcp-name': encoded(target) } : {}), ...headers,
    })
  }
  if (revision === MODERN) {
    const { result } = await modern('server/discover')
    if (result) return { revision, request: modern, close: async () => {} }
  }
  const wanted = revision === MODERN ? '2025-11-25' : revision
  const begun = await answer({
    method: 'initialize', params: { protocolVersion: wanted, capabilities: {}, clientInfo: CLIENT },
  })
  if (!begun.result) throw new Error(`${url} rejects the handshake: ${shown(begun.error)}`)
  session = begun.response.headers.get('mcp-session-id') ?? undefined
  const speaks = begun.result.protocolVersion
  const headers = { 'mcp-protocol-version': speaks }
  await post({ method: 'notifications/initialized' }, headers)
  return {
    revision: speaks,
    request: (method, params = {}) => answer({ method, params }, headers),
    close: async () => {
      if (session) await fetch(url, { method: 'DELETE', headers: { 'mcp-session-id': session, ...headers } }).catch(() => {})
    },
  }
}
