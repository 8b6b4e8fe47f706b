// Tests the functions that show passages, on the landing page and in the app of the knowledge base, in a browser without a server.

import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { chromium } from 'playwright-core'

import { ROOT } from './worker.mjs'

const read = (path) => readFile(join(ROOT, path), 'utf8')

let browser, page
before(async () => {
  const executablePath = await read('.tools/browser').catch(() => {
    throw new Error('The browser is missing. Run scripts/setup --browser')
  })
  browser = await chromium.launch({ executablePath: executablePath.trim() })
  page = await browser.newPage()
  for (const file of ['element', 'words', 'markdown', 'passage']) await page.addScriptTag({ content: await read(`src/http/landing/${file}.js`) })
  await page.evaluate(() => {
    window.shown = (text, question = '') => {
      const element = document.createElement('div')
      element.append(markdown(text, stemsOf(question), 3))
      return element
    }
  })
})
after(() => browser?.close())

const shown = (text, question) => page.evaluate(([text, question]) => window.shown(text, question).innerHTML, [text, question])

test('the words that are marked are those of the search', async () => {
  const [query, stem] = await Promise.all(['query', 'stem'].map((file) => read(`src/words/${file}.rs`)))
  const [, stopWords] = /const STOP_WORDS: \[&str; 64\] = \[([^\]]*)\]/.exec(query)
  assert.deepEqual(await page.evaluate(() => [...STOP_WORDS].sort()), [...stopWords.matchAll(/"(\w+)"/g)].map(([, word]) => word).sort())
  // The stems that a test of the Rust code expects.
  const [, stems] = /const STEMS: &str = "\\\n([^"]*)"/.exec(stem)
  const pairs = stems.replaceAll('\\\n', ' ').trim().split(/,\s+/).map((pair) => pair.split(' '))
  assert.ok(pairs.length > 90)
  assert.deepEqual(await page.evaluate((words) => words.map(stem), pairs.map(([word]) => word)), pairs.map(([, expected]) => expected))
  // The questions that a test of the Rust code reads.
  for (const [question, expected] of [
    ['rotate the state key', ['rotat', 'state', 'kei']],
    ['MCP_STATE_KEY tools/call', ['mcp', 'state', 'kei', 'tool', 'call']],
    ['Éléphant, éléphants AND \0', ['eleph']],
    ['How do I do this?', ['how', 'do', 'i', 'thi']],
    ['日本語 🎉', ['日本', '日', '本語', '本', '語', '🎉']],
    ['', []],
  ]) assert.deepEqual(await page.evaluate((question) => [...stemsOf(question)], question), expected, question)
})

for (const [name, text, expected] of [
  ['paragraphs without the line breaks of the source', 'one\ntwo  \nthree\\\nfour  \n\nfive', '<p>one\ntwo<br>three<br>four</p><p>five</p>'],
  ['headings', '# A ##\n\nB\n===\nC\n---\n####### no\n#no', '<h3>A</h3><h3>B</h3><h4>C</h4><p>####### no\n#no</p>'],
  ['lists', '- a\n- b\n  - c\n\n  d\n3. e\n3. f\n\n* * *\nin\n2026. x', '<ul><li><p>a</p></li><li><p>b</p><ul><li><p>c</p></li></ul><p>d</p></li></ul>' +
    '<ol><li value="3"><p>e</p></li><li value="4"><p>f</p></li></ol><hr><p>in\n2026. x</p>'],
  ['quotations', '> a\n> > b', '<blockquote><p>a</p><blockquote><p>b</p></blockquote></blockquote>'],
  ['code', '```js\na  <b>\n```\n\n    c\n\n`` d`e `` `f', '<pre><code>a  &lt;b&gt;</code></pre><pre><code>c</code></pre><p><code>d`e</code> `f</p>'],
  ['tables', '| a | b |\n|:--|--:|\n| `x` | y\\|z | more |\n| 1\n', '<div class="table"><table><thead><tr><th>a</th><th>b</th></tr></thead><tbody>' +
    '<tr><td><code>x</code></td><td>y|z</td></tr><tr><td>1</td></tr></tbody></table></div>'],
  ['emphasis', '*a* __b__ ***c*** ~~d~~ **e *f*** **g*h** snake_case_name 2 * 3 \\*i\\* **j', '<p><em>a</em> <strong>b</strong> ' +
    '<strong><em>c</em></strong> <del>d</del> <strong>e <em>f</em></strong> <strong>g*h</strong> snake_case_name 2 * 3 *i* **j</p>'],
  ['links to http and https URLs, and other links as text', '[a *b*](https://c.d "e") [f](javascript:g) [h](kb://i) ![j](https://k.l/m.png) [n]',
    '<p><a href="https://c.d" rel="noreferrer" target="_blank">a <em>b</em></a> f h j [n]</p>'],
  ['URLs', '<https://a.b> (see https://c.d/e_f).', '<p><a href="https://a.b" rel="noreferrer" target="_blank">https://a.b</a> ' +
    '(see <a href="https://c.d/e_f" rel="noreferrer" target="_blank">https://c.d/e_f</a>).</p>'],
  ['HTML as text', '<script>a</script> <b onclick=c>', '<p>&lt;script&gt;a&lt;/script&gt; &lt;b onclick=c&gt;</p>'],
  ['nothing for nothing', ' \n\n', ''],
]) test(`Markdown is shown: ${name}`, async () => assert.equal(await shown(text), expected))

