// The official clients, old and new, in each of their modes.

import { Client as NewClient, StreamableHTTPClientTransport as NewTransport } from '@modelcontextprotocol/client'
import { Client as OldClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as OldTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'

import { NEWEST } from './ask.mjs'

const INFO = { name: 'e2e', version: '1.0.0' }
const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} }
const newClient = (mode) => () => {
  const client = new NewClient(INFO, { versionNegotiation: { mode }, capabilities })
  // A person who is called Ada, a model that says hello, and one folder.
  client.setRequestHandler('elicitation/create', ({ params }) => ({
    action: 'accept',
    content: Object.fromEntries(Object.keys(params.requestedSchema.properties).map((field) => [field, 'Ada'])),
  }))
  client.setRequestHandler('sampling/createMessage', () =>
    ({ role: 'assistant', content: { type: 'text', text: 'Hello' }, model: 'none' }))
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///work' }] }))
  return client
}

/** Each mode: its name, its parts, whether it comes to speak the newest revision, and how it connects with a worker. */
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
    // The new client tells by itself what it speaks.
    client.revision = client.getNegotiatedProtocolVersion?.() ?? transport.protocolVersion
    return client
  },
}))
