// Tests scripts/dev as a developer runs it: the command, and then the `curl` line that it prints.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { promisify } from 'node:util'
import { ROOT } from './worker.mjs'

const run = promisify(execFile)

let state
before(async () => { state = await mkdtemp(join(tmpdir(), 'dev-')) })
after(() => rm(state, { recursive: true, force: true }))

const freePort = () => new Promise((resolve) => {
  const server = createServer().listen(0, '127.0.0.1', () => {
    const { port } = server.address()
    server.close(() => resolve(port))
  })
})

/** Returns the first of several successive ports that are free. */
async function freePorts(count) {
  const isFree = (port) => new Promise((resolve) => {
    const server = createServer().once('error', () => resolve(false)).listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
  for (;;) {
    const first = await freePort()
    const others = await Promise.all(Array.from({ length: count - 1 }, (_, nth) => isFree(first + nth + 1)))
    if (others.every(Boolean)) return first
  }
}

/** Starts scripts/dev for one test. Returns the process after it has printed its `curl` line or has ended. */
async function dev(t, port, ...args) {
  const child = spawn(join(ROOT, 'scripts/dev'), ['--port', String(port), ...args, '--', '--persist-to', state, '--inspector-port', '0'],
    { stdio: ['ignore', 'pipe', 'pipe'] })
  child.output = ''
  child.ended = new Promise((resolve) => child.once('close', resolve))
  t.after(() => {
    child.kill('SIGTERM')
    return child.ended
  })
  const served = new Promise((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (text) => {
        child.output += text
        child.curl = /^curl .*$/m.exec(child.output)?.[0]
        if (child.curl) resolve()
      })
    }
  })
  await Promise.race([served, child.ended])
  return child
}

/** Returns the running processes that scripts/dev started. Their command lines contain the folder of the test's database. */
async function remainingProcesses() {
  const found = []
  for (const id of (await readdir('/proc')).filter((name) => /^\d+$/.test(name))) {
    const line = await readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')
    if (line.includes(state)) found.push(line.replaceAll('\0', ' '))
  }
  return found
}

describe('the knowledge base', () => {
  test('is served, contains the documents, and answers the printed curl line', async (t) => {
    const child = await dev(t, await freePort())
    assert.ok(child.curl, child.output)
    assert.match(child.output, / -> readme$/m)
    const { stdout } = await run('bash', ['-c', child.curl])
    const { result } = JSON.parse(stdout)
    assert.ok(!result.isError, stdout)
    assert.match(stdout, /readme/)
    child.kill('SIGTERM')
    assert.equal(await child.ended, 143)
    assert.deepEqual(await remainingProcesses(), [])
  })

  // Rule 29. By default, wrangler listens on every address of the machine.
  test('a second start neither migrates the database nor loads the documents, and listens only on the loopback address', async (t) => {
    const port = await freePort()
    const child = await dev(t, port)
    assert.ok(child.curl, child.output)
    assert.doesNotMatch(child.output, / -> readme|migrating/)
    const hex = port.toString(16).toUpperCase().padStart(4, '0')
    const sockets = (await readFile('/proc/net/tcp', 'utf8')) + (await readFile('/proc/net/tcp6', 'utf8').catch(() => ''))
    const listening = [...sockets.matchAll(/^ *\d+: ([0-9A-F]+):([0-9A-F]{4}) \S+ 0A /gm)].filter(([, , local]) => local === hex)
    assert.deepEqual(listening.map(([, address]) => address), ['0100007F'])
    child.kill('SIGINT')
    assert.equal(await child.ended, 130)
    assert.deepEqual(await remainingProcesses(), [])
  })
})

