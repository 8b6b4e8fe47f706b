// Tests the server of examples/node. With E2E_HOST=node, the tests of workerd run against it too.

import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { networkInterfaces, tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'

import { PROGRESS_META, assertAnswered, assertServing, send, stream, tool } from './faults.mjs'
import { ready, spawnNode, startNode } from './node.mjs'
import { CLIENTS } from './official-clients.mjs'
import { modern, post } from './requests.mjs'
import { ROOT, built } from './worker.mjs'

const SERVER = join(ROOT, 'examples/node/server.mjs')
const WEATHER = join(ROOT, 'examples/weather/build/index.js')

let faults, folder
before(async () => {
  faults = await startNode()
  folder = await mkdtemp(join(tmpdir(), 'edge-mcp-'))
})
after(async () => {
  await faults?.stop()
  await rm(folder, { recursive: true, force: true })
})

/** Sends bytes, and returns the response as text. */
async function raw(worker, text) {
  const socket = connect(new URL(worker.origin).port, '127.0.0.1')
  socket.end(text)
  return Buffer.concat(await socket.toArray()).toString()
}

/** Starts the server with a Worker of this test in JavaScript. */
async function startHandler(t, source) {
  const main = join(folder, `${t.name.replaceAll(/\W/g, '-')}.mjs`)
  await writeFile(main, source)
  const server = await ready(spawnNode([SERVER, main]))
  t.after(() => server.child.kill('SIGKILL'))
  return server
}

describe('examples/weather', () => {
  test('without variables, every request gets a 503 that names the missing one', async (t) => {
    await built('weather', false)
    const server = await ready(spawnNode([SERVER, WEATHER]))
    t.after(() => server.child.kill('SIGKILL'))
    const { status, body } = await modern({ ...server, token: 'any' }, 'tools/list')
    assert.equal(status, 503)
    assert.match(body.error.message, /MCP_STATIC_TOKENS is not set/)
  })

  test('answers the official clients, and rejects a wrong token', async (t) => {
    const weather = await startNode({ name: 'weather' })
    t.after(weather.stop)
    for (const { name, connect } of CLIENTS) {
      const client = await connect(weather)
      const { structuredContent } = await client.callTool({ name: 'get-weather', arguments: { location: 'Paris' } })
      assert.deepEqual(structuredContent, { celsius: 21.5 }, name)
      await client.close()
    }
    const { status, headers } = await modern({ ...weather, token: 'wrong' }, 'tools/list')
    assert.equal(status, 401)
    assert.match(headers.get('www-authenticate'), /^Bearer error="invalid_token"/)
  })
})

describe('a request', () => {
  test('has its address from the connection, not from the client', async () => {
    // The server has no authentication, so it serves only loopback addresses.
    const request = (address) => ({ ...tool('echo', { text: 'x' }), headers: { 'cf-connecting-ip': address, 'cf-ray': 'forged' } })
    const answer = await send(faults, request('203.0.113.9'), 'address')
    assertAnswered({ status: answer.status, body: await answer.json() }, 'address', 'x')
    assert.doesNotMatch(faults.logs(), /forged/)
  })

  test('of another machine cannot have a loopback address', async (t) => {
    const addresses = Object.values(networkInterfaces()).flat().filter(({ internal, family }) => !internal && family === 'IPv4')
    // On a machine without a network, this test has no other address.
    for (const { address } of addresses) {
      const server = await ready(spawnNode([SERVER, join(ROOT, 'tests/faults/build/index.js')], { HOST: address }))
      t.after(() => server.child.kill('SIGKILL'))
      const text = await new Promise((resolve, reject) => {
        const socket = connect(new URL(server.origin).port, address)
        socket.on('error', reject)
        socket.end('POST /mcp HTTP/1.1\r\nHost: localhost\r\nCF-Connecting-IP: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}')
        socket.toArray().then((chunks) => resolve(Buffer.concat(chunks).toString()), reject)
      })
      assert.match(text, /^HTTP\/1\.1 503 /)
    }
  })

  test('that no URL can describe is rejected', async () => {
    for (const head of [
      'GET http://example.com/mcp HTTP/1.1\r\nHost: localhost', 'OPTIONS * HTTP/1.1\r\nHost: localhost', 'GET /mcp HTTP/1.0',
      'GET /mcp HTTP/1.1\r\nHost: a b', 'GET /mcp HTTP/1.1\r\nHost: user@localhost', 'GET /mcp HTTP/1.1\r\nHost: localhost/mcp?x=', 'TRACE /mcp HTTP/1.1\r\nHost: localhost',
    ]) {
      assert.match(await raw(faults, `${head}\r\nConnection: close\r\n\r\n`), /^HTTP\/1\.1 400 /, head)
    }
    await assertServing(faults)
  })

  test('with a body beyond the limit gets a 413, and the next request of its connection gets its answer', async () => {
    const limit = 4 * 1024 * 1024
    const long = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }).padEnd(limit + 1)
    assert.equal((await post(faults, long)).status, 413)
    assert.equal((await post(faults, new Blob([long, long]).stream())).status, 413)
    // The library stops reading in the middle of this body.
    const chunked = `${`${long.length.toString(16)}\r\n${long}\r\n`.repeat(3)}0\r\n\r\n`
    const head = (path, more) => `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${more}\r\n\r\n`
    const text = await raw(faults, `${head('/mcp', 'Transfer-Encoding: chunked')}${chunked}${head('/none', 'Content-Length: 0\r\nConnection: close')}`)
    assert.deepEqual([...text.matchAll(/^HTTP\/1\.1 (\d+) /gm)].map(([, status]) => status), ['413', '404'])
    await assertServing(faults)
  })

  test('is aborted if its client disconnects', async (t) => {
    const server = await startHandler(t, `export default {
      fetch: ({ signal }) => new Promise((resolve) => {
        const stream = () => new ReadableStream({ cancel: () => console.log('its late stream is cancelled') })
        signal.addEventListener('abort', () => resolve(new Response(stream())))
        console.log('began')
      }),
    }`)
    const disconnect = new AbortController()
    const response = fetch(server.url, { signal: disconnect.signal })
    await server.logged(/began/)
    disconnect.abort()
    await assert.rejects(response)
    await server.logged(/its late stream is cancelled/)
  })

  test('that the handler fails to answer closes the connection', async (t) => {
    const server = await startHandler(t, "export default { async fetch() { throw new Error('broken') } }")
    await assert.rejects(fetch(server.url))
    await server.logged(/Error: broken/)
    await assert.rejects(fetch(server.url), 'the server continues')
  })
})

