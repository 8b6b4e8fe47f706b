// An HTTP server that speaks chat/completions: it answers as a test tells it to, one answer for each request.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

const completion = (message, finish_reason) => JSON.stringify({
  id: 'c',
  object: 'chat.completion',
  choices: [{ index: 0, message: { role: 'assistant', ...message }, finish_reason }],
  usage: { prompt_tokens: 3, completion_tokens: 5, total_tokens: 8 },
})

const json = { 'Content-Type': 'application/json' }

/** An answer in words. */
export const says = (content) => (response) => response.writeHead(200, json).end(completion({ content }, 'stop'))

/** A call of one tool. */
export const calls = (name, args) => (response) => {
  const call = { id: 'call00001', type: 'function', function: { name, arguments: JSON.stringify(args) } }
  response.writeHead(200, json).end(completion({ content: null, tool_calls: [call] }, 'tool_calls'))
}

/** An answer of this status. */
export const fails = (status, body = '', headers = {}) => (response) => response.writeHead(status, headers).end(body)

/** No answer. */
export const isSilent = () => {}

/**
 * Starts the server.
 *
 * @returns {Promise<ChatServer>}
 *
 * @typedef {object} ChatServer
 * @property {string} url what `/chat/completions` follows
 * @property {(...answers: Function[]) => void} will answers the next requests in this way, the last one from then on; forgets the
 *   requests before
 * @property {{ url: string, headers: object, body: object }[]} requests since then
 * @property {() => Promise<void>} isAsked waits until a request has come
 * @property {() => Promise<void>} cutOff waits until a request was given up by whoever sent it
 * @property {() => void} stop
 */
export async function startChatServer() {
  let answers = []
  const requests = []
  const server = createServer(async (request, response) => {
    response.on('close', () => { if (!response.writableFinished) server.emit('cut off') })
    const body = JSON.parse(await text(request))
    requests.push({ url: request.url, headers: request.headers, body })
    server.emit('asked')
    const [answer] = answers.length > 1 ? answers.splice(0, 1) : answers
    answer(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    requests,
    will: (...next) => {
      answers = next
      requests.length = 0
    },
    isAsked: async () => { if (requests.length === 0) await once(server, 'asked') },
    cutOff: () => once(server, 'cut off'),
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
