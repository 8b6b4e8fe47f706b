// The official clients, old and new, in each of their modes.

import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

import { NEWEST } from './ask.mjs'

const INFO = { name: 'e2e', version: '1.0.0' }
const newClient = (mode) => () => new NewClient(INFO, { versionNegotiation: { mode } })

/** Each mode: its name, whether it comes to speak the newest revision, and how it connects with a worker. */
export const CLIENTS = [
  ['sdk 1.32', () => new OldClient(INFO), OldTransport, false],
  ['client 2.4, legacy', newClient('legacy'), NewTransport, false],
  ['client 2.4, auto', newClient('auto'), NewTransport, true],
  ['client 2.4, pinned', newClient({ pin: NEWEST }), NewTransport, true],
].map(([name, make, Transport, isModern]) => ({
  name,
  isModern,
  async connect({ url, token }) {
    const client = make()
    const headers = { Authorization: `Bearer ${token}` }
    const transport = new Transport(new URL(url), { requestInit: { headers } })
    await client.connect(transport)
    // The new client tells by itself what it speaks.
    client.revision = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion
    return client
  },
}))
