// Requests to other servers.

/** A request and its response. */
export class Exchange {
  #controller = new AbortController()
  #response
  #isBound
  #reader
  #hasEnded = false

  /**
   * Sends the request through a service binding, or else through the network. Returns the status, and the values of the headers
   * `names`: null for an absent header.
   *
   * The method does not follow redirects, because a redirect would send the token to another server.
   */
  async open(service, url, method, headers, body, names) {
    const { signal } = this.#controller
    const response = await (service ?? globalThis).fetch(url, { method, headers, body, signal, redirect: 'manual' })
    this.#response = response
    this.#isBound = service !== undefined
    return [response.status, names.map((name) => response.headers.get(name))]
  }

  /** Returns the next bytes of the body, or undefined at its end. */
  async next() {
    if (this.#hasEnded) return
    if (!this.#reader && !this.#isBound && isShort(this.#response)) {
      const bytes = new Uint8Array(await this.#response.arrayBuffer())
      this.#hasEnded = true
      return bytes
    }
    this.#reader ??= this.#response.body?.getReader()
    const { done, value } = (await this.#reader?.read()) ?? { done: true }
    this.#hasEnded = done
    return value
  }

  /** Aborts the request, unless the body has ended. */
  abort() {
    if (this.#hasEnded) return
    this.#hasEnded = true
    try {
      this.#controller.abort()
    } catch {
      // The runtime permits only the call that sent a request to abort it. The runtime itself aborts the requests of a call that ends.
    }
  }
}

/**
 * Returns whether the head of a response states that its body is short. The runtime reads such a body in less time as a whole. A body with a
 * content encoding may be long nevertheless. So may the body of another Worker, because no HTTP parser compares it with its head.
 */
function isShort({ headers }) {
  const length = headers.get('content-length')
  return length !== null && Number(length) <= 65_536 && !headers.has('content-encoding')
}
