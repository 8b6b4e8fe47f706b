// One tool call in the 2026-07-28 revision: a single POST, with nothing before it.

const REVISION = '2026-07-28'
let requests = 0

/**
 * Calls a tool and gives its result. Every kind of refusal is an Error with the server's own words.
 *
 * @param {{ url: string, token?: string, name: string, arguments: object }} call
 */
export async function callTool({ url, token, name, arguments: args }) {
  requests += 1
  let response, text
  try {
    response = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        Accept: 'application/json, text/event-stream',
        'MCP-Protocol-Version': REVISION,
        'Mcp-Method': 'tools/call',
        'Mcp-Name': name,
        ...(token && { Authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify({
        jsonrpc: '2.0',
        id: requests,
        method: 'tools/call',
        params: {
          _meta: {
            'io.modelcontextprotocol/protocolVersion': REVISION,
            'io.modelcontextprotocol/clientCapabilities': {},
          },
          name,
          arguments: args,
        },
      }),
      // A redirect would take the token to another place.
      redirect: 'manual',
      signal: AbortSignal.timeout(60_000),
    })
    text = await response.text()
  } catch (error) {
    throw new Error(`no answer from ${url}: ${error.cause?.message || error.cause?.code || error.message}`)
  }

  const message = parse(text)
  if (message?.error) throw new Error(message.error.message)
  if (!response.ok) throw new Error(`HTTP ${response.status}: ${firstLine(text) || response.statusText}`)
  if (message?.result === undefined) throw new Error(`not an MCP answer: ${firstLine(text)}`)
  if (message.result.isError) throw new Error(textOf(message.result) || 'the tool failed and did not say why')
  return message.result
}

const parse = (text) => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const firstLine = (text) => text.trim().split('\n')[0].slice(0, 200)

const textOf = (result) => (result.content ?? []).filter(({ type }) => type === 'text').map(({ text }) => text).join('\n')