test('only the words of the question are marked, also in code and in links', async () => {
  assert.equal(await shown('The **rotation** of `STATE_KEY` [keys](https://a.b) is a state.', 'How is the key rotated?'),
    '<p>The <strong><mark>rotation</mark></strong> of <code>STATE_<mark>KEY</mark></code> ' +
    '<a href="https://a.b" rel="noreferrer" target="_blank"><mark>keys</mark></a> is a state.</p>')
  assert.doesNotMatch(await shown('the and of', 'the state of the key'), /mark/)
  assert.equal(await shown('東京都の東京駅。お茶を飲む', '東京 茶 サーバー'),
    '<p><mark>東京</mark>都の<mark>東京</mark>駅。お<mark>茶</mark>を飲む</p>')
})

const excerptOf = (text, question) => page.evaluate(([text, question]) => excerpt(window.shown(text, question))?.innerHTML, [text, question])

test('an excerpt contains most words of the question, and begins and ends with a sentence if one is near', async () => {
  const filler = 'Nothing of interest is in this sentence of ten words. '
  const text = `${filler.repeat(8)}A key is *near* the start. ${filler.repeat(8)}The state key can be rotated. ${filler.repeat(8)}`
  const excerpt = await excerptOf(text, 'rotate state key')
  assert.match(excerpt, /^<p>… The <mark>state<\/mark> <mark>key<\/mark> can be <mark>rotated<\/mark>\. .* of ten words\. …<\/p>$/)
  assert.equal(await excerptOf(filler.repeat(7), 'key'), undefined, 'a short text is shown whole')
  assert.match(await excerptOf(text, 'zebra'), /^<p>Nothing .* …<\/p>$/, 'without a match, the excerpt is the beginning')
})

test('an excerpt keeps lists, and shows code and tables whole', async () => {
  const words = 'word '.repeat(60)
  const list = `1. ${words}\n2. ${words}\n3. the key\n4. ${words}`
  assert.match(await excerptOf(list, 'key'), /^<ol><li value="3"><p>… the <mark>key<\/mark><\/p><\/li><li value="4"><p>(word ?)+<\/p><\/li><\/ol>$/)
  const code = `${words}\n\n\`\`\`\n${'line\n'.repeat(80)}key\n\`\`\`\n\n${words}`
  assert.match(await excerptOf(code, 'key'), /^(<p>.*<\/p>)?<pre><code>(line\n){80}<mark>key<\/mark><\/code><\/pre>(<p>.*<\/p>)?$/)
})

test('the title of a passage is not repeated in its headings', async () => {
  for (const [source, expected] of [
    [{ id: 'a#1', heading: 'Tea > Pots', metadata: { title: 'Tea' } }, { title: 'Tea', path: ['Pots'] }],
    [{ id: 'a#1', heading: 'Pots > Iron', metadata: { title: 'Tea' } }, { title: 'Tea', path: ['Pots', 'Iron'] }],
    [{ id: 'a#1', heading: 'Pots > Iron' }, { title: 'Pots', path: ['Iron'] }],
    [{ id: 'a#1' }, { title: 'a#1', path: [] }],
  ]) assert.deepEqual(await page.evaluate((source) => namesOf(source), source), expected)
})

// The time limit of a test is far less than the time that work in proportion to the square of the length would take.
for (const [name, text] of Object.entries({
  'stars': '*a '.repeat(130_000),
  'brackets': '['.repeat(400_000),
  'links that do not end': '[a]('.repeat(100_000),
  'titles of links that do not end': '](a "'.repeat(80_000),
  'URLs': 'http://,'.repeat(50_000),
  'runs of backticks of different lengths': Array.from({ length: 890 }, (_, length) => `${'`'.repeat(length + 1)}a`).join(''),
  'quotations in quotations': '> '.repeat(200_000),
  'lists in lists': '- '.repeat(200_000),
  'a deep list': Array.from({ length: 880 }, (_, depth) => `${' '.repeat(depth)}- a`).join('\n'),
  'a wide table': `${'|a'.repeat(100_000)}\n${'|-'.repeat(100_000)}`,
  'a long table': `|a|b|\n|-|-|\n${'|x|y|\n'.repeat(65_000)}`,
  'white space': `a${' '.repeat(399_000)}b`,
  'number signs': `# ${'#'.repeat(399_000)}x`,
  'fences': '```\n'.repeat(100_000),
  'dashes': `${'- '.repeat(199_000)}x`,
  'underscores': '_a'.repeat(200_000),
  'matches': 'rotate '.repeat(57_000),
})) {
  test(`a hostile document is shown: ${name}`, { timeout: 60_000 }, async () => {
    const elements = await page.evaluate((text) => {
      const element = window.shown(text, 'rotating key')
      excerpt(element)
      return element.children.length
    }, text)
    assert.ok(elements > 0)
  })
}
