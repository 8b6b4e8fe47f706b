// scripts/bench: what it makes of what it has measured, and that it measures nothing that is wrong. The subjects here are the floor
// and what is made up; wrk is one that says what it is told to.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { chart } from '../../../benches/chart.mjs'
import { check, messageOf } from '../../../benches/check.mjs'
import { megabyte, prose, RESOURCE } from '../../../benches/content.mjs'
import { crateOf, crates } from '../../../benches/crates.mjs'
import { GOALS, verdict } from '../../../benches/goals.mjs'
import { withResult } from '../../../benches/page.mjs'
import { cores } from '../../../benches/proc.mjs'
import { run } from '../../../benches/run.mjs'
import { median, medians } from '../../../benches/statistics.mjs'
import { goalTable, markdown, plain, ratioTable } from '../../../benches/table.mjs'
import { configuration } from '../../../benches/workerd.mjs'
import { same, SMALL, WORKS } from '../../../benches/works.mjs'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..')

const ELEVEN = JSON.parse(readFileSync(join(ROOT, 'benches/tools.json'), 'utf8'))

const execute = (program, args) => new Promise((resolve) =>
  execFile(program, args, (error, stdout, stderr) => resolve({ status: error ? error.code : 0, output: stdout + stderr })))

describe('the command', () => {
  test('--help says what there is, and does nothing', async () => {
    const { status, output } = await execute(join(ROOT, 'scripts/bench'), ['--help'])
    assert.equal(status, 0)
    for (const option of ['--quick', '--with-rust', '--rounds', '--seconds', '--work', '--subject', '--write']) assert.ok(output.includes(option), option)
  })

  for (const [args, says] of [
    [['--rounds', '0'], /--rounds 0: not a number/],
    [['--seconds', 'x'], /--seconds x: not a number/],
    [['--work', 'nope'], /--work nope: there is tools\/call small, /],
    [['--subject', 'nope'], /--subject nope: there is edge-mcp, floor, /],
    [['--fast'], /--fast/],
  ]) test(`${args.join(' ')} is refused`, async () => {
    const { status, output } = await execute(process.execPath, [join(ROOT, 'scripts/bench.mjs'), ...args])
    assert.equal(status, 1)
    assert.match(output, says)
  })
})

describe('medians', () => {
  for (const [numbers, middle] of [[[3], 3], [[9, 1, 5], 5], [[10, 2, 1, 9], 5.5], [[2, 10, 1], 2]]) {
    test(`of ${numbers}`, () => assert.equal(median(numbers), middle))
  }
  test('of each member', () => assert.deepEqual(medians([{ a: 1, b: 9 }, { a: 3, b: 7 }, { a: 2, b: 8 }]), { a: 2, b: 8 }))
})

const row = (work, subject, rps, auth = false) => ({ work, subject, auth, rps, cpu_us: 1, p50_us: 2, p99_us: 3 })
const small = (subject, rps, auth) => row('tools/call small', subject, rps, auth)
const RESULT = {
  date: '2026-01-02',
  machine: { processor: 'Z80', cores: 2, kernel: '6.1', workerd: '1' },
  rounds: 3,
  seconds: 2,
  rows: [
    small('edge-mcp', 700, true), small('edge-mcp', 800), small('floor', 1000), small('mcp-lite', 500), small('sdk 1.32', 100),
    small('server 2.4', 100), small('agents 0.32', 100), small('mastra 1.18', null), small('turbomcp-wasm 3.6', 250),
    row('tools/list 200', 'edge-mcp', 90, true), row('tools/list 200', 'floor', 900), row('tools/list 200', 'mcp-lite', 30),
    row('tools/list 200', 'sdk 1.32', 10),
  ],
  sizes: { 'edge-mcp': { raw: 1_234_567, gzip: 456_789 }, floor: { raw: 100, gzip: 50 } },
  cold: {
    'edge-mcp': { start_ms: 45, first_ms: 3 }, floor: { start_ms: 30, first_ms: 2 }, 'sdk 1.32': { start_ms: 90, first_ms: 12 },
  },
  memory: { 'edge-mcp': { first_kib: 100_000, last_kib: 115_000 } },
  per_tool: 0.6,
  deployed: { raw: 900_000, gzip: 250_000 },
  crates: [{ crate: 'core', bytes: 240_000 }],
}

