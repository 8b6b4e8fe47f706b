// An HTTP server in the place of Vectorize and Workers AI. workerd has the real clients of both, and sends their requests to this server.
// The server enforces the documented limits, so that a Worker that exceeds one fails as it does on Cloudflare. Its models are not models:
// an embedding counts pairs of letters, a reranker counts common words, and a chat answers a fixed text.

import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'

/** The length of the vectors of the embedding model. */
export const DIMENSIONS = 256

const bytes = (text) => Buffer.byteLength(text)

/** An error of Vectorize. */
class Refusal extends Error {
  constructor(code, message) {
    super(message)
    this.code = code
  }
}
const check = (holds, code, message) => { if (!holds) throw new Refusal(code, message) }

function cosine(a, b) {
  const dot = (a, b) => a.reduce((sum, value, n) => sum + value * b[n], 0)
  return dot(a, b) / (Math.sqrt(dot(a, a) * dot(b, b)) || 1)
}

/** Returns an embedding of a text: the numbers of its pairs of letters, by their hash. */
export function embedding(text) {
  const vector = new Array(DIMENSIONS).fill(0)
  const letters = ` ${text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ')} `
  for (let n = 0; n + 2 <= letters.length; n++) {
    vector[createHash('sha256').update(letters.slice(n, n + 2)).digest()[0]] += 1
  }
  return vector
}

const wordsOf = (text) => new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu))

/** Returns the part of the words of `query` that `text` has. */
function overlap(query, text) {
  const [asked, words] = [wordsOf(query), wordsOf(text)]
  return [...asked].filter((word) => words.has(word)).length / Math.max(asked.size, 1)
}

/** An error of Workers AI. */
class AiRefusal extends Error {
  constructor(internalCode, message) {
    super(message)
    this.internalCode = internalCode
  }
}

/** The models, by a part of their names. */
const MODELS = [
  [/reranker/, ({ query, contexts, top_k: most = contexts.length }) => {
    const response = contexts.map(({ text }, id) => ({ id, score: overlap(query, text) }))
    return { response: response.sort((a, b) => b.score - a.score).slice(0, most) }
  }],
  [/bge-|embed/, (inputs) => {
    const texts = [inputs.text ?? inputs.queries ?? inputs.documents].flat()
    if (texts.length > 100) throw new AiRefusal(5006, `Error: at most 100 texts, got ${texts.length}`)
    const data = texts.map(embedding)
    return { shape: [data.length, DIMENSIONS], data, pooling: 'cls' }
  }],
  [/instruct|chat|gpt|llama/, () => ({ response: 'A fixed answer.', usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } })],
]

/**
 * Starts the server.
 *
 * @param {object} [options]
 * @param {number} [options.dimensions] the length of the vectors of the index
 * @returns {Promise<CloudflareStub>}
 *
 * @typedef {object} CloudflareStub
 * @property {string} address the address, `127.0.0.1:PORT`
 * @property {Map<string, object>} vectors the vectors that queries find, by their ids
 * @property {(milliseconds: number) => void} delay sets the time after which a change is visible (default: 0). With `Infinity`, changes are
 *   visible after a call of `show`
 * @property {() => void} show makes all changes visible
 * @property {(path: string, answer: { status: number, body: string }, times?: number) => void} fail sets the answer to the next requests of
 *   a path, such as `/query` (default: to one request)
 * @property {{ path: string, body: any }[]} requests the requests
 * @property {() => void} stop
 */
