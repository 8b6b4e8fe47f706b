// Tests of scripts/bench: its tables, goals, chart and page, and its checks of answers. The subjects are the floor and fake Workers, and a
// fake wrk prints prepared results.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { after, before, beforeEach, describe, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { chart } from '../../../benches/chart.mjs'
import { messageOf } from '../../../benches/check.mjs'
import { crateOf, crates } from '../../../benches/crates.mjs'
import { GOALS, verdict, worse } from '../../../benches/goals.mjs'
import { withRatios, withResult } from '../../../benches/page.mjs'
import { cores } from '../../../benches/proc.mjs'
import { run } from '../../../benches/run.mjs'
import { quartiles, ratio } from '../../../benches/statistics.mjs'
import { clientTable, gatewayTable, goalTable, ratioTable } from '../../../benches/table.mjs'
import { configuration } from '../../../benches/workerd.mjs'
import { same, SMALL, WORKS } from '../../../benches/works.mjs'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '../../..')

const ELEVEN = JSON.parse(readFileSync(join(ROOT, 'benches/tools.json'), 'utf8'))

const execute = (program, args) => new Promise((resolve) =>
  execFile(program, args, (error, stdout, stderr) => resolve({ status: error ? error.code : 0, output: stdout + stderr })))

describe('the command', () => {
  test('--help lists the options', async () => {
    const { status, output } = await execute(join(ROOT, 'scripts/bench'), ['--help'])
    assert.equal(status, 0)
    for (const option of [
      '--quick', '--with-rust', '--again', '--client', '--compare', '--rounds', '--seconds', '--starts', '--work', '--subject', '--write',
    ]) assert.ok(output.includes(option), option)
  })

  for (const [args, message] of [
    [['--work', 'nope'], /--work must be one of: tools\/call small; .*\(got nope\)/],
  ]) test(`${args.join(' ')} is rejected`, async () => {
    const { status, output } = await execute(process.execPath, [join(ROOT, 'scripts/bench.mjs'), ...args])
    assert.equal(status, 1)
    assert.match(output, message)
  })
})

describe('statistics', () => {
  for (const [numbers, lower, median, upper] of [
    [[9, 1, 5], 3, 5, 7], [[2, 1], 1.25, 1.5, 1.75],
  ]) {
    test(`the quartiles of ${numbers} are ${lower}, ${median} and ${upper}`, () =>
      assert.deepEqual(quartiles(numbers), { lower, median, upper }))
  }
  test('a ratio compares the values of the same round, so a round that is slow for both does not change it', () =>
    assert.deepEqual(ratio([200, 20, 2], [100, 10, 1]), { lower: 2, median: 2, upper: 2 }))
  test('a ratio to a subject that was not measured is undefined', () => assert.equal(ratio([1], undefined), undefined))
})

const row = (work, subject, ...cpu) => ({ work, subject, cpu_us: cpu, rps: 1e6 / cpu[0], p50_us: 2, p99_us: 3 })
const small = (subject, ...cpu) => row('tools/call small', subject, ...cpu)
const START_VALUES = ['start_ms', 'first_ms', 'first_500_us', 'first_2000_us']
const starts = (...numbers) => Object.fromEntries(START_VALUES.map((name, index) => [name, [numbers[index]]]))
const NAMES = ['edge-mcp', 'edge-mcp, shared', 'floor', 'mcp-lite', 'sdk 1.32', 'server 2.4', 'turbomcp-wasm 3.6']
const RESULT = {
  date: '2026-01-02',
  machine: { processor: 'Z80', cores: 2, kernel: '6.1', workerd: '1' },
  rounds: 3,
  seconds: 2,
  rows: [
    small('edge-mcp', 100, 200, 100), small('edge-mcp, shared', 80, 80, 80), small('floor', 64, 64, 64), small('mcp-lite', 96, 120, 90),
    small('sdk 1.32', 400, 800, 400), small('turbomcp-wasm 3.6', 90, 180, 110), small('edge-mcp, token', 110, 210, 120),
    row('tools/list 200', 'edge-mcp', 200), row('tools/list 200', 'edge-mcp, shared', 100), row('tools/list 200', 'floor', 90),
    row('tools/list 200', 'mcp-lite', 200), row('tools/list 200', 'sdk 1.32', 600),
  ],
  sizes: Object.fromEntries(NAMES.map((name) => [name, { raw: 1_234_567, gzip: 456_789 }])),
  starts: {
    'edge-mcp': starts(45, 3, 300, 200),
    'edge-mcp, shared': starts(48, 3, 260, 180),
    floor: starts(30, 2, 100, 90),
    'mcp-lite': starts(60, 8, 200, 190),
  },
  memory: { 'edge-mcp': { first_kib: 100_000, last_kib: 115_000 }, floor: { first_kib: 60_000 } },
  client: {
    relay: [300, 500], without: [100, 100], own: [200, 400], official: [200, 400], floor: [100, 100], shared: [400, 400], fresh: [800, 800],
  },
  gateway: { through: [300, 300], relay: [200, 300], list_of_many: [900, 900], list_of_one: [100, 90], delayed_ms: [240, 260] },
  per_tool: 0.6,
  deployed: { raw: 900_000, gzip: 250_000 },
  crates: [{ crate: 'core', bytes: 240_000 }],
}

