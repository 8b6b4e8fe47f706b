// Requests to other servers, and the reading of bodies up to a limit.

/**
 * Returns the bytes of the stream `body`. If there are more than `limit` bytes, stops and returns the number of bytes read so far.
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
 * Sends a request. Returns the status, the Retry-After header, and the result of `limited` for the body.
 *
 * The function does not follow redirects, because a redirect would send the token to another server.
 */
export async function ask(url, method, headers, body, limit, signal) {
  const response = await fetch(url, { method, headers, body, signal, redirect: 'manual' })
  return [response.status, response.headers.get('retry-after'), await limited(response.body, limit)]
}
