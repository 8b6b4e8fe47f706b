// Sends MCP requests with `fetch`, without a client library.

/** The newest revision of the protocol. */
export const NEWEST = '2026-07-28'

/** The `_meta` members that revision 2026-07-28 requires in each request. */
export const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': NEWEST,
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** Sends a POST request with the token of the worker. `headers` override the defaults. Returns the status, headers and parsed body. */
export async function post(worker, body, headers = {}) {
  const response = await fetch(worker.url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${worker.token}`, ...headers },
    body: typeof body === 'string' || body instanceof Uint8Array || body instanceof ReadableStream ? body : JSON.stringify(body),
    duplex: 'half',
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) }
}

/** Sends a request as a client of revision 2025-11-25. */
export const legacy = (worker, method, params = {}, id = 1) =>
  post(worker, { jsonrpc: '2.0', id, method, params }, { 'MCP-Protocol-Version': '2025-11-25' })

/** Sends a request as a client of revision 2026-07-28. */
export const modern = (worker, method, params = {}, id = 1, headers = {}) =>
  post(worker, { jsonrpc: '2.0', id, method, params: { _meta: ENVELOPE, ...params } }, {
    ...headers,
    'MCP-Protocol-Version': NEWEST,
    'Mcp-Method': method,
    ...(params.name || params.uri ? { 'Mcp-Name': params.name ?? params.uri } : {}),
  })

/** Calls a tool and returns the result of the call. */
export const call = async (worker, name, args = {}, headers = {}) =>
  (await modern(worker, 'tools/call', { name, arguments: args }, 1, headers)).body.result
