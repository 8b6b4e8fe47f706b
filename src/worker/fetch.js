// Requests to other servers, and reading bodies up to a limit.

/**
 * Returns the bytes of the stream `body` if there are at most `limit`, or else the number of bytes that were read.
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
 * Sends a request, and returns the status, the Retry-After header, and the body as `limited` returns it.
 *
 * Redirects are not followed, since they would send the token to another server.
 */
export async function ask(url, method, headers, body, limit, signal) {
  const response = await fetch(url, { method, headers, body, signal, redirect: 'manual' })
  return [response.status, response.headers.get('retry-after'), await limited(response.body, limit)]
}