describe('the goals', () => {
  test('each is the ratio that it names, by the row with a token', () => {
    const found = GOALS.map((goal) => [goal.of(RESULT), verdict(goal, goal.of(RESULT))])
    assert.deepEqual(found, [
      [0.7, 'least'], [1.4, 'met'], [2.8, 'least'], [7, 'met'], [7, 'missed'], [7, 'missed'], [undefined, '–'],
      [3, 'least'], [1.5, 'met'], [1.5, 'met'], [0.5, 'least'], [0.25, 'met'], [250, 'met'], [1.15, 'least'], [0.6, 'missed'],
    ])
  })

  test('what was not measured has no verdict', () => {
    const nothing = { rows: [], cold: {} }
    assert.deepEqual(new Set(GOALS.map((goal) => verdict(goal, goal.of(nothing)))), new Set(['–']))
  })

  test('a bound is within', () => {
    for (const goal of GOALS) {
      const beyond = goal.atMost ? 1.01 : 0.99
      const verdicts = [goal.goal, goal.goal * beyond, goal.least, goal.least * beyond].map((value) => verdict(goal, value))
      assert.deepEqual(verdicts, ['met', 'least', 'least', 'missed'], goal.what)
    }
  })
})

describe('the tables', () => {
  test('ratios: a row for each work, with and without a token; what cannot be compared is a dash', () => {
    assert.deepEqual(ratioTable(RESULT), [
      ['requests/s of edge-mcp against', 'floor', 'mcp-lite', 'sdk 1.32', 'server 2.4', 'agents 0.32', 'mastra 1.18', 'turbomcp-wasm 3.6'],
      ['tools/call small', '0.7', '1.4', '7', '7', '7', '–', '2.8'],
      ['tools/call small, open', '0.8', '1.6', '8', '8', '8', '–', '3.2'],
      ['tools/list 200', '0.1', '3', '9', '–', '–', '–', '–'],
    ])
  })

  test('goals: a row for each, with its bounds and its verdict', () => {
    const table = goalTable(RESULT)
    assert.equal(table.length, GOALS.length + 1)
    assert.deepEqual(table[1], ['tools/call small, requests/s against floor', '0.7', '0.8', '0.65', 'least'])
    assert.deepEqual(table.at(-1), ['each further registered tool, µs per tools/call', '0.6', 'at most 0.2', 'at most 0.5', 'missed'])
  })

  test('in columns, and in Markdown', () => {
    const table = [['', 'n'], ['one', '1'], ['two', '22']]
    assert.equal(plain(table), '      n\none   1\ntwo  22')
    assert.equal(markdown(table), '|  | n |\n| --- | ---: |\n| one | 1 |\n| two | 22 |')
  })
})

test('the chart has a bar for each that was measured, as long as its number, and says the number', () => {
  const svg = chart(RESULT)
  const bars = [...svg.matchAll(/<text [^>]*>([^<]*)<\/text><rect [^>]*width="(\d+)"[^>]*\/><text [^>]*>(\d+)<\/text>/g)]
    .map(([, name, width, value]) => [name, Number(width), Number(value)])
  assert.deepEqual(bars.map(([name, , value]) => [name, value]), [
    ['edge-mcp', 700], ['edge-mcp, open', 800], ['floor', 1000], ['mcp-lite', 500], ['sdk 1.32', 100], ['server 2.4', 100],
    ['agents 0.32', 100], ['turbomcp-wasm 3.6', 250], ['edge-mcp', 45], ['floor', 30], ['sdk 1.32', 90],
  ])
  const width = (index) => bars[index][1]
  assert.equal(width(3), width(2) / 2)
  assert.equal(width(8), width(10) / 2)
  assert.match(svg, /prefers-color-scheme: dark/)
})

