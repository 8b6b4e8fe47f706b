// Lists the parts of scripts/test that a change can affect, and the tests in the part `core`. scripts/test --changed runs this program.
//
//   node scripts/lib/changed.mjs [BASE]    prints a line `part PART` or `test TARGET` for each. Without a line `test`, all tests are affected
//
// A change is all that differs from the commit BASE, and files that git does not track yet. The default is main, or the last commit on main.

import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** The parts that a change of a file can affect. The first row whose pattern matches the path counts. */
const PARTS = [
  [/^src\/.*\.(rs|js|html|css|sql|json)$/, ['format', 'lint', 'docs', 'core', 'app', 'package', 'build', 'deploy', 'e2e', 'conformance']],
  [/^crates\//, ['format', 'lint', 'docs', 'core', 'app', 'package', 'build', 'deploy', 'e2e', 'conformance']],
  [/^app\//, ['format', 'lint', 'app', 'build', 'deploy', 'e2e']],
  [/^examples\/node\//, ['scripts', 'e2e']],
  [/^examples\//, ['format', 'lint', 'app', 'build', 'e2e', 'conformance']],
  [/^benches\/.*\.(rs|toml)$/, ['format', 'lint']],
  [/^tests\/(faults|client-worker)\//, ['format', 'lint', 'build', 'e2e']],
  [/^tests\/schema\//, ['format', 'lint', 'core']],
  [/^tests\/conformance\//, ['format', 'lint', 'conformance']],
  [/^tests\/e2e\/scripts\//, ['scripts']],
  [/^tests\/e2e\//, ['e2e']],
  [/^tests\/rag\//, ['e2e']],
  [/^(tests\/stress\/|scripts\/stress)/, ['scripts', 'e2e', 'stress']],
  [/^(tests\/chaos\/|scripts\/chaos)/, ['scripts', 'e2e', 'chaos']],
  [/^tests\/.*\.(rs|toml|snap|json)$/, ['format', 'lint', 'core', 'app']],
  [/^docs\/performance\.md$/, ['core', 'scripts', 'build']],
  [/\.md$/, ['core', 'scripts', 'e2e']],
  [/^(template|skills)\//, ['scripts', 'e2e', 'build']],
  [/^(scripts|benches|\.ci|\.github|docs)\//, ['scripts', 'e2e']],
  [/^(migrations|wrangler\.toml)/, ['app', 'deploy', 'e2e']],
  // The manifest of the workspace, the lock files, and all others.
  [/^/, ['format', 'lint', 'docs', 'core', 'app', 'package', 'build', 'deploy', 'e2e', 'conformance', 'scripts']],
]

/** The tests of the library, and the rooms of `src/` that they call. A test without a row can call every room. */
const ROOMS = {
  auth: ['auth', 'http'],
  client: ['client', 'agents'],
  gateway: ['gateway'],
  memory: ['http'],
  rag_filter: ['rag'],
  rag_models: ['models', 'rag'],
  rag_store: ['rag', 'storage'],
  rag_tools: ['rag'],
  rag_vectors: ['rag'],
  spec: ['agents', 'http', 'registry'],
  tasks: ['tasks'],
}

/** Returns the names that the code of a file has directly after `crate::`, also in braces. */
export function namesIn(code) {
  const names = new Set()
  for (const { 0: start, index } of code.matchAll(/\bcrate::/g)) {
    let depth = 0
    // Only the first name of each path counts. A path in inner braces begins with the name before them.
    for (const [token] of code.slice(index + start.length).matchAll(/(?:::)?\w+|\S/g)) {
      if (token === '{') depth++
      else if (token === '}') depth--
      else if (/^\w/.test(token) && depth <= 1) names.add(token)
      if (depth === 0) break
    }
  }
  return names
}

/** The files that may use every room. A room uses `testing` only in its unit tests. */
const FREE = ['lib', 'testing', 'documentation']

/** Returns the rooms that each room uses. */
function imports() {
  const uses = new Map()
  for (const entry of readdirSync(join(ROOT, 'src'), { recursive: true, withFileTypes: true })) {
    if (!entry.isFile() || !entry.name.endsWith('.rs')) continue
    const file = join(entry.parentPath, entry.name)
    const room = roomOf(file.slice(ROOT.length))
    if (FREE.includes(room)) continue
    const code = readFileSync(file, 'utf8').replace(/\/\/.*$/gm, '')
    for (const name of namesIn(code)) {
      if (name !== room && !FREE.includes(name)) uses.set(room, (uses.get(room) ?? new Set()).add(name))
    }
  }
  return uses
}

const roomOf = (path) => /^src\/(\w+)/.exec(path)?.[1]

/** Returns the rooms that use one of the rooms, directly or indirectly, and the rooms themselves. */
export function affected(rooms, uses) {
  const all = new Set(rooms)
  for (const room of all) for (const [user, used] of uses) if (used.has(room)) all.add(user)
  return all
}

const partsOfFile = (file) => PARTS.find(([pattern]) => pattern.test(file))[1]

/** Returns the parts and the tests that a change of these files can affect. No tests mean all tests. */
export function partsOf(files, uses = imports()) {
  const parts = new Set(files.flatMap(partsOfFile))
  const ofTests = files.filter((file) => /^tests\/(\w+)\//.test(file)).map((file) => file.split('/')[1])
  const others = files.filter((file) => partsOfFile(file).includes('core') && !ofTests.includes(file.split('/')[1]))
  const rooms = others.map(roomOf)
  // A change outside the rooms can affect every test.
  if (rooms.includes(undefined) || FREE.some((file) => rooms.includes(file)) || ofTests.some((name) => !(name in ROOMS))) return { parts: [...parts], tests: [] }
  const reached = affected(rooms, uses)
  const tests = Object.entries(ROOMS).filter(([name, all]) => ofTests.includes(name) || all.some((room) => reached.has(room))).map(([name]) => name)
  return { parts: [...parts], tests: parts.has('core') ? tests : [] }
}

function changedFiles(base) {
  const git = (...args) => execFileSync('git', args, { cwd: ROOT, encoding: 'utf8' }).split('\n').filter(Boolean)
  const [branch] = git('rev-parse', '--abbrev-ref', 'HEAD')
  return [...git('diff', '--name-only', base ?? (branch === 'main' ? 'HEAD' : 'main')), ...git('ls-files', '--others', '--exclude-standard')]
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { parts, tests } = partsOf(changedFiles(process.argv[2]))
  for (const part of parts) console.log(`part ${part}`)
  for (const test of tests) console.log(`test ${test}`)
}