export async function startCloudflareStub({ dimensions = DIMENSIONS } = {}) {
  const vectors = new Map()
  const requests = []
  const failures = new Map()
  let pending = []
  let milliseconds = 0

  /** Applies the changes that are due, in their order. */
  const apply = (now) => {
    while (pending.length > 0 && pending[0].at <= now) pending.shift().change()
  }
  const change = (change) => {
    pending.push({ at: Date.now() + milliseconds, change })
    return { mutationId: createHash('sha256').update(String(requests.length)).digest('hex').slice(0, 32) }
  }
  const checkIds = (ids, most) => {
    check(ids.length <= most, 40007, `too many ids in payload; max id count is ${most}, got ${ids.length}`)
    for (const id of ids) {
      check(typeof id === 'string' && id !== '', 40008, 'id must be a string')
      check(bytes(id) <= 64, 40008, `id too long; max is 64 bytes, got ${bytes(id)} bytes`)
    }
  }
  const checkVector = (values, namespace) => {
    check(values.every(Number.isFinite), 40012, 'vector must have finite numbers')
    check(values.length === dimensions, 40012, `expected ${dimensions} dimensions, and got ${values.length} dimensions`)
    check(namespace === undefined || bytes(namespace) <= 64, 40009, 'namespace too long; max is 64 bytes')
  }

  const operations = {
    '/info': () => ({ vectorCount: vectors.size, dimensions, processedUpToDatetime: null, processedUpToMutation: null }),
    '/query': ({ vector, topK = 5, namespace, returnValues = false, returnMetadata = 'none' }) => {
      const most = returnValues || returnMetadata === 'all' ? 20 : 100
      check(topK >= 1 && topK <= most, 40025, `max top K is ${most}, but got ${topK}`)
      checkVector(vector, namespace)
      const found = [...vectors.values()]
        .filter((stored) => namespace === undefined || stored.namespace === namespace)
        .map((stored) => ({ stored, score: cosine(vector, stored.values) }))
        .sort((a, b) => b.score - a.score)
        .slice(0, topK)
      const result = found.map(({ stored: { id, namespace, values }, score }) => ({ id, score, namespace, ...(returnValues && { values }) }))
      return { count: result.length, matches: result }
    },
    '/upsert': (all) => {
      check(all.length <= 1000, 40010, `too many vectors in payload; max is 1000, got ${all.length}`)
      checkIds(all.map(({ id }) => id), 1000)
      for (const { values, namespace } of all) {
        checkVector(values, namespace)
      }
      return change(() => { for (const vector of all) vectors.set(vector.id, vector) })
    },
    '/getByIds': ({ ids }) => {
      checkIds(ids, 20)
      return ids.flatMap((id) => vectors.get(id) ?? [])
    },
    '/deleteByIds': ({ ids }) => {
      checkIds(ids, 100)
      return change(() => { for (const id of ids) vectors.delete(id) })
    },
  }

  const run = (name, { inputs }) => {
    const model = MODELS.find(([pattern]) => pattern.test(name))?.[1]
    if (!model) throw new AiRefusal(5007, `No such model ${name} or task`)
    return model(inputs)
  }

  const answer = (path, headers, body) => {
    const failure = failures.get(path)
    if (failure?.times > 0) {
      failure.times -= 1
      return failure.answer
    }
    try {
      apply(Date.now())
      const result = path === '/run' ? run(headers['cf-consn-model-id'], body) : operations[path](body)
      return { status: 200, body: JSON.stringify(result) }
    } catch (error) {
      const { message } = error
      if (error instanceof Refusal) return { status: 400, body: JSON.stringify({ code: error.code, error: message }) }
      if (error instanceof AiRefusal) {
        return { status: 400, body: JSON.stringify({ name: 'AiError', internalCode: error.internalCode, description: message }) }
      }
      return { status: 500, body: String(error.stack) }
    }
  }

  const server = createServer(async (request, response) => {
    const { pathname: path } = new URL(request.url, 'http://stub')
    const sent = await text(request)
    const lines = request.headers['content-type'] === 'application/x-ndjson'
    const body = lines ? sent.split('\n').map((line) => JSON.parse(line)) : sent && JSON.parse(sent)
    requests.push({ path, body, model: request.headers['cf-consn-model-id'] })
    const { status, body: content } = answer(path, request.headers, body)
    // The client of Workers AI parses an answer only if it has exactly this type.
    response.writeHead(status, { 'content-type': 'application/json' }).end(content)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    address: `127.0.0.1:${server.address().port}`,
    get vectors() {
      apply(Date.now())
      return vectors
    },
    requests,
    delay: (time) => { milliseconds = time },
    show: () => apply(Infinity),
    fail: (path, answer, times = 1) => failures.set(path, { answer, times }),
    stop: () => {
      server.close()
      server.closeAllConnections()
    },
  }
}
