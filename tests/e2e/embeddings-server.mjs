// An HTTP server that implements /v1/embeddings and /v1/rerank. Its models are not models: an embedding counts pairs of letters, and the
// reranker prefers passages that lack a word of the question, so that a test sees whether it was asked.

import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

import { embedding } from './cloudflare-stub.mjs'

const words = (text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))

const PATHS = {
  '/v1/embeddings': ({ input }) => ({
    data: input.map((each, index) => ({ index, embedding: embedding(each) })).reverse(),
    usage: { prompt_tokens: 1, total_tokens: 1 },
  }),
  '/v1/rerank': ({ query, documents }) => ({
    results: documents.map((document, index) => {
      const has = words(document)
      return { index, relevance_score: [...words(query)].every((word) => has.has(word)) ? 0 : 1 }
    }),
  }),
}

/**
 * Starts the server.
 *
 * @returns {Promise<EmbeddingsServer>}
 *
 * @typedef {object} EmbeddingsServer
 * @property {string} url the base URL, to which a client appends `/embeddings` or `/rerank`
 * @property {{ path: string, authorization?: string, body: any }[]} requests the requests
 * @property {(change?: (answer: any) => any) => void} answersWith sets a function that changes each answer. It may return a number, which
 *   is the status of a failure, or a promise. Without a function, the answers are right again
 * @property {() => void} stop
 */
export async function startEmbeddingsServer() {
  const requests = []
  let change
  const server = createServer(async (request, response) => {
    const body = JSON.parse(await text(request))
    requests.push({ path: request.url, authorization: request.headers.authorization, body })
    const right = PATHS[request.url](body)
    const answer = change ? await change(right) : right
    if (typeof answer === 'number') return response.writeHead(answer).end('the model is ill')
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}/v1`,
    requests,
    answersWith: (next) => { change = next },
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