describe('the page', () => {
  test('has a place for a result, which can be written again', async () => {
    const page = `${await readFile(join(ROOT, 'docs/performance.md'), 'utf8')}\nThe end.\n`
    const once = withResult(page, RESULT)
    assert.ok(once.endsWith('\nThe end.\n'))
    for (const part of ['2026-01-02: Z80, 2 cores', '(performance.svg)', '| tools/call small, open | 0.8 |', '| core | 240 |']) {
      assert.ok(once.includes(part), part)
    }
    const other = withResult(once, { ...RESULT, date: '2026-03-04' })
    assert.equal(other, once.replace('2026-01-02', '2026-03-04'))
  })
  test('without one is an error', () => assert.throws(() => withResult('# A page\n', RESULT), /no place/))
})

describe('the crate of a name', () => {
  for (const [name, crate] of [
    ['_ZN4core3fmt5write17h0123456789abcdefE', 'core'],
    ['_ZN65_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..ops..drop..Drop$GT$4drop17h0123456789abcdefE', 'alloc'],
    ['_ZN42_$LT$$RF$T$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE', 'core'],
    ['_RNvMs_NtCs1ab2Cd_8edge_mcp6serverNtB4_4Tool3new', 'edge_mcp'],
    ['_RNvCs1ab2Cd_10serde_json5write', 'serde_json'],
    ['memcpy', '(other)'],
    ['', '(other)'],
  ]) test(name || '(none)', () => assert.equal(crateOf(name), crate))
})

test('the crates of a module, by its functions that are not imported', () => {
  const text = (text) => [text.length, ...Buffer.from(text)]
  const section = (id, ...bytes) => [id, bytes.length, ...bytes]
  const names = [[0, '_ZN6js_sys3log17hE'], [1, '_ZN4core3one17hE'], [2, '_ZN5alloc3two17hE'], [3, '_ZN4core5three17hE'], [4, '__wbindgen_describe_x']]
  const named = [names.length, ...names.flatMap(([index, name]) => [index, ...text(name)])]
  const wasm = [
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(2, 2, ...text('env'), ...text('memory'), 2, 1, 1, 2, ...text('env'), ...text('log'), 0, 0),
    ...section(10, 4, 3, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 2, 0, 0),
    ...section(0, ...text('name'), 0, 2, ...text('m'), 1, named.length, ...named),
  ]
  assert.deepEqual(crates(Uint8Array.from(wasm)), [{ crate: 'core', bytes: 9 }, { crate: 'alloc', bytes: 7 }])
})

describe('a published schema is the same', () => {
  const schema = { type: 'object', properties: { title: { type: 'string', maxLength: 5 }, n: { type: 'integer', minimum: 1 } }, required: ['title'] }
  const changed = (change) => {
    const copy = structuredClone(schema)
    change(copy)
    return copy
  }
  for (const [what, published, is] of [
    ['as it stands', schema, true],
    ['in another order', { required: ['title'], properties: { n: { minimum: 1, type: 'integer' }, title: schema.properties.title }, type: 'object' }, true],
    ['with what generators add', { ...changed(({ properties }) => { properties.n.format = 'uint32' }), title: 'T', $schema: 'x', additionalProperties: false }, true],
    ['with another bound', changed(({ properties }) => { properties.n.minimum = 2 }), false],
    ['without a bound', changed(({ properties }) => { delete properties.title.maxLength }), false],
    ['without the property that is called title', changed(({ properties }) => { delete properties.title }), false],
    ['with one that need not be there', changed((schema) => { schema.required = [] }), false],
    ['none', undefined, false],
  ]) test(what, () => assert.equal(same(published, schema), is))
})

