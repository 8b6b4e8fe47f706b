import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

export async function use({ url, headers, ask }) {
  const client = new Client({ name: 'interop', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
  await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }))
  return ask(client)
}
