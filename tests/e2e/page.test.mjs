// Tests the landing page in a browser: the content for each caller, the forms, and accessibility.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { chromium } from 'playwright-core'

import { ROOT } from './worker.mjs'
import { startApp, startWorkerd } from './workerd.mjs'

let browser, app, everything
before(async () => {
  const executablePath = await readFile(join(ROOT, '.tools/browser'), 'utf8').catch(() => {
    throw new Error('The browser is missing. Run scripts/setup --browser')
  })
  // The browser resolves this host name to the local server, to test a server that is not on localhost.
  const args = ['--host-resolver-rules=MAP kb.example.com 127.0.0.1']
  // Each start sets its variable itself, so that `after` can stop it even if another start fails.
  await Promise.all([
    chromium.launch({ executablePath: executablePath.trim(), args }).then((started) => { browser = started }),
    startApp().then((started) => { app = started }),
    startWorkerd({ name: 'everything', vars: { PAGE_SIZE: '5' } }).then((started) => { everything = started }),
  ])
})
after(() => Promise.all([browser?.close(), app?.stop(), everything?.stop()]))

/** Opens the landing page of a worker for one test. The test fails if the browser reports an error that does not match `expected`. */
async function open(t, { origin }, { expected = /^$/, ...options } = {}, prepare = async () => {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 800 }, ...options })
  const page = await context.newPage()
  page.setDefaultTimeout(15_000)
  const errors = []
  page.on('pageerror', (error) => errors.push(String(error)))
  page.on('console', (message) => {
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource: ')) errors.push(message.text())
  })
  t.after(async () => {
    await context.close()
    assert.deepEqual(errors.filter((text) => !expected.test(text)), [])
  })
  await prepare(page)
  await page.goto(`${origin}/`)
  return page
}

const heading = (page, name) => page.getByRole('heading', { level: 2, name })
const card = (page, name) => page.locator('#offer .card').filter({ has: page.locator('summary').getByText(name, { exact: true }) }).first()

/** Opens the card with this name and returns it. */
async function openCard(page, name) {
  const opened = card(page, name)
  await opened.locator('> summary').click()
  return opened
}

/** Presses a button of a card, waits until the result has the focus, and returns the result. */
async function press(opened, button) {
  await opened.getByRole('button', { name: button }).click()
  await opened.locator('.result:focus').waitFor()
  return opened.getByRole('group', { name: 'Result' })
}

async function signIn(page, token = app.token) {
  await page.getByLabel('Token', { exact: true }).fill(token)
  await page.getByRole('button', { name: 'Use token' }).click()
}

/** Returns by how many pixels the page is wider than the window. */
const overflow = (page) => page.evaluate(() => document.documentElement.scrollWidth - innerWidth)

/** Returns the texts whose contrast with their background is below the minimum of WCAG 2.2, 1.4.3 (AA). */
const lowContrastTexts = (page) => page.evaluate(() => {
  const channels = (color) => color.match(/[\d.]+/g).map(Number)
  const luminance = (color) => {
    const [red, green, blue] = channels(color).map((value) => value / 255).map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
  }
  const backgroundOf = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const color = getComputedStyle(at).backgroundColor
      if (channels(color)[3] !== 0) return color
    }
    return 'rgb(255, 255, 255)'
  }
  const found = []
  for (const element of document.body.querySelectorAll('*')) {
    const hasText = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.data.trim())
    if (!hasText && !('value' in element && element.value) || !element.checkVisibility() || ['SCRIPT', 'NOSCRIPT'].includes(element.tagName)) continue
    const [one, other] = [getComputedStyle(element).color, backgroundOf(element)].map(luminance).sort((a, b) => b - a)
    if ((one + 0.05) / (other + 0.05) < 4.5) found.push(`${element.tagName}.${element.className}: ${element.textContent}`)
  }
  return found
})

