// The official clients: the old and the new TypeScript library, with each mode of version negotiation.

import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

import { NEWEST } from './requests.mjs'

const INFO = { name: 'e2e', version: '1.0.0' }
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} }
const newClient = (mode) => () => {
  const client = new NewClient(INFO, { versionNegotiation: { mode }, capabilities })
  // The user enters "Ada" in each field, the model answers "Hello", and there is one root.
  client.setRequestHandler('elicitation/create', ({ params }) => ({
    action: 'accept',
    content: Object.fromEntries(Object.keys(params.requestedSchema.properties).map((field) => [field, 'Ada'])),
  }))
  client.setRequestHandler('sampling/createMessage', () =>
    ({ role: 'assistant', content: { type: 'text', text: 'Hello' }, model: 'none' }))
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///work' }] }))
  return client
}

/**
 * The clients. `make` and `Transport` create the parts of a client, `isModern` is whether it negotiates the newest revision, and `connect`
 * connects a new client to a worker.
 */
export const CLIENTS = [
  ['sdk 1.32', () => new OldClient(INFO), OldTransport, false],
  ['client 2.4, legacy', newClient('legacy'), NewTransport, false],
  ['client 2.4, auto', newClient('auto'), NewTransport, true],
  ['client 2.4, pinned', newClient({ pin: NEWEST }), NewTransport, true],
].map(([name, make, Transport, isModern]) => ({
  name,
  make,
  Transport,
  isModern,
  async connect({ url, token }) {
    const client = make()
    const headers = { Authorization: `Bearer ${token}` }
    const transport = new Transport(new URL(url), { requestInit: { headers } })
    await client.connect(transport)
    // The new client reports the negotiated revision. The transport of the old client has it.
    client.revision = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion
    return client
  },
}))
