// Tests of template/install.sh, and of the scripts that call it: build.sh of a server, and scripts/setup. Fake programs replace cargo, the
// compiler and the clock.

import assert from 'node:assert/strict'
import { execFile, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readFile, readdir, readlink, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, test } from 'node:test'

const ROOT = new URL('../../../', import.meta.url).pathname.replace(/\/$/, '')
const INSTALL = join(ROOT, 'template/install.sh')

// Each fake writes its arguments to a line of `calls`. $CARGO and $BINSTALL say what they do.
const FAKES = {
  cargo: `
[[ $1 == install ]] || exec "cargo-$1" "$@"
echo "$*" >>"$FOLDER/calls"
for ((i = 1; i < $#; i++)); do
  if [[ \${!i} == --root ]]; then next=$((i + 1)) root=\${!next}; fi
  if [[ \${!i} == --bin ]]; then next=$((i + 1)) program=\${!next}; fi
done
[[ \${CARGO:-} != does-nothing ]] || exit 0
for n in 1 2 3 4; do printf '    Building [==>  ] %s/4: libc\\r\\033[K   Compiling dependency%s v1.0.0\\n' "$n" "$n" >&2; done
case \${CARGO:-} in
  fails) echo 'error: linker cc not found' >&2 && exit 101 ;;
  meets) : >"$FOLDER/meeting/$$" && until [[ $(ls "$FOLDER/meeting" | wc -l) == 2 ]]; do :; done ;;
  ends-all) kill -TERM 0 ;;
esac
mkdir -p "$root/bin"
printf '#!/bin/sh\\necho compiled >>"%s/calls"\\n' "$FOLDER" >"$root/bin/$program"
chmod +x "$root/bin/$program"
`,
  'cargo-binstall': `
echo "$*" >>"$FOLDER/calls"
[[ $BINSTALL != fails ]] || exit 94
while [[ $1 != --root ]]; do shift; done
mkdir -p "$2/bin"
printf '#!/bin/sh\\necho fetched\\n[ %s != broken ]\\n' "$BINSTALL" >"$2/bin/worker-build"
chmod +x "$2/bin/worker-build"
`,
  // The clock shows 20 s more each time.
  date: 'echo . >>"$FOLDER/clock" && echo $(($(wc -l <"$FOLDER/clock") * 20))\n',
  rustc: 'echo "$FOLDER/target-libdir"\n',
  cc: '',
  'pkg-config': '',
}

let folder, tools
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'install-'))
  tools = join(folder, 'cache/edge-mcp/tools')
  for (const name of ['bin', 'meeting', 'target-libdir']) await mkdir(join(folder, name))
  for (const [name, code] of Object.entries(FAKES)) {
    if (name !== 'cargo-binstall') await fake(name, code)
  }
  await writeFile(join(folder, 'target-libdir/libcore-1.rlib'), '')
  await writeFile(join(folder, 'calls'), '')
})
afterEach(() => rm(folder, { recursive: true, force: true }))

const fake = (name, code) => writeFile(join(folder, 'bin', name), `#!/usr/bin/env bash\n${code}`, { mode: 0o755 })
const calls = async () => (await readFile(join(folder, 'calls'), 'utf8')).split('\n').filter(Boolean)
const environment = (variables = {}) =>
  ({ PATH: `${folder}/bin:/usr/bin:/bin`, XDG_CACHE_HOME: join(folder, 'cache'), FOLDER: folder, ...variables })

const runs = (file, args, variables, cwd = folder) => new Promise((resolve) => {
  execFile(file, args, { cwd, env: environment(variables) }, (error, stdout, stderr) => resolve({ status: error ? error.code : 0, stdout, stderr }))
})
const install = (variables) => runs(INSTALL, ['worker-build', 'worker-build', '1.0.0'], variables)

test('a program is compiled once for all folders, and its path is printed', async () => {
  const first = await install()
  assert.equal(first.status, 0, first.stderr)
  assert.match(first.stderr, /^worker-build 1\.0\.0: compiling, once for all servers on this machine \(.* minutes? on two cores\)$/m)
  assert.match(first.stderr, /^worker-build 1\.0\.0: installed in \d+ s$/m)
  assert.equal(first.stdout, `${tools}/worker-build-1.0.0/bin/worker-build\n`)
  const [call] = await calls()
  assert.match(call, /^install --locked --root \S+ --target-dir \S+ --bin worker-build worker-build@1\.0\.0$/)

  assert.deepEqual(await install(), { ...first, stderr: '' })
  assert.equal((await calls()).length, 1)
  // The build files and the logs are not kept.
  assert.deepEqual((await readdir(tools, { recursive: true })).sort(), ['', '/bin', '/bin/worker-build'].map((path) => `worker-build-1.0.0${path}`))
})

test('each version has its own folder', async () => {
  await install()
  const { stdout } = await runs(INSTALL, ['worker-build', 'worker-build', '1.0.1'])
  assert.equal(stdout, `${tools}/worker-build-1.0.1/bin/worker-build\n`)
  assert.equal((await calls()).length, 2)
})

test('without a terminal, the progress is a line every 30 s', async () => {
  const { stderr } = await install()
  assert.deepEqual(stderr.match(/compiling \d.*/g), ['compiling 2/4', 'compiling 4/4'])
})

test('on a terminal, the progress is one line', async () => {
  const { stdout } = await runs('script', ['--quiet', '--return', '--command', `${INSTALL} worker-build worker-build 1.0.0`, '/dev/null'])
  assert.ok(stdout.includes([1, 2, 3, 4].map((n) => `\rworker-build 1.0.0: compiling ${n}/4`).join('') + '\r\x1b[K'), JSON.stringify(stdout))
})

