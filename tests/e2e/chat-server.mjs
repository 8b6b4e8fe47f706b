// An HTTP server that implements chat/completions. A test sets the answers, one for each request.

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

/** An answer with a text. */
export const textAnswer = (content) => (response) => response.writeHead(200, json).end(completion({ content }, 'stop'))

/** An answer with one tool call. */
export const toolCall = (name, args) => (response) => {
  const call = { id: 'call00001', type: 'function', function: { name, arguments: JSON.stringify(args) } }
  response.writeHead(200, json).end(completion({ content: null, tool_calls: [call] }, 'tool_calls'))
}

/** An answer with this HTTP status. */
export const statusAnswer = (status, body = '', headers = {}) => (response) => response.writeHead(status, headers).end(body)

/** Leaves the request without an answer. */
export const noAnswer = () => {}

/**
 * Starts the server.
 *
 * @returns {Promise<ChatServer>}
 *
 * @typedef {object} ChatServer
 * @property {string} url the base URL, to which a client appends `/chat/completions`
 * @property {(...answers: Function[]) => void} answersWith sets the answers to the next requests, and empties `requests`. The last answer
 *   repeats
 * @property {{ url: string, headers: object, body: object }[]} requests the requests since the last call of `answersWith`
 * @property {() => Promise<void>} isRequested waits until a request has arrived
 * @property {() => Promise<void>} requestAborted waits until a client aborts a request
 * @property {() => void} stop
 */
export async function startChatServer() {
  let answers = []
  const requests = []
  const server = createServer(async (request, response) => {
    response.on('close', () => { if (!response.writableFinished) server.emit('aborted') })
    const body = JSON.parse(await text(request))
    requests.push({ url: request.url, headers: request.headers, body })
    server.emit('requested')
    const [answer] = answers.length > 1 ? answers.splice(0, 1) : answers
    answer(response)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    requests,
    answersWith: (...next) => {
      answers = next
      requests.length = 0
    },
    isRequested: async () => { if (requests.length === 0) await once(server, 'requested') },
    requestAborted: () => once(server, 'aborted'),
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
