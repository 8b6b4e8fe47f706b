// Official clients in front of a gateway with odd servers: whatever one server sends, each list and each result passes the schemas of the clients.

import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'

import { startOddServers } from './odd-servers.mjs'
import { CLIENTS } from './official-clients.mjs'
import { startWorkerd } from './workerd.mjs'

let odd, worker
before(async () => {
  odd = await startOddServers()
  const upstreams = Object.fromEntries(Object.entries(odd.urls).map(([name, url]) => [name, { url, revision: '2026-07-28' }]))
  worker = await startWorkerd({ name: 'gateway', vars: { UPSTREAMS: JSON.stringify(upstreams) } })
})
after(() => Promise.all([worker, odd].map((running) => running?.stop())))

const all = async (list, member) => {
  const items = []
  let nextCursor
  do {
    const page = await list({ cursor: nextCursor })
    items.push(...page[member])
    nextCursor = page.nextCursor
  } while (nextCursor)
  return items
}

for (const { name, connect } of CLIENTS) {
  test(`${name} reads the lists and results of odd servers`, async () => {
    const client = await connect(worker)
    try {
      const mounts = Object.keys(odd.urls)
      const tools = await all((params) => client.listTools(params), 'tools')
      const resources = await all((params) => client.listResources(params), 'resources')
      const templates = await all((params) => client.listResourceTemplates(params), 'resourceTemplates')
      const prompts = await all((params) => client.listPrompts(params), 'prompts')
      const missing = mounts.filter((mount) => !tools.some((tool) => tool.name === `${mount}_well`) ||
        !resources.some(({ uri }) => uri === `${mount}+a://well`) || !templates.some(({ uriTemplate }) => uriTemplate === `${mount}+a://{well}`) ||
        !prompts.some((prompt) => prompt.name === `${mount}_well`))
      assert.deepEqual(missing, [])
      const problems = []
      const attempt = (what, asked) => asked.catch((error) => { problems.push(`${what}: ${error.message}`) })
      await Promise.all(mounts.map(async (mount) => {
        await attempt(`${mount} call`, client.callTool({ name: `${mount}_well`, arguments: {} }))
        await attempt(`${mount} get`, client.getPrompt({ name: `${mount}_well`, arguments: {} }))
        await attempt(`${mount} read`, client.readResource({ uri: `${mount}+a://well` }))
        const ref = { type: 'ref/resource', uri: `${mount}+a://{well}` }
        await attempt(`${mount} complete`, client.complete({ ref, argument: { name: 'well', value: '' } }))
      }))
      assert.deepEqual(problems, [])
    } finally {
      await client.close()
    }
  })
}