describe('an answer is wrong', () => {
  const work = (name) => WORKS.find((work) => work.name === name)
  const result = (result) => ({ jsonrpc: '2.0', id: 1, result })
  const text = (text, more) => result({ content: [{ type: 'text', text }], ...more })
  const list = (tools) => result({ tools })
  const page = (more) => result({ contents: [{ uri: RESOURCE, text: megabyte(), ...more }] })
  for (const [name, what, message, isWrong] of [
    ['tools/call small', 'the sum', text('5'), false],
    ['tools/call small', 'another sum', text('6'), true],
    ['tools/call small', 'the sum as an error', text('5', { isError: true }), true],
    ['tools/call small', 'to another request', { ...text('5'), id: 2 }, true],
    ['tools/call small', 'no JSON', undefined, true],
    ['tools/call 100 KB', 'the text', text(prose(100_000)), false],
    ['tools/call 100 KB', 'a character less', text(prose(99_999)), true],
    ['tools/call invalid', 'refused by the tool', text('b is no number', { isError: true }), false],
    ['tools/call invalid', 'refused by the protocol', { jsonrpc: '2.0', id: 1, error: { code: -32602, message: 'b' } }, false],
    ['tools/call invalid', 'another error', { jsonrpc: '2.0', id: 1, error: { code: -32603, message: 'b' } }, true],
    ['tools/call invalid', 'added up', text('2three'), true],
    ['tools/list 11', 'the eleven', list(ELEVEN), false],
    ['tools/list 11', 'the eleven in another order', list(ELEVEN.toReversed()), false],
    ['tools/list 11', 'one less', list(ELEVEN.slice(1)), true],
    ['tools/list 11', 'one twice', list(ELEVEN.with(3, ELEVEN[4])), true],
    ['tools/list 11', 'the schema of another', list(ELEVEN.with(3, { ...ELEVEN[3], inputSchema: ELEVEN[4].inputSchema })), true],
    ['tools/list 200', 'eleven', list(ELEVEN), true],
    ['resources/read 1 MB', 'the megabyte', page(), false],
    ['resources/read 1 MB', 'less', page({ text: prose(999_999) }), true],
    ['initialize', 'another revision', result({ protocolVersion: '2024-11-05', capabilities: { tools: {} }, serverInfo: { name: 'bench' } }), true],
    ['server/discover', 'no revision', result({ supportedVersions: [], capabilities: { tools: {} } }), true],
  ]) test(`${name}, ${what}: ${isWrong ? 'wrong' : 'right'}`, () => assert.equal(work(name).wrong(message) !== undefined, isWrong))
})

describe('a message', () => {
  const of = (type, text) => messageOf(new Response('', { headers: { 'content-type': type } }), text)
  test('of JSON', () => assert.deepEqual(of('application/json', '{"id":1}'), { id: 1 }))
  test('of the last event', () =>
    assert.deepEqual(of('text/event-stream', 'data: {"id":0}\n\nevent: message\ndata: {"id":1}\n\n'), { id: 1 }))
  test('that is none', () => assert.equal(of('application/json', 'oops'), undefined))
})

test('the configuration of a Worker names its modules, its bindings and what V8 is told', () => {
  const text = configuration([{ name: 'index.js' }, { name: 'a.wasm' }], { TOKENS: '[{"a": 1}]' }, ['--one', '--two'])
  assert.ok(text.includes('(name = "index.js", esModule = embed "index.js"), (name = "a.wasm", wasm = embed "a.wasm")'), text)
  assert.ok(text.includes(String.raw`(name = "TOKENS", text = "[{\"a\": 1}]")`), text)
  assert.ok(text.includes('v8Flags = ["--one", "--two"]'), text)
})