for (const [width, height] of [[1280, 800], [360, 740]]) {
  for (const colorScheme of ['light', 'dark']) {
    test(`the page of the knowledge base works at a width of ${width} pixels with the ${colorScheme} color scheme`, async (t) => {
      const page = await open(t, app, { viewport: { width, height }, colorScheme })
      const check = async () => {
        assert.deepEqual([await overflow(page), await lowContrastTexts(page)], [0, []])
      }
      await page.getByText('This server requires an access token.').waitFor()
      assert.equal(await page.locator('#offer').textContent(), '', 'without a token, the page lists nothing')
      await check()

      await signIn(page)
      await heading(page, /^Tools 11$/).waitFor()
      await heading(page, /^Prompts 2$/).waitFor()
      await page.getByText('Instructions for models').click()
      await page.getByText('Search it with search-passages before you answer').waitFor()
      await check()

      const save = await openCard(page, 'save-document')
      assert.match(await save.textContent(), /Creates a document.*destructive · idempotent/s)
      await save.getByLabel('slug').fill('tea')
      await save.getByLabel('title').fill('Tea')
      await save.getByLabel('text').fill('Warm the pot.\nSteep for four minutes.')
      const saved = await press(save, 'Call the tool')
      assert.match(await saved.textContent(), /^Result, after \d+ ms\{\s+"slug": "tea",\s+"uri": "kb:\/\/documents\/tea"\s+\}/)

      await page.getByLabel('Search', { exact: true }).fill('How long does it steep?')
      await page.keyboard.press('Enter')
      await page.locator('.search > .result > .title:focus').waitFor()
      const passages = page.getByRole('group', { name: 'Passages' })
      assert.match(await passages.textContent(), /^1 passage foundTeascore 0\.\d\dWarm the pot\.\nSteep for four minutes\..*retrieval: lexical$/s)
      assert.deepEqual(await passages.locator('mark').allTextContents(), ['Steep'])
      assert.match(await (await press(passages, 'Read kb://documents/tea')).textContent(), /^Result, after \d+ ms.*Warm the pot\./s)
      await check()

      const search = await openCard(page, 'search-documents')
      await search.getByLabel('query').fill('steep')
      await search.getByLabel('limit').fill('3')
      assert.match(await (await press(search, 'Call the tool')).textContent(), /"title": "Tea"/)
      await check()

      await search.getByLabel('limit').fill('a few')
      const wrong = await press(search, 'Call the tool')
      assert.match(await wrong.textContent(), /^The tool reports an error.*`limit` must be an integer \(got "a few"\)/s)
      assert.notEqual(...await Promise.all([wrong, saved].map((each) => each.evaluate((element) => getComputedStyle(element).borderLeftColor))))
      await check()

      await signIn(page, 'another')
      await page.getByText('The access token is not valid for this server.').waitFor()
      assert.equal(await page.locator('#offer').textContent(), '', 'with an invalid token, the page lists nothing')
      assert.ok(await page.getByLabel('Token', { exact: true }).evaluate((element) => element === document.activeElement))
      await check()

      for (const client of await page.locator('#connect .card').all()) {
        await client.locator('summary').click()
        assert.match(await client.textContent(), new RegExp(app.url))
        await check()
      }
    })
  }
}

test('the page can be used with only the keyboard', async (t) => {
  const page = await open(t, app, { permissions: ['clipboard-read', 'clipboard-write'] })
  await page.getByText('This server requires an access token.').waitFor()
  /** Presses Tab until the focused element has this name. Each focused element must have a visible outline. */
  const tabTo = async (name) => {
    for (let steps = 0; steps < 40; steps++) {
      await page.keyboard.press('Tab')
      const { text, outline } = await page.evaluate(() => {
        const { activeElement: { labels, textContent }, activeElement } = document
        return { text: (labels?.[0]?.textContent ?? textContent).trim(), outline: getComputedStyle(activeElement).outlineStyle }
      })
      assert.equal(outline, 'solid', `the focus on "${text}" is visible`)
      if (text.startsWith(name)) return
    }
    assert.fail(`Tab does not reach "${name}"`)
  }
  const focused = (selector) => page.waitForSelector(`${selector}:focus`)
  await tabTo('Skip to the tools, resources and prompts')
  await tabTo('Claude Code')
  await page.keyboard.press('Enter')
  await page.getByText(/^claude mcp add/).waitFor()
  await tabTo('Copy')
  await page.keyboard.press('Enter')
  await page.getByText('Copied').first().waitFor()
  assert.equal(await page.evaluate(() => navigator.clipboard.readText()),
    `claude mcp add --transport http knowledge-base ${app.url} --header "Authorization: Bearer $TOKEN"`)
  await tabTo('Token')
  await page.keyboard.type(app.token)
  await page.keyboard.press('Enter')
  await focused('#offer')
  await tabTo('Search documents')
  await page.keyboard.press('Enter')
  await tabTo('query')
  await page.keyboard.type('nothing like it')
  await page.keyboard.press('Enter')
  await focused('.result')
  assert.match(await page.locator('.result:focus').textContent(), /"documents": \[\]/)
  assert.match(await page.locator('#news').textContent(), /^Result, after/, 'the result is announced to screen readers')
  await tabTo('Complete result as JSON')
  await page.keyboard.press('Enter')
  await page.getByText('"resultType": "complete"').waitFor()
  await tabTo('Save a document')
  await page.keyboard.press('Space')
  await tabTo('slug')
  await page.keyboard.type('Not a slug')
  await tabTo('text')
  await page.keyboard.type('One line')
  await page.keyboard.press('Enter')
  await page.keyboard.type('and another')
  assert.equal(await page.locator('textarea:focus').inputValue(), 'One line\nand another')
  await tabTo('Call the tool')
  await page.keyboard.press('Enter')
  await focused('.result.error')
  assert.match(await page.locator('.result:focus').textContent(), /title/)
})

