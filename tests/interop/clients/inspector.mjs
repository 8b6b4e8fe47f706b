import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const run = promisify(execFile)
const pairs = (flag, values) => Object.entries(values).flatMap(([key, value]) => [flag, `${key}=${value}`])

export async function use({ url, headers, tool, arguments: args, resource, prompt, promptArguments }) {
  const ask = async (method, ...more) => {
    const common = ['--cli', url, '--transport', 'http', '--header', `Authorization: ${headers.Authorization}`, '--method', method]
    return JSON.parse((await run('node_modules/.bin/mcp-inspector', [...common, ...more])).stdout)
  }
  return {
    tools: (await ask('tools/list')).tools.map(({ name }) => name),
    call: await ask('tools/call', '--tool-name', tool, ...pairs('--tool-arg', args)),
    read: await ask('resources/read', '--uri', resource),
    prompt: await ask('prompts/get', '--prompt-name', prompt, ...pairs('--prompt-args', promptArguments)),
  }
}
