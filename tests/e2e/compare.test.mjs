// Compares the answers of foreign servers with and without examples/gateway in front of them, in each revision. docs/gateway.md has a sentence for
// each difference.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { compare, described, REVISIONS } from '../gateway/compare/compare.mjs'
import { EXPECTED } from '../gateway/compare/differences.mjs'
import { startEverything } from '../gateway/compare/everything.mjs'
import { startPeers } from './client-peers.mjs'
import { ROOT } from './worker.mjs'
import { startWorkerd } from './workerd.mjs'

/** The servers: two with every member that the specification has, and the demo server of fastmcp. */
const PEERS = { fast: 'fastmcp/stateless' }
const SERVERS = ['sdk', 'server', ...Object.keys(PEERS)]
/** Tools whose answers take long, end the connection on purpose, or ask a question with a random state. */
const SKIPPED = ['ask', 'interrupt', 'report', 'wait']

let everything, peers, worker, urls
before(async () => {
  [everything, peers] = await Promise.all([startEverything(), startPeers()])
  urls = { ...everything.urls, ...Object.fromEntries(Object.entries(PEERS).map(([name, path]) => [name, peers.urlOf(path)])) }
  const upstreams = Object.fromEntries(Object.entries(urls).map(([name, url]) => [name, { url }]))
  worker = await startWorkerd({ name: 'gateway', vars: { UPSTREAMS: JSON.stringify(upstreams) } })
})
after(() => Promise.all([worker, peers, everything].map((running) => running?.stop())))

for (const mount of SERVERS) {
  for (const revision of REVISIONS) {
    test(`the gateway changes nothing else of ${mount} in ${revision}`, async () => {
      const { compared, unstable, differences } = await compare({
        server: urls[mount], gateway: worker.url, token: worker.token, mount, revision, skip: SKIPPED,
      })
      const unexpected = differences.filter(({ expected }) => !expected)
      assert.equal(unexpected.map(described).join('\n'), '')
      assert.deepEqual(unstable, [])
      assert.ok(compared > 15, `${compared} answers were compared`)
    })
  }
}

test('docs/gateway.md has each expected difference', async () => {
  const page = (await readFile(join(ROOT, 'docs/gateway.md'), 'utf8')).replaceAll(/\s+/g, ' ')
  const missing = EXPECTED.map(({ docs }) => docs).filter((docs) => !page.includes(docs))
  assert.deepEqual([...new Set(missing)], [])
})