test('an example is served, answers the printed curl line, and ends with the status of wrangler', async (t) => {
  const child = await dev(t, await freePort(), join(ROOT, 'examples/weather'))
  assert.ok(child.curl, child.output)
  const { result } = JSON.parse((await run('bash', ['-c', child.curl])).stdout)
  assert.ok(result.tools.length > 0)
  const [wrangler] = (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim().split(' ')
  process.kill(Number(wrangler), 'SIGKILL')
  assert.equal(await child.ended, 128 + 9)
  assert.deepEqual(await remainingProcesses(), [])
})

test('an example with an authorization server is served behind it, and people have random passwords', async (t) => {
  const child = await dev(t, await freePort(), join(ROOT, 'examples/signed-in'))
  assert.match(child.output, /^Serving .*, and sign in with a name and password of PEOPLE in .*\/examples\/signed-in\/auth\/\.dev\.vars\.$/m)
  assert.match(await readFile(join(ROOT, 'examples/signed-in/auth/.dev.vars'), 'utf8'), /^PEOPLE='\{"ada":"[\w-]{43}"\}'$/m)
  const { error } = JSON.parse((await run('bash', ['-c', child.curl])).stdout)
  assert.match(error.message, /^This server needs an access token/)
  child.kill('SIGTERM')
  await child.ended
  assert.deepEqual(await remainingProcesses(), [])
})

test('a gateway is served in front of the knowledge base and an example, and the printed curl line lists their tools', async (t) => {
  const home = join(ROOT, 'examples/gateway')
  const child = await dev(t, await freePorts(3), home)
  assert.ok(child.curl, child.output)
  const { result } = JSON.parse((await run('bash', ['-c', child.curl])).stdout)
  assert.equal(result._meta?.['edge-mcp/missing'], undefined)
  const names = result.tools.map(({ name }) => name)
  assert.ok(names.includes('weather_get-weather') && names.includes('kb_search-passages'), names.join())
  assert.match(await readFile(join(home, '.dev.vars'), 'utf8'), /^UPSTREAM_TOKENS='\{"kb":"[\w-]{43}","weather":"[\w-]{43}"\}'$/m)
  child.kill('SIGTERM')
  await child.ended
  assert.deepEqual(await remainingProcesses(), [])
})

test('a folder outside the repository is served, and a warning names a secret that wrangler does not pass on', async (t) => {
  const home = await mkdtemp(join(tmpdir(), 'dev-home-'))
  t.after(() => rm(home, { recursive: true }))
  await writeFile(join(home, 'worker.js'), 'export default { fetch: (request, env) => new Response(Object.keys(env).sort().join()) }')
  await writeFile(join(home, 'wrangler.toml'),
    'name = "names"\nmain = "worker.js"\ncompatibility_date = "2026-11-01"\n[secrets]\nrequired = [\n  "LISTED",\n]\n')
  await writeFile(join(home, '.dev.vars'), "LISTED='1'\nFORGOTTEN='2'\n")
  const port = await freePort()
  const child = await dev(t, port, home)
  assert.ok(child.curl, child.output)
  assert.equal(await (await fetch(`http://127.0.0.1:${port}/`)).text(), 'LISTED,MCP_LOG')
  assert.match(child.output,
    /wrangler does not pass FORGOTTEN in \.dev\.vars to the Worker: add it to `required` in \[secrets\] of wrangler\.toml/)
  assert.doesNotMatch(child.output, /\bLISTED in \.dev\.vars/)
})

test('a port that is already in use is an error', async (t) => {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const child = await dev(t, server.address().port)
  assert.equal(await child.ended, 1)
  assert.match(child.output, /port \d+ is in use/)
  server.close()
})

for (const [args, message] of [
  [['--port', 'x'], /--port must be a number from 1 to 65535 \(got x\)/],
  [['--port', '0'], /--port must be a number from 1 to 65535 \(got 0\)/],
  [['nowhere'], /there is no nowhere\/wrangler\.toml: pass the folder of a server, such as examples\/weather/],
  [['--bogus'], /unknown option: --bogus/],
]) {
  test(`scripts/dev ${args.join(' ')} is rejected`, async () => {
    await assert.rejects(run(join(ROOT, 'scripts/dev'), args), (error) => message.test(error.stderr))
  })
}
