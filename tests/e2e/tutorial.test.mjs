// Tests docs/tutorial.md: its commands print the output that it shows, and its code is the code of examples/tutorial. The `rs` blocks of
// docs/your-own-server.md are also code of examples/tutorial.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile, readdir } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { ROOT, randomToken, startWorker } from './worker.mjs'

const run = promisify(execFile)
const page = await readFile(join(ROOT, 'docs/tutorial.md'), 'utf8')

// The contents of the code blocks of a language.
const blocks = (language, text = page) =>
  [...text.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, block]) => block)

async function freePort() {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address()
  server.close()
  await once(server, 'close')
  return port
}

/** Waits at most 10 s until `url` answers, and returns the body of its response. */
async function untilAnswered(url) {
  const deadline = Date.now() + 10_000
  while (Date.now() < deadline) {
    const response = await fetch(url).catch(() => null)
    if (response) return response.text()
    await new Promise((resolve) => setTimeout(resolve, 50))
  }
  throw new Error(`${url} did not answer within 10 s`)
}

test('the commands of the tutorial print the output that it shows', async () => {
  const [, script] = /^node -e '(.*)'$/m.exec(page)
  const port = await freePort()
  const rates = spawn(process.execPath, ['-e', script.replace('8790', port)], { stdio: 'inherit' })
  const token = randomToken()
  let worker
  try {
    await untilAnswered(`http://127.0.0.1:${port}`)
    worker = await startWorker({
      name: 'tutorial',
      vars: { RATES_URL: `http://127.0.0.1:${port}` },
      secrets: {
        MCP_STATIC_TOKENS: JSON.stringify([{ token, subject: 'developer', scopes: ['expenses:write'] }]),
        RATES_KEY: 'any',
      },
    })
    const commands = blocks('console').flatMap((block) => block.split(/^\$ /m).filter(Boolean))
    assert.equal(commands.length, 2)
    for (const text of commands) {
      const [command, ...output] = text.trimEnd().split('\n')
      const { stdout } = await run('bash', ['-c', command.replaceAll('http://127.0.0.1:8787', worker.origin)],
        { env: { ...process.env, TOKEN: token } })
      assert.equal(stdout.trimEnd(), output.join('\n'), command)
    }
  } finally {
    await worker?.stop()
    rates.kill()
  }
})

test('the code in the tutorial and in the page on your own server is from examples/tutorial', async () => {
  const folder = join(ROOT, 'examples/tutorial')
  const names = ['wrangler.toml', ...await filesOf(folder, 'src'), ...await filesOf(folder, 'migrations')]
  const files = await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))
  const other = await readFile(join(ROOT, 'docs/your-own-server.md'), 'utf8')
  const code = [...['rs', 'sql', 'toml'].flatMap((language) => blocks(language)), ...blocks('rs', other)]
  assert.ok(code.length >= 14)
  for (const block of code) assert.ok(files.some((file) => file.includes(block)), `examples/tutorial does not contain the block:\n${block}`)
})

async function filesOf(folder, name) {
  return (await readdir(join(folder, name))).map((file) => join(name, file))
}