describe('the goals', () => {
  const goal = (what) => GOALS.find((goal) => goal.what === what)

  for (const [what, median, deciding, expected] of [
    ['tools/call small, shared, against floor', 0.8, 0.8, 'met'],
    ['tools/call small, fresh server, against mcp-lite', 0.9, 0.75, 'missed'],
    ['call through a gateway, against a Worker that makes the same call', 1.25, 1.375, 'met'],
  ]) test(`${what}: the median is ${median}, the deciding value is ${deciding}, and the verdict is "${expected}"`, () => {
    const found = goal(what).of(RESULT)
    assert.deepEqual([found.median, worse(goal(what), found), verdict(goal(what), [found])], [median, deciding, expected])
  })
})

describe('tables', () => {
  test('the table of ratios has a row for each workload and two ratios in each cell, or a dash', () => {
    assert.deepEqual(ratioTable(RESULT), [
      ['CPU against edge-mcp / edge-mcp, shared', 'floor', 'mcp-lite', 'sdk 1.32', 'server 2.4', 'turbomcp-wasm 3.6'],
      ['tools/call small', '0.64 / 0.8', '0.9 / 1.2', '4 / 5', '–', '0.9 / 1.38'],
      ['tools/list 200', '0.45 / 0.9', '1 / 2', '3 / 6', '–', '–'],
    ])
  })

  test('the table of goals has a row for each goal, with the values of all runs, the bounds and the verdict', () => {
    const [head, ...rows] = goalTable([RESULT, { ...RESULT, per_tool: 0.1 }])
    const of = (what) => rows.find(([name]) => name === what).slice(1)
    assert.deepEqual([head.length, rows.length], [6, GOALS.length])
    assert.deepEqual(of('tools/call small, shared, against mcp-lite'), ['1.2 (1.16)', '1.2 (1.16)', '1.3', '1.15', 'least'])
    assert.deepEqual(of('every work, fresh server, against sdk 1.32').slice(0, 2), ['3 tools/list 200', '3 tools/list 200'])
    assert.deepEqual(of('each further registered tool, µs per tools/call'), ['0.6', '0.1', 'at most 0.2', 'at most 0.5', 'missed'])
  })

  test('the table of the client has a row for each kind of call, or only its head', () => {
    assert.deepEqual(clientTable(RESULT).map(([, cpu]) => cpu), [
      '', '400 (350–450)', '100 (100–100)', '300 (250–350)', '400 (400–400)', '800 (800–800)', '100 (100–100)', '300 (250–350)',
      '0.75 (0.625–0.875)', '3 (2.5–3.5)',
    ])
    assert.equal(clientTable({}).length, 1)
  })

  test('the table of the gateway has a row for each measurement, or only its head', () => {
    assert.deepEqual(gatewayTable(RESULT).map(([, value]) => value), [
      '', '300 (300–300)', '250 (225–275)', '1.25 (1.13–1.38)', '900 (900–900)', '95 (92.5–97.5)', '9.5 (9.25–9.75)', '250 (245–255)',
    ])
    assert.equal(gatewayTable({}).length, 1)
  })
})

test('the chart has a bar and a number for each measured subject, and the length of the bar is proportional to the number', () => {
  const svg = chart(RESULT)
  const bars = [...svg.matchAll(/<text [^>]*>([^<]*)<\/text><rect [^>]*width="(\d+)"[^>]*\/><text [^>]*>(\d+)<\/text>/g)]
    .map(([, name, width, value]) => [name, Number(width), Number(value)])
  assert.deepEqual(bars.map(([name, , value]) => [name, value]), [
    ['edge-mcp', 100], ['edge-mcp, shared', 80], ['floor', 64], ['mcp-lite', 96], ['sdk 1.32', 400], ['turbomcp-wasm 3.6', 110],
    ['edge-mcp', 300], ['edge-mcp, shared', 260], ['floor', 100], ['mcp-lite', 200],
    ['edge-mcp', 45], ['edge-mcp, shared', 48], ['floor', 30], ['mcp-lite', 60],
  ])
  const width = (index) => bars[index][1]
  assert.ok(Math.abs(width(4) - width(0) * 4) <= 2)
  assert.equal(width(12) * 2, width(13))
  assert.match(svg, /prefers-color-scheme: dark/)
})

