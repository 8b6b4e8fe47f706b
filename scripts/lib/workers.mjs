// Builds all Workers of this repository for its tests. scripts/build --all runs this program.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

import { compile, link } from '../../template/scripts/build.js'
import { say } from '../../template/scripts/cargo.js'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/**
 * The profiles and the folders of Workers that one call of cargo compiles, so that they share the library with the features of all of them.
 * A module without optimization cannot say which call has overflowed its stack, and tests/faults does that.
 */
const GROUPS = [
  ['release', ['app', 'tests/faults']],
  ['release', ['examples/weather']],
  ['release', ['examples/gateway']],
  ['quick', ['examples/desk', 'examples/everything', 'examples/expenses', 'examples/signed-in', 'examples/team-notes', 'examples/tutorial', 'tests/client-worker']],
]

/** The Workers whose sizes docs/performance.md has, with their own features. In the others, wasm-opt changes nothing that a test can see. */
const MEASURED = ['app', 'examples/weather', 'examples/gateway']

/** Returns the profile with which the tests use the Worker of a folder of this repository. */
export const profileOf = (folder) => GROUPS.find(([, folders]) => folders.includes(folder))?.[0] ?? 'quick'

/**
 * Returns the profile of cargo for a profile of the tests. cargo keeps procedural macros and build scripts once for each profile. If scripts/test
 * compiles `dev` without debug information, `dev` is the same as `quick`, and `lint` has compiled these programs.
 */
export const cargoProfile = (profile) => (profile === 'quick' && process.env.CARGO_PROFILE_DEV_DEBUG === '0' ? 'dev' : profile)

const nameOf = (folder) => /^name = "(.*)"$/m.exec(readFileSync(join(ROOT, folder, 'Cargo.toml'), 'utf8'))[1]

async function build() {
  const links = []
  for (const [profile, folders] of GROUPS) {
    const modules = await compile(cargoProfile(profile), folders.flatMap((folder) => ['-p', nameOf(folder)]))
    for (const folder of folders) {
      const module = modules.find((file) => file.endsWith(`/${nameOf(folder).replaceAll('-', '_')}.wasm`))
      const linked = MEASURED.includes(folder) ? profile : 'quick'
      // cargo compiles the next group meanwhile.
      links.push(link(module, join(ROOT, folder, 'build'), linked).then((isNew) => isNew && say(`${folder}: built`)))
    }
  }
  await Promise.all(links)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await build().catch((error) => {
    say(`build: ${error.message}`)
    process.exitCode = 1
  })
}
