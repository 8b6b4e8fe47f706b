// Tests of the scripts of template/, and of scripts/setup, which uses them. Fake programs replace cargo, npm, wrangler and the compiler.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, test } from 'node:test'

const ROOT = new URL('../../../', import.meta.url).pathname.replace(/\/$/, '')
const VERSION = /"=(.*)"/.exec(await readFile(join(ROOT, 'template/scripts/bindgen/Cargo.toml'), 'utf8'))[1]

// Each fake writes its arguments to a line of `calls`. $CARGO says what cargo does, and $BINDGEN is the version of wasm-bindgen in Cargo.lock.
const FAKES = {
  cargo: `
echo "cargo $*" >>"$FOLDER/calls"
for ((i = 1; i < $#; i++)); do
  if [[ \${!i} == --target-dir ]]; then next=$((i + 1)) target=\${!next}; fi
done
printf '   Compiling dependency v1.0.0\\n    Building [==>  ] 1/4: libc\\r' >&2
case \${CARGO:-} in
  fails) echo 'error: linker cc not found' >&2 && exit 101 ;;
  has-no-target) echo "error[E0463]: can't find crate for \\\`core\\\`" >&2 && exit 101 ;;
  meets) : >"$FOLDER/meeting/$$" && until [[ $(ls "$FOLDER/meeting" | wc -l) == 2 ]]; do :; done ;;
esac
if [[ \${target:-} ]]; then
  mkdir -p "$target/release"
  printf '#!/bin/sh\\necho "bindgen $*" >>"%s/calls"\\n' "$FOLDER" >"$target/release/bindgen"
  chmod +x "$target/release/bindgen"
else
  printf '{"reason":"compiler-artifact","package_id":"registry+index#wasm-bindgen@%s","filenames":["libwasm_bindgen.rlib"]}\\n' "\${BINDGEN:-${VERSION}}"
  printf '{"reason":"compiler-artifact","package_id":"path+file:///server#0.1.0","filenames":["server.%s"]}\\n' "\${KIND:-wasm}"
fi
`,
  npm: 'echo "npm $*" >>"$FOLDER/calls"\nmkdir -p node_modules/.bin\ncp "$FOLDER/bin/wrangler" node_modules/.bin\n',
  wrangler: 'echo "wrangler $*" >>"$FOLDER/calls"\n[[ ${WRANGLER:-} != fails ]] || { echo "no such table" && exit 1; }\n',
  rustc: 'echo "$FOLDER/target-libdir"\n',
  cc: '',
}

let folder, tools
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'template-'))
  tools = join(folder, 'cache/edge-mcp/tools')
  for (const name of ['bin', 'meeting', 'target-libdir']) await mkdir(join(folder, name))
  for (const [name, code] of Object.entries(FAKES)) {
    await writeFile(join(folder, 'bin', name), `#!/usr/bin/env bash\n${code}`, { mode: 0o755 })
  }
  await writeFile(join(folder, 'target-libdir/libcore-1.rlib'), '')
  await writeFile(join(folder, 'calls'), '')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const calls = async () => (await readFile(join(folder, 'calls'), 'utf8')).split('\n').filter(Boolean)
const programs = async () => (await calls()).map((call) => call.split(' ').slice(0, 2).join(' ')).sort()

/** Creates a server as scripts/new does, without npm packages. */
async function server(name) {
  await cp(join(ROOT, 'template'), join(folder, name), {
    recursive: true, filter: (file) => !/\/(build|node_modules|target|\.dev\.vars|\.wrangler)$/.test(file),
  })
}

/** Runs a script with the fakes. `PATH` has this Node.js, and neither the real cargo nor the real npm. */
const runs = (cwd, file, variables = {}) => new Promise((resolve) => {
  const env = { PATH: `${folder}/bin:/usr/bin:/bin`, HOME: folder, XDG_CACHE_HOME: join(folder, 'cache'), FOLDER: folder, ...variables }
  const [program, args] = file.endsWith('.js') ? [process.execPath, [file]] : [file, []]
  execFile(program, args, { cwd: join(folder, cwd), env }, (error, stdout, stderr) => resolve({ status: error ? error.code : 0, stdout, stderr }))
})