describe('the page of a server without authentication', () => {
  test('lists tools, resources and prompts, and can use them', async (t) => {
    const page = await open(t, everything)
    await heading(page, /^Tools [2-9]\d$/).waitFor()
    assert.equal(await page.locator('#access').isVisible(), false)
    assert.equal(await page.getByText(/^claude mcp add/, { exact: false }).first().textContent(),
      `claude mcp add --transport http everything ${everything.url}`)
    for (const each of ['Resources', 'Resource templates', 'Prompts']) await heading(page, each).waitFor()

    assert.match(await (await press(await openCard(page, 'hello'), 'Call the tool')).textContent(), /^Result/)
    const blocks = await press(await openCard(page, 'blocks'), 'Call the tool')
    await blocks.locator('img').evaluate((image) => image.decode())
    assert.match(await blocks.textContent(), /audio\/wav, \d+ bytes.*An embedded note.*demo:\/\/text/s)
    assert.match(await (await press(await openCard(page, 'fail'), 'Call the tool')).textContent(), /^The tool reports an error/)

    assert.match(await (await press(await openCard(page, 'demo://text'), 'Read')).textContent(), /Plain text/)
    const template = await openCard(page, 'weather://{city}{?days}')
    await template.getByLabel('uri').fill('weather://Paris?days=3')
    assert.match(await (await press(template, 'Read')).textContent(), /Paris: sunny for 3 days/)
    await template.getByLabel('uri').fill('weather://Zürich')
    assert.match(await (await press(template, 'Read')).textContent(), /^No result.*code -32602/s, 'the URI is base64-encoded in the header')
    const review = await openCard(page, 'review')
    await review.getByLabel('code').fill('let x')
    assert.match(await (await press(review, 'Get the prompt')).textContent(), /user.*let x/s)
  })

  test('sends numbers as they are typed, marked arguments also in headers, and JSON as JSON', async (t) => {
    const page = await open(t, everything)
    const count = await openCard(page, 'count')
    await count.getByLabel('to').fill('9007199254740993')
    const sent = page.waitForRequest((request) => request.postData()?.includes('tools/call'))
    assert.match(await (await press(count, 'Call the tool')).textContent(), /must be at most 20 \(got 9007199254740993\)/)
    assert.match((await sent).postData(), /"arguments":\{"to":9007199254740993\}/)

    const region = await openCard(page, 'test_x_mcp_header')
    await region.getByLabel('region').fill('Zürich')
    assert.match(await (await press(region, 'Call the tool')).textContent(), /^Result/)

    const schema = await openCard(page, 'json_schema_2020_12_tool')
    assert.deepEqual(await schema.locator('select option').allTextContents(), ['not set', 'phone', 'email'])
    await schema.getByLabel('contactMethod').selectOption('phone')
    await schema.getByLabel('phone', { exact: false }).last().fill('112')
    await schema.getByLabel('address').fill('{"street": ')
    assert.match(await (await press(schema, 'Call the tool')).textContent(), /^No result“address” is not JSON/)
    await schema.getByLabel('address').fill('{"street": "Long"}')
    assert.match(await (await press(schema, 'Call the tool')).textContent(), /^Result/)
  })

  test('shows an error if a tool asks the client', async (t) => {
    const page = await open(t, everything)
    const asks = await openCard(page, 'test_input_required_result_elicitation')
    assert.match(await (await press(asks, 'Call the tool')).textContent(), /^No result.*the client cannot be asked.*HTTP 400 · code -32021/s)
  })
})