describe('the page', () => {
  test('has a place for a result, and a new result replaces the old one', async () => {
    const page = `${await readFile(join(ROOT, 'docs/performance.md'), 'utf8')}\nThe end.\n`
    const once = withResult(page, RESULT)
    assert.ok(once.endsWith('\nThe end.\n'))
    for (const part of ['2026-01-02: Z80, 2 cores', '(performance.svg)', '| tools/call small | 0.64 / 0.8 |', '| core | 240 |', 'adds 0.6 µs']) {
      assert.ok(once.includes(part), part)
    }
    assert.ok(!/\bgoals?\b/i.test(once))
    const other = withResult(once, { ...RESULT, date: '2026-03-04' })
    assert.equal(other, once.replace('2026-01-02', '2026-03-04'))
  })
  test('without a place for a result is an error', () => {
    assert.throws(() => withResult('# A page\n', RESULT), /no place/)
    assert.throws(() => withRatios('# A page\n', RESULT), /no place/)
  })

  test('has the same ratios as the comparison in the README', async () => {
    const readme = await readFile(join(ROOT, 'README.md'), 'utf8')
    const row = /^\| CPU time of a small `tools\/call`.*$/m
    assert.match(withRatios(readme, RESULT).match(row)[0], /\| 1 \| – \| 0\.9 \| – \| 1\.2 \|$/)
    const page = await readFile(join(ROOT, 'docs/performance.md'), 'utf8')
    const measured = page.match(/^\| tools\/call small \|.*\/.*$/m)[0].split(' | ')
    const shown = readme.match(row)[0].split(' | ').slice(3).map((cell) => cell.replace(' |', ''))
    const ratio = (index, of) => Number(measured[index].split(' / ')[of])
    // The columns of the page: floor, mcp-lite, sdk 1.32, server 2.4, agents, mastra, turbomcp-wasm.
    const expected = [ratio(7, 0), ratio(4, 0), ratio(2, 1)]
    for (const [index, one] of expected.entries()) assert.ok(Math.abs(Number(shown[index]) - one) <= 0.06, `${shown}: ${expected}`)
  })
})

describe('the crate of the function name', () => {
  for (const [name, crate] of [
    ['_ZN4core3fmt5write17h0123456789abcdefE', 'core'],
    ['_RNvMs_NtCs1ab2Cd_8edge_mcp6serverNtB4_4Tool3new', 'edge_mcp'],
    ['memcpy', '(other)'],
  ]) test(`${name || '(empty)'} is ${crate}`, () => assert.equal(crateOf(name), crate))
})

test('the size of a crate is the size of its functions that are not imported', () => {
  const text = (text) => [text.length, ...Buffer.from(text)]
  const section = (id, ...bytes) => [id, bytes.length, ...bytes]
  const names = [
    [0, '_ZN6js_sys3log17hE'], [1, '_ZN4core3one17hE'], [2, '_ZN5alloc3two17hE'], [3, '_ZN4core5three17hE'], [4, '__wbindgen_describe_x'],
  ]
  const named = [names.length, ...names.flatMap(([index, name]) => [index, ...text(name)])]
  const wasm = [
    0, 0x61, 0x73, 0x6d, 1, 0, 0, 0,
    ...section(2, 2, ...text('env'), ...text('memory'), 2, 1, 1, 2, ...text('env'), ...text('log'), 0, 0),
    ...section(10, 4, 3, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0, 2, 0, 0),
    ...section(0, ...text('name'), 0, 2, ...text('m'), 1, named.length, ...named),
  ]
  assert.deepEqual(crates(Uint8Array.from(wasm)), [{ crate: 'core', bytes: 9 }, { crate: 'alloc', bytes: 7 }])
})

