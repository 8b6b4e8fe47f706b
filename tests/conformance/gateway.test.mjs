// The server scenarios of the official conformance suite, through a gateway whose only server is examples/everything.

import assert from 'node:assert/strict'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'

import { startWorkerds } from '../e2e/workerd.mjs'
import { ofServer } from './suite.mjs'

/** The scenarios that pass only without the gateway. */
const EXCEPTIONS = {
  '2026-07-28': [
    // If a server needs a capability that the caller does not declare, the call has a result with `isError`, as for each other failure of a
    // server. The scenarios expect -32021.
    'server-stateless',
    'tasks-required-task-error',
    // The scenario expects the key of the question. The gateway puts the server and the round before it, because two servers can use the
    // same key.
    'input-required-result-basic-elicitation',
    // A gateway does not pass on the roots of its caller.
    'input-required-result-basic-list-roots',
    'input-required-result-multiple-input-requests',
    // The definition of a tool names the headers that repeat arguments. The gateway calls a tool without its definition. It sets these
    // headers for the server, which checks them.
    'http-custom-header-server-validation',
  ],
  '2025-11-25': [],
}

let workers, folder
before(async () => {
  const upstream = (url) => ({ url, as_is: true, relay_logs: 'debug', pass_sampling: true })
  workers = await startWorkerds([
    { name: 'everything', objects: 'disk' },
    {
      name: 'gateway',
      vars: ([origin]) => ({ MCP_AUTH: 'none', UPSTREAMS: JSON.stringify({ everything: upstream(`${origin}/mcp`) }) }),
    },
  ])
  folder = await mkdtemp(join(tmpdir(), 'edge-mcp-conformance-'))
})
after(async () => {
  await workers?.[0].stop()
  await rm(folder, { recursive: true, force: true })
})

for (const [revision, exceptions] of Object.entries(EXCEPTIONS)) {
  test(`${revision}: through a gateway, each scenario has the result that it has without the gateway`, async () => {
    const [direct, through] = await Promise.all(workers.map((worker, nth) =>
      ofServer(join(folder, `${revision}-${nth}`), worker, '--requirements', revision)))
    assert.ok(direct.outcomes.size >= 30, direct.stdout)
    const differing = [...direct.outcomes].filter(([name, passed]) => passed !== through.outcomes.get(name)).map(([name]) => name)
    assert.deepEqual(differing.sort(), exceptions.toSorted(), through.stdout)
  })
}