test('the page shows texts of the server as text, and runs only its own script', async (t) => {
  const hostile = '<img src=x onerror="document.title=1"><script>document.title=1</script>'
  const page = await open(t, everything, { expected: /requires 'TrustedHTML'/ }, (page) => page.route('**/mcp', async (route) => {
    const response = await route.fetch()
    const body = await response.json()
    if (body.result?.tools) {
      body.result.tools = [{
        name: hostile, title: hostile, description: hostile, annotations: {},
        inputSchema: {
          properties: { [hostile]: { type: 'boolean', description: hostile, default: true }, choice: { enum: [hostile] } },
          additionalProperties: false,
        },
      }]
    }
    if (body.result?.capabilities) body.result.instructions = hostile
    if (body.error) body.result = { content: [{ type: 'text', text: hostile }, { type: 'resource_link', name: hostile, uri: 'javascript:document.title=1' }] }
    await route.fulfill({ response, json: body })
  }))
  const opened = await openCard(page, hostile)
  assert.deepEqual(await opened.locator('select').first().locator('option').allTextContents(), ['default: true', 'true', 'false'])
  const result = await press(opened, 'Call the tool')
  await result.getByText(hostile, { exact: true }).first().waitFor()
  assert.equal(await page.locator('#offer :is(img, script, a)').count(), 0)
  assert.equal(await page.title(), 'Everything')
  await assert.rejects(page.evaluate(() => { document.body.innerHTML = '<b>' }), /TrustedHTML|Trusted Type/)
})