describe('a run', () => {
  let folder, place
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'bench-'))
    const [core] = await cores()
    place = { root: ROOT, folder, core: { subject: core, load: core }, say: () => {} }
    // The windows have 100, 200, 300 requests in their second, and so on; some may have failed.
    await writeFile(join(folder, 'wrk'), `#!/usr/bin/env bash
cd ${folder}
echo >>windows
printf '{"requests": %d, "micros": 1000000, "p50": 7, "p99": 9, "errors": %d}' $(($(wc -l <windows) * 100)) "$(cat errors)"
`, { mode: 0o755 })
    process.env.PATH = `${folder}${delimiter}${process.env.PATH}`
  })
  beforeEach(async () => {
    await writeFile(join(folder, 'windows'), '')
    await writeFile(join(folder, 'errors'), '0')
  })
  after(() => rm(folder, { recursive: true, force: true }))

  const windows = async () => (await readFile(join(folder, 'windows'), 'utf8')).length
  const how = { rounds: 3, seconds: 1, starts: 1, whole: false }
  const floor = { name: 'floor', peer: 'floor' }
  const answering = (text) => ({
    name: 'liar',
    modules: [{ name: 'liar.js', bytes: Buffer.from(`export default { fetch: () => new Response(${JSON.stringify(text)}) }`) }],
  })

  test('gives a row for each work and subject, nothing for what one cannot, and the first answers', async () => {
    const result = await run(place, [floor, { ...floor, name: 'other', cannot: ['initialize'] }], WORKS, how)
    assert.deepEqual(result.rows.map(({ work, subject, auth }) => [work, subject, auth]),
      WORKS.flatMap(({ name }) => [[name, 'floor', false], [name, 'other', false]]))
    const cannot = result.rows.find(({ work, subject }) => work === 'initialize' && subject === 'other')
    assert.deepEqual(cannot, { work: 'initialize', subject: 'other', auth: false, rps: null, cpu_us: null, p50_us: null, p99_us: null })
    // After the two to warm up, the one has the third window, the sixth and the seventh, since they take turns at being the first.
    assert.deepEqual(result.rows.slice(0, 2).map(({ rps }) => rps), [600, 500])
    for (const { cpu_us: cpu, p50_us: p50, p99_us: p99 } of result.rows.filter((row) => row !== cannot)) {
      assert.deepEqual([typeof cpu, p50, p99], ['number', 7, 9])
    }
    // One to warm up and three that count, for all but the one that cannot.
    assert.equal(await windows(), (WORKS.length * 2 - 1) * 4)
    for (const name of ['floor', 'other']) {
      assert.ok(result.cold[name].start_ms > result.cold[name].first_ms && result.cold[name].first_ms > 0)
      assert.ok(result.sizes[name].raw > result.sizes[name].gzip && result.sizes[name].gzip > 0)
    }
  })

  test('fails where a subject answers wrongly, before anything is timed, and names it', async () => {
    const wrong = answering('{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"6"}]}}')
    await assert.rejects(run(place, [floor, wrong], [SMALL], how), /^Error: liar: tools\/call small: a wrong answer: .*"6"/)
    assert.equal(await windows(), 0)
  })

  test('fails where requests have failed under load', async () => {
    await writeFile(join(folder, 'errors'), '3')
    await assert.rejects(run(place, [floor], [SMALL], how), /3 of \d+ requests failed/)
  })

  test('a status that is no success is a wrong answer', async () => {
    const server = { ...answering(''), modules: [{ name: 'no.js', bytes: Buffer.from('export default { fetch: () => new Response("closed", { status: 503 }) }') }] }
    await assert.rejects(run(place, [server], [SMALL], how), /HTTP 503: closed/)
  })

  test('an answer is asked for with the token', async () => {
    const seen = []
    const server = createServer((request, response) => {
      seen.push(request.headers.authorization)
      response.setHeader('content-type', 'application/json')
      response.end('{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"5"}]}}')
    })
    await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve))
    await check(`http://127.0.0.1:${server.address().port}/mcp`, SMALL, 'secret')
    server.close()
    assert.deepEqual(seen, ['Bearer secret'])
  })
})