test('a response has the status, the headers and the body of the handler', async (t) => {
  const server = await startHandler(t, `export default {
    fetch({ method }) {
      const headers = new Headers([['set-cookie', 'a=1'], ['set-cookie', 'b=2'], ['x-method', method]])
      return new Response(method === 'HEAD' ? null : 'body', { status: 203, headers })
    },
  }`)
  for (const [method, body] of [['GET', 'body'], ['HEAD', ''], ['PUT', 'body']]) {
    const response = await fetch(server.url, { method })
    assert.deepEqual([response.status, response.headers.getSetCookie(), response.headers.get('x-method'), await response.text()],
      [203, ['a=1', 'b=2'], method, body])
  }
})

describe('after SIGTERM, the server', () => {
  test('ends its streams, and exits', async () => {
    const server = await startNode()
    const { last } = await stream(server, tool('tell', { ms: 1000 }, PROGRESS_META), 'told')
    server.child.kill('SIGTERM')
    assert.equal((await last).result.content[0].text, 'told and waited 1000')
    assert.equal(await server.ended, 0)
  })

  test('ends the work that continues after the answers', async (t) => {
    const server = await startHandler(t, `export default {
      async fetch(request, env, context) {
        context.waitUntil(Promise.reject(new Error('failed work')))
        context.waitUntil(new Promise((resolve) => setTimeout(resolve, 500)).then(() => console.log('worked')))
        return new Response('answer')
      },
    }`)
    assert.equal(await (await fetch(server.url)).text(), 'answer')
    server.child.kill('SIGTERM')
    assert.equal(await server.ended, 0)
    assert.match(server.logs(), /worked/)
    assert.match(server.logs(), /Error: failed work/)
  })

  test('exits with 1 if a request does not end', async (t) => {
    const server = await startHandler(t, "export default { fetch: () => new Promise(() => console.log('began')) }")
    const response = fetch(server.url)
    await server.logged(/began/)
    server.child.kill('SIGTERM')
    await assert.rejects(response)
    assert.equal(await server.ended, 1)
  })
})

describe('the server does not start', () => {
  const fails = async (args, env, reason) => {
    const server = spawnNode(args, env)
    assert.equal(await server.ended, 1)
    await server.logged(reason)
  }

  test('without the entry module', () => fails([SERVER], {}, /usage: node server\.mjs MAIN/))
  test('if the port is in use', () => fails([SERVER, WEATHER], { PORT: new URL(faults.origin).port }, /EADDRINUSE/))
  test('if the entry module does not exist', () => fails([SERVER, join(folder, 'none.js')], {}, /none\.js/))
})