describe('bindgen/install.js', () => {
  test('compiles the program once for all servers, and prints its path', async () => {
    await server('one')
    await server('two')
    const first = await runs('one', 'scripts/bindgen/install.js')
    assert.equal(first.status, 0, first.stderr)
    assert.match(first.stderr, new RegExp(`^bindgen ${VERSION}: compiled for all servers on this machine, in \\d+ s\n$`))
    assert.match(first.stdout, new RegExp(`^${tools}/bindgen-${VERSION}-[0-9a-f]{8}/bindgen\n$`))
    assert.deepEqual(await runs('two', 'scripts/bindgen/install.js'), { ...first, stderr: '' })
    const [call, ...others] = await calls()
    assert.match(call, /^cargo build .*--release --locked --manifest-path \S+ --target-dir \S+$/)
    assert.deepEqual(others, [])
    // The build files are not kept.
    assert.deepEqual((await readdir(tools, { recursive: true })).map((path) => path.split('/')[1]), [undefined, 'bindgen'])
  })

  test('compiles another program if a file changes', async () => {
    await server('one')
    const { stdout: before } = await runs('one', 'scripts/bindgen/install.js')
    await writeFile(join(folder, 'one/scripts/bindgen/main.rs'), 'fn main() {}')
    const { stdout: after } = await runs('one', 'scripts/bindgen/install.js')
    assert.notEqual(after, before)
    assert.equal((await calls()).length, 2)
  })

  test('succeeds twice at the same time', async () => {
    await server('one')
    const both = await Promise.all([1, 2].map(() => runs('one', 'scripts/bindgen/install.js', { CARGO: 'meets' })))
    assert.deepEqual(both.map(({ status }) => status), [0, 0], both[0].stderr)
    assert.equal(both[0].stdout, both[1].stdout)
  })
})

describe('build.js', () => {
  beforeEach(async () => {
    await server('one')
    assert.equal((await runs('one', 'scripts/bindgen/install.js')).status, 0)
  })
  const failure = async (variables) => {
    const { status, stderr } = await runs('one', 'scripts/build.js', variables)
    assert.equal(status, 1)
    return stderr
  }

  test('shows the messages of cargo without its progress', async () => {
    const output = await failure({ CARGO: 'fails' })
    assert.match(output, /^error: linker cc not found$/m)
    assert.match(output, /^build: cargo could not compile the server$/m)
    assert.doesNotMatch(output, /Building|Compiling/)
  })

  test('names the command that adds the missing target', async () => {
    assert.match(await failure({ CARGO: 'has-no-target' }), /run `rustup target add wasm32-unknown-unknown`$/m)
  })

  test('names the command that selects the version of wasm-bindgen', async () => {
    const output = await failure({ BINDGEN: '0.2.1' })
    assert.match(output, new RegExp(`^build: Cargo\\.lock has wasm-bindgen 0\\.2\\.1, but scripts/bindgen/Cargo\\.toml has ${VERSION.replaceAll('.', '\\.')}: ` +
      `run \`cargo update wasm-bindgen --precise ${VERSION}\``, 'm'))
  })

  test('names the line that makes the crate a wasm module', async () => {
    assert.match(await failure({ KIND: 'rlib' }), /crate-type = \["cdylib"\]/)
  })

  test('says how to get cargo, if it is neither on PATH nor where rustup installs it', async () => {
    await rm(join(folder, 'bin/cargo'))
    assert.match(await failure(), /^build: cargo is missing: install Rust \(https:\/\/rustup\.rs\)$/m)
    await mkdir(join(folder, '.cargo/bin'), { recursive: true })
    await writeFile(join(folder, '.cargo/bin/cargo'), `#!/usr/bin/env bash\n${FAKES.cargo}`, { mode: 0o755 })
    assert.match(await failure({ CARGO: 'fails' }), /linker cc not found/)
  })

  for (const [profile, variables] of [['quick', { WRANGLER_COMMAND: 'dev' }], ['release', { WRANGLER_COMMAND: 'deploy' }], ['release', {}]]) {
    test(`makes a ${profile} build for ${JSON.stringify(variables)}`, async () => {
      await runs('one', 'scripts/build.js', { ...variables, CARGO: 'fails' })
      assert.ok((await calls()).some((call) => call.endsWith(`--target wasm32-unknown-unknown --profile ${profile}`)))
    })
  }

  // Otherwise wrangler would end at the first build, and let requests wait after a later one.
  test('writes a Worker that answers with the errors, if wrangler dev asks for a build that fails', async () => {
    await writeFile(join(folder, 'one/wrangler.toml'), '[[durable_objects.bindings]]\nname = "MCP_TASKS"\nclass_name = "McpTask"\n')
    const { status, stderr } = await runs('one', 'scripts/build.js', { WRANGLER_COMMAND: 'dev', CARGO: 'fails' })
    assert.equal(status, 0)
    assert.match(stderr, /^build: cargo could not compile the server$/m)
    const { default: worker, McpTask } = await import(join(folder, 'one/build/index.js'))
    assert.equal(typeof McpTask, 'function')
    const response = worker.fetch()
    assert.equal(response.status, 503)
    assert.match((await response.json()).error.message, /^The build failed: .*\nerror: linker cc not found\n$/)
  })
})