test('a failed compilation is an error with the messages of cargo, and leaves nothing', async () => {
  const { status, stdout, stderr } = await install({ CARGO: 'fails' })
  assert.deepEqual([status, stdout], [1, ''])
  assert.match(stderr, / {3}Compiling dependency1 v1\.0\.0\n[^]*error: linker cc not found\n.*the installation failed/)
  assert.doesNotMatch(stderr, /Building \[/)
  assert.deepEqual(await readdir(tools, { recursive: true }), ['worker-build-1.0.0', 'worker-build-1.0.0/bin'])
  assert.match((await install({ CARGO: 'does-nothing' })).stderr, /the installation failed/)
  assert.equal((await install()).status, 0)
})

test('two installations at the same time succeed', async () => {
  const both = await Promise.all([1, 2].map(() => install({ CARGO: 'meets' })))
  assert.deepEqual(both.map(({ status }) => status), [0, 0], both[0].stderr)
  assert.equal((await calls()).length, 2)
  assert.deepEqual(await readdir(tools), ['worker-build-1.0.0'])
  assert.equal((await runs(both[0].stdout.trim(), [])).status, 0)
})

test('an installation that is stopped leaves nothing', async () => {
  const child = spawn(INSTALL, ['worker-build', 'worker-build', '1.0.0'], { detached: true, env: environment({ CARGO: 'ends-all' }) })
  assert.deepEqual(await new Promise((resolve) => child.once('close', (...ending) => resolve(ending))), [143, null])
  assert.deepEqual(await readdir(tools, { recursive: true }), ['worker-build-1.0.0', 'worker-build-1.0.0/bin'])
})

test('cargo binstall fetches a prebuilt program', async () => {
  await fake('cargo-binstall', FAKES['cargo-binstall'])
  const { status, stdout } = await install({ BINSTALL: 'works' })
  assert.equal(status, 0)
  const [call, ...others] = await calls()
  assert.match(call, /^binstall --no-confirm --locked --disable-strategies compile,quick-install --root \S+ worker-build@1\.0\.0$/)
  assert.deepEqual(others, [])
  assert.match((await runs(stdout.trim(), [])).stdout, /^fetched$/m)
})

for (const [outcome, reason] of [['fails', 'finds no prebuilt program'], ['broken', 'fetches a program that does not run']]) {
  test(`if cargo binstall ${reason}, the program is compiled`, async () => {
    await fake('cargo-binstall', FAKES['cargo-binstall'])
    const { status, stdout } = await install({ BINSTALL: outcome })
    assert.equal(status, 0)
    assert.deepEqual((await calls()).map((call) => call.split(' ')[0]), ['binstall', 'install'])
    await runs(stdout.trim(), [])
    assert.equal((await calls()).at(-1), 'compiled')
  })
}

test('the build of a server installs its tools, and the build of the next server uses them', async () => {
  for (const name of ['one', 'two']) {
    await mkdir(join(folder, name))
    for (const file of ['build.sh', 'install.sh']) await cp(join(ROOT, 'template', file), join(folder, name, file))
  }
  const build = (name, variables) => runs('./build.sh', ['--dev'], variables, join(folder, name))
  const { status, stderr } = await build('one')
  assert.equal(status, 0, stderr)
  const [workerBuild, wasmBindgen, ran] = await calls()
  assert.match(workerBuild, /--bin worker-build worker-build@/)
  assert.match(wasmBindgen, /--bin wasm-bindgen wasm-bindgen-cli@/)
  assert.equal(ran, 'compiled')
  assert.deepEqual(await build('two'), { status: 0, stdout: '', stderr: '' })
  assert.deepEqual((await calls()).slice(3), ['compiled'])

  // Programs on PATH take precedence.
  for (const program of ['worker-build', 'wasm-bindgen']) await fake(program, 'echo "from PATH"\n')
  assert.deepEqual(await build('two', { XDG_CACHE_HOME: join(folder, 'empty') }), { status: 0, stdout: 'from PATH\n', stderr: '' })
})

test('scripts/setup installs the tools for all checkouts, in the versions of Cargo.lock', async () => {
  for (const name of ['one', 'two']) {
    const home = join(folder, name)
    await cp(join(ROOT, 'scripts'), join(home, 'scripts'), { recursive: true })
    for (const file of ['template/install.sh', 'Cargo.lock', 'package-lock.json']) await cp(join(ROOT, file), join(home, file))
    // npm has nothing to install.
    await mkdir(join(home, 'node_modules'))
    await cp(join(ROOT, 'package-lock.json'), join(home, 'node_modules/.made-from-lock'))
  }
  const setup = (name) => runs(join(folder, name, 'scripts/setup'), [])
  const link = (name, program) => readlink(join(folder, name, '.tools/bin', program))
  const first = await setup('one')
  assert.equal(first.status, 0, first.stderr)
  assert.match(first.stderr, /^setup: .*the first time.*minutes/m)
  const installed = await calls()
  assert.equal(installed.length, 2)

  const second = await setup('two')
  assert.equal(second.status, 0, second.stderr)
  assert.doesNotMatch(second.stderr, /first time|compiling/)
  assert.deepEqual(await calls(), installed)
  for (const program of ['worker-build', 'wasm-bindgen']) assert.equal(await link('two', program), await link('one', program))

  // After an update of Cargo.lock, the link leads to the new version.
  const lock = await readFile(join(folder, 'two/Cargo.lock'), 'utf8')
  await writeFile(join(folder, 'two/Cargo.lock'), lock.replace(/(name = "worker"\nversion = ").*"/, '$19.9.9"'))
  assert.equal((await setup('two')).status, 0)
  assert.equal(await link('two', 'worker-build'), `${tools}/worker-build-9.9.9/bin/worker-build`)
  assert.equal((await calls()).length, 3)
})