describe('a published schema', () => {
  const schema = {
    type: 'object', properties: { title: { type: 'string', maxLength: 5 }, n: { type: 'integer', minimum: 1 } }, required: ['title'],
  }
  const changed = (change) => {
    const copy = structuredClone(schema)
    change(copy)
    return copy
  }
  const reordered = {
    required: ['title'], properties: { n: { minimum: 1, type: 'integer' }, title: schema.properties.title }, type: 'object',
  }
  for (const [difference, published, isSame] of [
    ['in another order', reordered, true],
    ['with another bound', changed(({ properties }) => { properties.n.minimum = 2 }), false],
  ]) test(`${difference} is ${isSame ? 'the same' : 'different'}`, () => assert.equal(same(published, schema), isSame))
})

describe('the answer to', () => {
  const work = (name) => WORKS.find((work) => work.name === name)
  const result = (result) => ({ jsonrpc: '2.0', id: 1, result })
  const text = (text, more) => result({ content: [{ type: 'text', text }], ...more })
  const list = (tools) => result({ tools })
  for (const [name, answer, message, isWrong] of [
    ['tools/call small', 'the sum', text('5'), false],
    ['tools/call small', 'another sum', text('6'), true],
    ['tools/list 11', 'the eleven tools', list(ELEVEN), false],
    ['tools/list 11', 'a wrong schema', list(ELEVEN.with(3, { ...ELEVEN[3], inputSchema: ELEVEN[4].inputSchema })), true],
  ]) test(`${name} with ${answer} is ${isWrong ? 'wrong' : 'correct'}`, () =>
    assert.equal(work(name).wrong(message) !== undefined, isWrong))
})

describe('the message of an answer', () => {
  const of = (type, text) => messageOf(new Response('', { headers: { 'content-type': type } }), text)
  test('is the data of the last event', () =>
    assert.deepEqual(of('text/event-stream', 'data: {"id":0}\n\nevent: message\ndata: {"id":1}\n\n'), { id: 1 }))
  test('is undefined if the body is not JSON', () => assert.equal(of('application/json', 'oops'), undefined))
})

test('the configuration of a Worker contains its modules, its bindings and the flags of V8', () => {
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
    // Successive windows report 100, 200, 300, … requests in one second. The file `errors` has the number of failed requests.
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
  const how = { rounds: 3, seconds: 1, warmUp: 0.001, starts: 1, whole: false }
  const floor = { name: 'floor', peer: 'floor' }
  const answering = (text) => ({
    name: 'fixed',
    modules: [{ name: 'fixed.js', bytes: Buffer.from(`export default { fetch: () => new Response(${JSON.stringify(text)}) }`) }],
  })

  test('has a row for each workload and subject that supports it, and the values of the first requests', async () => {
    const other = { ...floor, name: 'other', cannot: ['initialize'] }
    const result = await run(place, [floor, other, { ...floor, name: 'third', extra: true }], WORKS, how)
    const measured = ({ name }) => ['floor', ...name === 'initialize' ? [] : ['other'], ...name === 'tools/call small' ? ['third'] : []]
    assert.deepEqual(result.rows.map(({ work, subject }) => `${work}: ${subject}`),
      WORKS.flatMap((work) => measured(work).map((subject) => `${work.name}: ${subject}`)))
    // Three windows are warm-up. The first subject has windows 4, 9 and 11, because the subjects take turns at being first.
    assert.deepEqual(result.rows.slice(0, 3).map(({ rps }) => rps), [900, 700, 800])
    for (const { cpu_us: cpu, p50_us: p50, p99_us: p99 } of result.rows) {
      assert.deepEqual([cpu.length, cpu.every((micros) => micros >= 0), p50, p99], [3, true, 7, 9])
    }
    // A row takes one window of warm-up and three measured windows. `floor` has a row for each workload, `other` for all but one, and the
    // extra for one. In addition, three new processes get two loads each.
    assert.equal(await windows(), WORKS.length * 2 * 4 + 3 * 2)
    assert.deepEqual([result.sizes, result.starts].map((part) => Object.keys(part)), [['floor', 'other'], ['floor', 'other']])
    for (const name of ['floor', 'other']) {
      const { start_ms: [start], first_ms: [first], first_500_us: [early], first_2000_us: [later] } = result.starts[name]
      assert.ok(start > first && first > 0 && early > later && later > 0, JSON.stringify(result.starts[name]))
      assert.ok(result.sizes[name].raw > result.sizes[name].gzip && result.sizes[name].gzip > 0)
    }
  })

  test('fails before it measures if an answer is wrong, and names the subject', async () => {
    const wrong = answering('{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"6"}]}}')
    await assert.rejects(run(place, [floor, wrong], [SMALL], how), /^Error: fixed: tools\/call small: a wrong answer: .*"6"/)
    assert.equal(await windows(), 0)
  })
})