describe('setup.js', () => {
  beforeEach(() => server('one'))

  test('installs, compiles and migrates, and repeats only what has changed', async () => {
    const first = await runs('one', 'scripts/setup.js')
    assert.equal(first.status, 0, first.stderr)
    assert.deepEqual(await programs(), ['cargo build', 'cargo build', 'npm ci', 'wrangler d1'])
    assert.match(await readFile(join(folder, 'one/.dev.vars'), 'utf8'), /^MCP_STATE_KEY='[\w-]{43}'$/m)

    assert.equal((await runs('one', 'scripts/setup.js')).status, 0)
    assert.deepEqual(await programs(), ['cargo build', 'cargo build', 'cargo build', 'npm ci', 'wrangler d1'])

    await writeFile(join(folder, 'one/migrations/0002_more.sql'), 'SELECT 1;')
    assert.equal((await runs('one', 'scripts/setup.js')).status, 0)
    assert.equal((await programs()).filter((program) => program === 'wrangler d1').length, 2)
  })

  test('migrates nothing in a server without migrations', async () => {
    await rm(join(folder, 'one/migrations'), { recursive: true })
    assert.equal((await runs('one', 'scripts/setup.js')).status, 0)
    assert.deepEqual(await programs(), ['cargo build', 'cargo build', 'npm ci'])
  })

  test('shows the output of a program that fails, and runs it again at the next start', async () => {
    const { status, stderr } = await runs('one', 'scripts/setup.js', { WRANGLER: 'fails' })
    assert.equal(status, 1)
    assert.match(stderr, /^setup: no such table\n.*wrangler d1 migrations apply DB --local` failed$/m)
    assert.equal((await runs('one', 'scripts/setup.js')).status, 0)
    assert.equal((await programs()).filter((program) => program === 'wrangler d1').length, 2)
  })
})

test('scripts/setup compiles the program once for all checkouts', async () => {
  for (const name of ['one', 'two']) {
    const home = join(folder, name)
    await cp(join(ROOT, 'scripts'), join(home, 'scripts'), { recursive: true })
    await server(join(name, 'template'))
    await cp(join(ROOT, 'package-lock.json'), join(home, 'package-lock.json'))
    // npm has nothing to install.
    await mkdir(join(home, 'node_modules'))
    await cp(join(ROOT, 'package-lock.json'), join(home, 'node_modules/.made-from-lock'))
    const { status, stderr } = await runs(name, 'scripts/setup')
    assert.equal(status, 0, stderr)
  }
  assert.deepEqual(await programs(), ['cargo build'])
})
