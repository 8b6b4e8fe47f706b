// A browser without a window: it follows redirects, has a cookie jar, and submits forms.

/** Creates a browser without cookies. `seen` gets each answer of each origin. */
export class CookieBrowser {
  /** The cookies by host, and then by name. */
  jar = new Map()

  constructor(seen = () => {}) {
    this.seen = seen
  }

  /** Returns a browser with a copy of the cookies. */
  copy() {
    const other = new CookieBrowser(this.seen)
    for (const [host, cookies] of this.jar) other.jar.set(host, new Map(cookies))
    return other
  }

  /** Sends one request. `form` makes it a POST. */
  async request(url, { method, form } = {}) {
    const { host, origin } = new URL(url)
    if (!this.jar.has(host)) this.jar.set(host, new Map())
    const cookies = this.jar.get(host)
    const response = await fetch(url, {
      method: method ?? (form ? 'POST' : 'GET'),
      redirect: 'manual',
      headers: { Cookie: [...cookies].map((cookie) => cookie.join('=')).join('; '), ...(form && { Origin: origin }) },
      body: form && new URLSearchParams(form),
    })
    const text = await response.text()
    this.seen({ url: String(url), text, headers: [...response.headers] })
    for (const cookie of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie)
      if (value) cookies.set(name, value)
      else cookies.delete(name)
    }
    return { url: new URL(url), status: response.status, text, location: response.headers.get('Location') }
  }

  /**
   * Opens a page, follows redirects and submits the forms that `fill` answers: it gets the page, and returns the form or undefined. Stops
   * before a redirect to `until`. Returns the last answer.
   */
  async open(url, fill = () => undefined, until = () => false) {
    let answer = await this.request(url)
    for (let steps = 0; steps < 20; steps += 1) {
      const form = fill(answer)
      if (answer.location) {
        const next = new URL(answer.location, answer.url)
        if (until(next)) return { ...answer, next }
        answer = await this.request(next)
      } else if (form) {
        const target = new URL(form.action ?? answer.url, answer.url)
        answer = await this.request(target, { form: form.fields })
      } else {
        return answer
      }
    }
    throw new Error(`the pages do not end: ${answer.url}`)
  }
}
