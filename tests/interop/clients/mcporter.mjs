import { execFile } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { promisify } from 'node:util'

const run = promisify(execFile)

export async function use({ url, headers, tool, arguments: args }) {
  await writeFile('mcporter.json', JSON.stringify({ mcpServers: { one: { baseUrl: url, headers } } }))
  const ask = async (...command) => JSON.parse((await run('node_modules/.bin/mcporter', ['--config', 'mcporter.json', ...command])).stdout)
  const { tools } = await ask('list', 'one', '--json')
  return { tools: tools.map(({ name }) => name), call: await ask('call', `one.${tool}`, '--args', JSON.stringify(args), '--output', 'json') }
}
