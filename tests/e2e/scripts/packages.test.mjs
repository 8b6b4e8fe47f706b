// Tests of the metadata of the packages that a release publishes on crates.io.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'

const ROOT = new URL('../../../', import.meta.url).pathname.replace(/\/$/, '')
const { packages } = JSON.parse(execFileSync('cargo', ['metadata', '--no-deps', '--format-version', '1', '--offline'],
  { cwd: ROOT, encoding: 'utf8', maxBuffer: 1 << 26, stdio: ['ignore', 'pipe', 'inherit'] }))
// `publish = false` is an empty list of registries.
const published = packages.filter(({ publish }) => publish === null)

test('only the library and its engines are published', () => {
  assert.deepEqual(published.map(({ name }) => name).sort(), ['edge-json', 'edge-json-schema', 'edge-mcp', 'edge-uri-template'])
})

for (const { name, version, description, license, repository, readme, keywords, categories, rust_version, dependencies, manifest_path } of published) {
  test(`${name} has the metadata that crates.io shows`, () => {
    for (const [field, value] of Object.entries({ description, license, repository, readme, rust_version })) assert.ok(value, field)
    // The limits of crates.io.
    assert.ok(keywords.length > 0 && keywords.length <= 5, keywords.join())
    for (const keyword of keywords) assert.match(keyword, /^[a-z0-9][a-z0-9_+-]{0,19}$/)
    assert.ok(categories.length > 0 && categories.length <= 5, categories.join())
    for (const file of [readme, 'LICENSE-MIT', 'LICENSE-APACHE']) assert.ok(existsSync(join(dirname(manifest_path), file)), file)
  })

  test(`${name} depends on packages of the same version`, () => {
    const [shown] = published.filter((one) => one.name === 'edge-mcp')
    assert.equal(version, shown.version)
    // cargo leaves out a dependency for tests that has a path and no version.
    for (const { name, req, path, kind } of dependencies.filter(({ path }) => path)) {
      assert.equal(req, kind === 'dev' ? '*' : `^${version}`, `${name} in ${path}`)
    }
  })
}

// Only a native target has the storage of native tests.
test('docs.rs documents every feature for its native target', () => {
  const { metadata } = published.find(({ name }) => name === 'edge-mcp')
  assert.deepEqual(metadata.docs.rs, { 'all-features': true })
})
