// A host of apps in a browser: ext-apps' library for hosts, with the official client. The host page and the sandbox, in which an app runs,
// have two origins.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { build } from 'esbuild'
import { chromium } from 'playwright-core'

import { ROOT } from '../worker.mjs'

const HERE = join(ROOT, 'tests/e2e/apps')

/** Serves the answers of a function on an own origin. */
const serve = (answer) => new Promise((resolve) => {
  const server = createServer((request, response) => {
    const [body, headers] = answer(new URL(request.url, 'http://localhost'))
    response.writeHead(body === undefined ? 404 : 200, headers).end(body)
  }).listen(0, '127.0.0.1', () => resolve({ origin: `http://127.0.0.1:${server.address().port}`, stop: () => server.close() }))
})

/** Returns the Content-Security-Policy of an app (specification 2026-01-26, "CSP Construction"). The sandbox has a frame of its own origin. */
function policy({ connectDomains = [], resourceDomains = [], baseUriDomains = [] }) {
  const from = (...sources) => sources.flat().join(' ')
  return [
    "default-src 'none'", "object-src 'none'", "frame-src 'self'",
    `script-src ${from("'self'", "'unsafe-inline'", resourceDomains)}`, `style-src ${from("'self'", "'unsafe-inline'", resourceDomains)}`,
    `img-src ${from("'self'", 'data:', resourceDomains)}`, `font-src ${from("'self'", resourceDomains)}`,
    `connect-src ${connectDomains.length ? from(connectDomains) : "'none'"}`, `base-uri ${from("'self'", baseUriDomains)}`,
  ].join('; ')
}

/** Starts the browser, and the servers of the host page and of the sandbox. */
export async function startHost() {
  const executablePath = await readFile(join(ROOT, '.tools/browser'), 'utf8').catch(() => {
    throw new Error('The browser is missing. Run scripts/setup --browser')
  })
  const bundle = build({ entryPoints: [join(HERE, 'page.js')], bundle: true, write: false, format: 'iife', logLevel: 'silent' })
  const [script, page, frame] = await Promise.all([
    bundle.then(({ outputFiles: [{ text }] }) => text), ...['page.html', 'sandbox.html'].map((file) => readFile(join(HERE, file), 'utf8')),
  ])
  const html = { 'Content-Type': 'text/html; charset=utf-8' }
  const files = { '/': [page, html], '/page.js': [script, { 'Content-Type': 'text/javascript' }] }
  const [browser, host, sandbox] = await Promise.all([
    chromium.launch({ executablePath: executablePath.trim() }),
    serve(({ pathname }) => files[pathname] ?? []),
    serve(({ searchParams }) => [frame, { ...html, 'Content-Security-Policy': policy(JSON.parse(searchParams.get('csp'))) }]),
  ])

  /**
   * Shows the result of a tool in a new page, by `showApp` of page.js with these options. Returns the page, the app, what the app has done,
   * and the frame of the app. The test fails if a script fails, or if there is an error that does not match `expected`.
   */
  async function show(t, { url, token }, options, { expected = /^$/, ...ofContext } = {}) {
    const context = await browser.newContext({ viewport: { width: 780, height: 900 }, ...ofContext })
    const page = await context.newPage()
    page.setDefaultTimeout(15_000)
    const errors = []
    page.on('pageerror', (error) => errors.push(String(error)))
    page.on('console', (message) => { if (message.type() === 'error') errors.push(message.text()) })
    t.after(async () => {
      await context.close()
      assert.deepEqual(errors.filter((text) => !expected.test(text)), [])
    })
    await page.goto(`${host.origin}/`)
    await page.evaluate((options) => window.showApp(options), { url, token, sandbox: `${sandbox.origin}/`, ...options })
    const view = page.frameLocator('#view').frameLocator('iframe')
    return { page, view, seen: () => page.evaluate(() => window.seen), frame: () => page.frames().at(-1) }
  }

  return { show, stop: () => Promise.all([browser.close(), host.stop(), sandbox.stop()]) }
}
