// Tests of files in the repository: the licenses, the checksums of the npm tools, the versions of the template, and the migrations that are
// copies.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

const ROOT = new URL('../../../', import.meta.url)
const LICENSE = 'MIT OR Apache-2.0'

const read = (path) => readFileSync(new URL(path, ROOT), 'utf8')
const files = execFileSync('git', ['ls-files', '-z'], { cwd: ROOT, encoding: 'utf8' }).split('\0')
/** The template has a separate license, which is for its copies. */
const isOurs = (file) => !file.startsWith('template/')
const named = (name) => files.filter((file) => file === name || file.endsWith(`/${name}`))

// npm recorded no checksum for these packages, because the registry did not list them when the lock file was created. When
// `npm view NAME@VERSION dist.integrity` prints a value, add it to the lock file and remove the entry from this list.
const WITHOUT_INTEGRITY = [
  'node_modules/@cloudflare/workerd-darwin-64@1.20261117.1',
  'node_modules/@cloudflare/workerd-darwin-arm64@1.20261117.1',
  'node_modules/@cloudflare/workerd-windows-64@1.20261117.1',
]

test('every package in a lock file has a checksum', () => {
  const locks = named('package-lock.json')
  assert.ok(locks.includes('package-lock.json'))
  const missing = locks.flatMap((lock) => Object.entries(JSON.parse(read(lock)).packages)
    .filter(([path, { integrity, link }]) => path && !link && !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity))
    .map(([path, { version }]) => `${path}@${version}`))
  assert.deepEqual([...new Set(missing)], WITHOUT_INTEGRITY)
})

test('the repository contains the licenses that its packages name', () => {
  assert.match(read('LICENSE-MIT'), /^MIT License\n\nCopyright \(c\) /)
  const apache = read('LICENSE-APACHE')
  assert.match(apache, /Apache License\s+Version 2\.0, January 2004/)
  assert.match(apache, /END OF TERMS AND CONDITIONS/)
})

test('every package has these licenses', () => {
  const workspace = read('Cargo.toml')
  assert.ok(workspace.includes(`[workspace.package]`) && workspace.includes(`\nlicense = "${LICENSE}"\n`))
  for (const file of named('Cargo.toml').filter(isOurs)) {
    assert.match(read(file), /^license(\.workspace = true| = "MIT OR Apache-2\.0")$/m, file)
  }
  for (const file of named('package.json').filter(isOurs)) assert.equal(JSON.parse(read(file)).license, LICENSE, file)
})

test('the template has one license in one file', () => {
  assert.match(read('template/LICENSE'), /^MIT License\n\nCopyright \(c\) /)
  assert.match(read('template/Cargo.toml'), /^license = "MIT"$/m)
  assert.equal(JSON.parse(read('template/package.json')).license, 'MIT')
})

test('the template uses the versions of this repository', () => {
  const packages = (file) =>
    [...read(file).matchAll(/^name = "(.*)"\nversion = "(.*)"$/gm)].map(([, name, version]) => `${name}@${version}`)
  const [ours, ofTemplate] = ['Cargo.lock', 'template/Cargo.lock'].map(packages)
  assert.deepEqual(ofTemplate.filter((one) => !ours.includes(one) && !one.startsWith('desk-bookings@')), [])
  const [, version] = /^wasm-bindgen-cli-support = "=(.*)"$/m.exec(read('template/scripts/bindgen/Cargo.toml'))
  assert.ok(ofTemplate.includes(`wasm-bindgen@${version}`), version)

  const [repository, template] = ['package.json', 'template/package.json'].map((file) => JSON.parse(read(file)))
  for (const [name, version] of Object.entries(template.devDependencies)) assert.equal(version, repository.devDependencies[name], name)
})

// wrangler reads the migrations of a server from one folder, so each server has a copy.
test('the migration of the passages is the same in each server', () => {
  const [source, ...copies] = ['src/rag/sqlite/migrations/0001_passages.sql', ...named('0002_passages.sql')]
  assert.ok(copies.includes('examples/team-notes/migrations/0002_passages.sql'), copies)
  for (const copy of copies) assert.equal(read(copy), read(source), copy)
})
