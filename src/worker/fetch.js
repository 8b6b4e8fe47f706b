// Requests to other servers, and bodies that are read to a limit.

/**
 * The bytes of `body`, a stream, if they are at most `limit`; else the number of bytes after which it was given up.
 */
export async function limited(body, limit) {
  const chunks = []
  let length = 0
  for await (const chunk of body ?? []) {
    length += chunk.length
    if (length > limit) return length
    chunks.push(chunk)
  }
  return new Uint8Array(await new Blob(chunks).arrayBuffer())
}

/**
 * What another server answers: its status, its Retry-After, and its body as `limited` gives it.
 *
 * A redirect is not followed: what is sent to one server, a token among it, is for no other.
 */
export async function ask(url, method, headers, body, limit, signal) {
  const response = await fetch(url, { method, headers, body, signal, redirect: 'manual' })
  return [response.status, response.headers.get('retry-after'), await limited(response.body, limit)]
}