describe('the search box', () => {
  /** Searches, waits until the title of the result has the focus, and returns the result. */
  const search = async (page, query) => {
    await page.getByLabel('Search', { exact: true }).fill(query)
    await page.getByRole('button', { name: 'Search', exact: true }).click()
    await page.locator('.search > .result > .title:focus').waitFor()
    return page.getByRole('group', { name: 'Passages' })
  }
  /** Returns the elements around which a ring is visible. */
  const outlines = (page) => page.evaluate(() =>
    [...document.querySelectorAll('*')].filter((each) => getComputedStyle(each).outlineStyle !== 'none').map(({ outerHTML }) => outerHTML))
  const colorOf = (result) => result.evaluate((element) => getComputedStyle(element).borderLeftColor)

  for (const [width, height, colorScheme] of [[1280, 800, 'light'], [320, 640, 'dark']]) {
    test(`shows passages at a width of ${width} pixels with the ${colorScheme} color scheme`, async (t) => {
      const page = await open(t, everything, { viewport: { width, height }, colorScheme })
      const check = async () => assert.deepEqual([await overflow(page), await lowContrastTexts(page)], [0, []])
      await page.getByRole('search').waitFor()
      await check()

      const found = await search(page, 'The CONTENTS of a text')
      assert.deepEqual(await found.getByRole('heading', { level: 4 }).allTextContents(), ['Data File', 'Text'])
      const passage = found.getByRole('listitem').first()
      assert.match(await passage.textContent(), /^Data Filescore 0\.40This is the content of the data file\./)
      assert.deepEqual(await passage.locator('mark').allTextContents(), ['content'], 'no stop word is marked')
      assert.equal(await page.locator(':focus').textContent(), '2 passages found', 'a screen reader reads the result')
      assert.deepEqual(await outlines(page), [], 'no ring is around the list')
      await check()
      assert.match(await (await press(passage, 'Read file://data/123.txt')).textContent(),
        /^Result, after \d+ ms.*This is the content of the data file\./s)
      await check()

      const none = await search(page, 'nowhere')
      assert.equal(await none.textContent(), 'No passage foundNo passage matches the search. Try other words.retrieval: lexical')
      const colorOfNone = await colorOf(none)
      await check()

      const failed = await search(page, '?')
      assert.match(await failed.textContent(), /^The search failed.*Argument `queryText` must contain a word\./s)
      assert.notEqual(await colorOf(failed), colorOfNone)
      await check()

      assert.match(await (await search(page, 'two')).textContent(), /^1 passage foundSeveralSecond · score 1\.00Two/)
      assert.equal(await colorOf(page.locator('.search > .result')), colorOfNone)
    })
  }

  test('can be used with only the keyboard', async (t) => {
    const page = await open(t, everything)
    await page.getByLabel('Search', { exact: true }).focus()
    await page.keyboard.type('plain')
    await page.keyboard.press('Enter')
    await page.locator('.search > .result > .title:focus').waitFor()
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Read demo://text')
    assert.equal((await outlines(page)).length, 1)
    await page.keyboard.press('Enter')
    await page.locator('.passages .result:focus').getByText('Plain text', { exact: true }).waitFor()
    await page.getByLabel('Search', { exact: true }).focus()
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Search')
  })

  test('works with a token, and is not shown for a token that cannot use the tool', async (t) => {
    const tokens = [{ token: 'good', subject: 'ada', scopes: [] }, { token: 'other', subject: 'bob', scopes: [] }]
    const vars = { MCP_AUTH: 'static', MCP_STATIC_TOKENS: JSON.stringify(tokens) }
    const authenticated = await startWorkerd({ name: 'everything', vars })
    t.after(() => authenticated.stop())
    // The example hides no tool, so the test removes it from the list of one caller.
    const page = await open(t, authenticated, {}, (page) => page.route('**/mcp', async (route) => {
      const { authorization, 'mcp-method': method } = route.request().headers()
      const response = await route.fetch()
      if (method !== 'tools/list' || authorization !== 'Bearer other') return route.fulfill({ response })
      const body = await response.json()
      body.result.tools = body.result.tools.filter(({ name }) => name !== 'search-passages')
      return route.fulfill({ response, json: body })
    }))
    await page.getByText('This server requires an access token.').waitFor()
    assert.equal(await page.getByRole('search').count(), 0)
    await signIn(page, 'good')
    assert.match(await (await search(page, 'plain')).textContent(), /^1 passage found/)
    await signIn(page, 'other')
    await page.locator('#offer:focus').waitFor()
    await heading(page, 'Tools').waitFor()
    assert.equal(await page.getByRole('search').count(), 0)
    assert.equal(await page.getByText('Plain text').count(), 0, 'the passages of the other caller are gone')
  })

  test('shows texts of documents as text, and calls that fail as errors', async (t) => {
    const hostile = '<img src=x onerror="document.title=1"> **[now](javascript:document.title=1)** <script>document.title=1</script>'
    const source = (members) => ({ id: hostile, document: hostile, score: 0.5, uri: 'javascript:document.title=1', ...members })
    let answer
    const page = await open(t, everything, {}, (page) => page.route('**/mcp', (route) =>
      (route.request().headers()['mcp-method'] === 'tools/call' ? answer(route) : route.continue())))
    const answerWith = (result) => { answer = (route) => route.fulfill({ json: { result } }) }

    answerWith({
      content: [],
      structuredContent: {
        sources: [
          source({ heading: `${hostile} > Deep`, metadata: { title: hostile } }),
          source({ heading: 'Teapots > Size', metadata: { title: 'Tea' } }),
          source({ uri: 'https://example.com/tea' }),
        ],
        note: hostile,
      },
    })
    const found = await search(page, 'scripting title')
    // The link is not shown as a link, but its text is.
    const shown = hostile.replace('**[now](javascript:document.title=1)**', 'now')
    assert.deepEqual(await found.locator('.passage').allTextContents(), [shown, shown, shown])
    assert.deepEqual(await found.locator('.passage').first().locator('mark').allTextContents(), ['title', 'script', 'title', 'script'])
    assert.deepEqual(await found.getByRole('heading').allTextContents(), [shown, 'Tea', shown])
    assert.deepEqual(await found.locator('.passages > li > .hint').allTextContents(), ['Deep · score 0.50', 'Teapots › Size · score 0.50', 'score 0.50'])
    assert.deepEqual(await found.locator('a').evaluateAll((links) => links.map(({ href }) => href)), ['https://example.com/tea'])
    assert.equal(await found.locator('img, script').count(), 0)
    assert.equal(await page.title(), 'Everything')

    for (const [name, fails, message] of [
      ['no sources', () => answerWith({ content: [], structuredContent: {} }), /no list of passages/],
      ['no structured content', () => answerWith({ content: [] }), /no list of passages/],
      ['an error of the tool', () => answerWith({ content: [{ type: 'text', text: 'The store is closed.' }], isError: true }), /The store is closed\./],
      ['an error of the server', () => {
        answer = (route) => route.fulfill({ status: 429, headers: { 'Retry-After': '60' }, json: { error: { code: -32600, message: 'Too many requests.' } } })
      }, /Too many requests\. Try again in 60 seconds\..*HTTP 429/],
      ['no answer', () => { answer = (route) => route.abort() }, /The server cannot be reached/],
    ]) {
      fails()
      const failed = await search(page, 'title')
      assert.match(await failed.textContent(), new RegExp(`^The search failed.*${message.source}`, 's'), name)
      assert.ok(await failed.evaluate((element) => element.classList.contains('error')), name)
    }
  })
})

