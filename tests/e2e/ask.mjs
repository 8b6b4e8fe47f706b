// Requests as curl would send them.

export const NEWEST = '2026-07-28'

export const ENVELOPE = {
  'io.modelcontextprotocol/protocolVersion': NEWEST,
  'io.modelcontextprotocol/clientCapabilities': {},
}

/** A POST to the worker, with its token unless `headers` say otherwise. Gives status, headers and parsed body. */
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

/** A request as a client of 2025-11-25 sends it. */
export const legacy = (worker, method, params = {}, id = 1) =>
  post(worker, { jsonrpc: '2.0', id, method, params }, { 'MCP-Protocol-Version': '2025-11-25' })

/** A request as a client of 2026-07-28 sends it. */
export const modern = (worker, method, params = {}, id = 1) =>
  post(worker, { jsonrpc: '2.0', id, method, params: { _meta: ENVELOPE, ...params } }, {
    'MCP-Protocol-Version': NEWEST,
    'Mcp-Method': method,
    ...(params.name || params.uri ? { 'Mcp-Name': params.name ?? params.uri } : {}),
  })

/** The result of a tool call. */
export const call = async (worker, name, args = {}) => (await modern(worker, 'tools/call', { name, arguments: args })).body.result
