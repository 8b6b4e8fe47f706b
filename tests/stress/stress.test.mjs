// Tests a short run of scripts/stress, and that it detects wrong servers.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, test } from 'node:test'

import { memoryKib, run } from './run.mjs'
import { ROOT, startWorker } from '../e2e/worker.mjs'

test('the knowledge base answers correctly under load', async (t) => {
  const worker = await startWorker({ config: (toml) => toml.replace(/limit = \d+/, 'limit = 1000000000') })
  t.after(() => worker.stop())
  const { right, hostile, left, failures } = await run(worker, { connections: 40, seconds: 6 })
  assert.deepEqual(failures, [])
  assert.ok(right > 40 && hostile > 0 && left > 0, JSON.stringify({ right, hostile, left }))
  assert.ok(await memoryKib(worker) > 10_000, 'the memory of workerd is measured')
})

describe('the load test fails if the server', () => {
  const ids = []
  const echo = (answer) => async (request, response) => {
    let body = ''
    try {
      for await (const chunk of request) body += chunk
    } catch {
      // The client has disconnected.
      return
    }
    answer(body, response)
  }
  const json = (response, message, status = 200) => response.writeHead(status).end(JSON.stringify(message))
  const idOf = (body) => { try { return JSON.parse(body).id } catch { return undefined } }

  for (const [name, answer] of [
    ['answers with the id of another request',
      echo((body, response) => json(response, { jsonrpc: '2.0', id: ids.push(idOf(body)) && ids.at(-2), result: {} }))],
    ['answers with another result',
      echo((body, response) => json(response, { jsonrpc: '2.0', id: idOf(body), result: { isError: false, content: [] } }))],
    ['fails', echo((body, response) => json(response, { jsonrpc: '2.0', id: idOf(body), error: { code: -32603, message: '' } }, 500))],
    ['closes the connection', (request) => request.socket.destroy()],
  ]) {
    test(name, async (t) => {
      const server = createServer(answer)
      await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
      t.after(() => server.closeAllConnections() ?? server.close())
      const { right, failures } = await run({ url: `http://127.0.0.1:${server.address().port}/mcp`, token: 'x' }, { connections: 3, seconds: 1 })
      assert.ok(failures.length > right, JSON.stringify({ right, failures: failures.slice(0, 2) }))
    })
  }
})

describe('scripts/stress', () => {
  const stress = (...args) => new Promise((resolve) =>
    execFile(join(ROOT, 'scripts/stress'), args, (error, stdout, stderr) => resolve({ status: error ? error.code : 0, output: stdout + stderr })))

  test('lists its options with --help', async () => {
    const { status, output } = await stress('--help')
    assert.equal(status, 0)
    for (const option of ['--connections', '--seconds']) assert.ok(output.includes(option), option)
  })

  for (const args of [['--connections', '0'], ['--connections', '1001'], ['--seconds', 'x'], ['--nothing']]) {
    test(`rejects ${args.join(' ')}`, async () => assert.equal((await stress(...args)).status, 1))
  }
})
