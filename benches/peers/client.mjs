// @modelcontextprotocol/client in Node.js. It connects to the server at the URL in its argument, and prints a line. For each line
// `SECONDS ANSWERS` of its input it then calls the tool `add`, several times at once, until the seconds have passed or, if ANSWERS is not 0,
// until it has this number of answers. It prints the number of answers.

import { createInterface } from 'node:readline'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'

/** The number of calls at the same time. */
const CALLS = 8

const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: 'auto' } })
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])))
console.log(client.getNegotiatedProtocolVersion())

for await (const line of createInterface(process.stdin)) {
  const [seconds, answers] = line.split(' ').map(Number)
  const end = performance.now() + seconds * 1000
  let count = 0
  const call = async () => {
    while (performance.now() < end && (answers === 0 || count < answers)) {
      const { content, isError } = await client.callTool({ name: 'add', arguments: { a: 2, b: 3 } })
      if (isError || content[0].text !== '5') throw new Error(`a wrong answer: ${JSON.stringify(content)}`)
      count++
    }
  }
  await Promise.all(Array.from({ length: CALLS }, call))
  console.log(count)
}