describe('errors on the page', () => {
  const answerWith = (fulfil) => (page) => page.route('**/mcp', fulfil)
  for (const [name, fulfil, message] of [
    ['the page reports that the server cannot be reached', (route) => route.abort(), /The server cannot be reached/],
    ['the page reports that the rate limit is exceeded',
      (route) => route.fulfill({
        status: 429, headers: { 'Retry-After': '60' }, json: { error: { code: -32600, message: 'Too many requests.' } },
      }),
      /^Too many requests\. Try again in 60 seconds\.$/],
    ['the page reports the status of a response that is not JSON',
      (route) => route.fulfill({ status: 502, body: '<h1>Bad gateway</h1>' }), /status 502, without an error message/],
    ['the page shows the error of a wrong configuration',
      (route) => route.fulfill({ status: 503, json: { error: { code: -32603, message: 'MCP_AUTH is odd.' } } }), /^MCP_AUTH is odd\.$/],
  ]) {
    test(name, async (t) => {
      const page = await open(t, everything, {}, answerWith(fulfil))
      await page.locator('#status.error').waitFor()
      assert.match(await page.locator('#status').textContent(), message)
    })
  }

  test('the page shows the error of one list next to the other lists', async (t) => {
    const broken = { error: { code: -32603, message: 'The documents cannot be listed.' } }
    const page = await open(t, everything, {}, answerWith((route) =>
      (route.request().headers()['mcp-method'] === 'resources/list' ? route.fulfill({ json: broken }) : route.continue())))
    await heading(page, 'Tools').waitFor()
    await page.locator('#offer .error').getByText('The documents cannot be listed.').waitFor()
  })

  test('the page ignores a late response to an earlier token', async (t) => {
    let release
    const page = await open(t, app, {}, answerWith(async (route) => {
      if (route.request().headers().authorization === 'Bearer slow') await new Promise((resolve) => { release = resolve })
      return route.continue()
    }))
    await signIn(page, 'slow')
    await signIn(page)
    await heading(page, 'Tools').waitFor()
    const late = page.waitForResponse((response) => response.status() === 401)
    release()
    await late.then((response) => response.finished())
    await page.getByRole('button', { name: 'Use token' }).focus()
    assert.ok(await heading(page, 'Tools').isVisible())
  })

  test('the page lists only the tools that the token permits, and mentions the authorization server', async (t) => {
    const reader = await startApp({
      vars: { MCP_AUTHORIZATION_SERVERS: 'https://auth.example.com' },
      secrets: { MCP_STATIC_TOKENS: JSON.stringify([{ token: 'reader', subject: 'r', scopes: ['kb:read'] }]) },
    })
    t.after(() => reader.stop())
    const page = await open(t, reader)
    await page.getByText('This server names its authorization server').waitFor()
    await signIn(page, 'reader')
    await heading(page, /^Tools 4$/).waitFor()
    assert.equal(await card(page, 'save-document').count(), 0, 'a tool for which the token lacks a scope is not listed')
  })

  test('the page rejects a token with invalid characters', async (t) => {
    const page = await open(t, app)
    await signIn(page, 'pass wörd')
    await page.getByText('Copy the complete token.').waitFor()
  })

  test('at an address that is not allowed, the page names the MCP_RESOURCE to set', async (t) => {
    const { port } = new URL(app.origin)
    // The browser ignores the header because the address uses neither HTTPS nor localhost.
    const expected = /^The Cross-Origin-Opener-Policy header has been ignored/
    const page = await open(t, { origin: `http://kb.example.com:${port}` }, { expected })
    await page.locator('#status.error').waitFor()
    assert.match(await page.locator('#status').textContent(), new RegExp(`set MCP_RESOURCE to http://kb\\.example\\.com:${port}/mcp`))
  })
})

test('without JavaScript, the page shows a curl command', async (t) => {
  const page = await open(t, app, { javaScriptEnabled: false })
  const command = page.locator('noscript pre')
  assert.ok(await command.isVisible())
  assert.ok((await command.textContent()).startsWith(`curl -s ${app.url} -H "Authorization: Bearer $TOKEN"`))
  assert.equal(await page.locator('#access').isVisible(), false)
})

test('the page does not scroll horizontally at a width of 320 pixels', async (t) => {
  const page = await open(t, everything, { viewport: { width: 320, height: 640 } })
  await heading(page, 'Tools').waitFor()
  for (const each of ['json_schema_2020_12_tool', 'weather://{city}{?days}']) await openCard(page, each)
  assert.equal(await overflow(page), 0)
})
