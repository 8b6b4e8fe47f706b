// The extension of examples/everything, called by the official client in both eras.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

import { startWorkerd } from './workerd.mjs'

const LEDGER = 'com.example/ledger'
/** A schema that every result fits. */
const Entry = { '~standard': { version: 1, vendor: 'e2e', validate: (value) => ({ value }) } }

let worker
before(async () => { worker = await startWorkerd({ name: 'everything' }) })
after(() => worker?.stop())

async function connect(mode, extensions) {
  const client = new Client({ name: 'e2e', version: '1.0.0' }, { versionNegotiation: { mode }, capabilities: { extensions } })
  // The client knows no target of this method, so the test sets the header.
  const requestInit = { headers: { 'Mcp-Name': 'rent' } }
  await client.connect(new StreamableHTTPClientTransport(new URL(worker.url), { requestInit }))
  return client
}

for (const mode of ['legacy', 'auto']) {
  test(`${mode}: the official client calls the methods of an extension`, async () => {
    for (const extensions of [{}, { [LEDGER]: {} }]) {
      const client = await connect(mode, extensions)
      try {
        assert.deepEqual(client.getServerCapabilities().extensions[LEDGER], { currencies: ['EUR'] })
        const entry = await client.request({ method: 'ledger/get', params: { entryId: 'rent' } }, Entry)
        assert.equal(entry.euros, 900)
        const close = client.request({ method: 'ledger/close', params: {} }, Entry)
        if (mode === 'auto' && LEDGER in extensions) assert.equal((await close).euros, undefined)
        else await assert.rejects(close, /needs a client/)
        await assert.rejects(client.request({ method: 'ledger/none', params: {} }, Entry), /does not serve the method/)
      } finally {
        await client.close()
      }
    }
  })
}
