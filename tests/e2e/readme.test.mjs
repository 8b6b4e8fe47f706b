// Tests the README: each command prints the output that the README shows, and the code is the code of examples/weather. Also tests the
// links of all pages.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'

import { ROOT, startWorker } from './worker.mjs'

const run = promisify(execFile)
const readme = await readFile(join(ROOT, 'README.md'), 'utf8')

// The contents of the code blocks of a language.
const blocks = (language) => [...readme.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\`$`, 'gms'))].map(([, block]) => block)

test('the commands of the README print the output that it shows, with the documents that scripts/dev loads', async () => {
  const worker = await startWorker()
  const folder = await mkdtemp(join(tmpdir(), 'edge-mcp-readme-'))
  try {
    await cp(join(ROOT, 'README.md'), join(folder, 'README.md'))
    await cp(join(ROOT, 'docs'), join(folder, 'docs'), { recursive: true })
    await run(join(ROOT, 'scripts/load'), [folder, '--url', worker.url], { env: { ...process.env, MCP_TOKEN: worker.token } })
    const commands = blocks('console').flatMap((block) => block.split(/^\$ /m).filter(Boolean))
    assert.ok(commands.length >= 5)
    for (const text of commands) {
      const [command, ...output] = text.trimEnd().split('\n')
      const { stdout } = await run('bash', ['-c', command.replaceAll('http://127.0.0.1:8787', worker.origin)],
        { env: { ...process.env, TOKEN: worker.token } })
      assert.equal(stdout, output.join('\n'), command)
    }
  } finally {
    await worker.stop()
    await rm(folder, { recursive: true })
  }
})

test('the server in the README is examples/weather', async () => {
  const [code] = blocks('rust')
  assert.equal(code, await readFile(join(ROOT, 'examples/weather/src/lib.rs'), 'utf8'))
  assert.ok(code.trimEnd().split('\n').length <= 30)
})

// The anchor that GitHub generates for a heading.
const anchorOf = (heading) => heading.toLowerCase().replace(/[^\p{L}\p{N}_ -]/gu, '').replaceAll(' ', '-')
const withoutCode = (text) => text.replace(/^```.*?^```$/gms, '').replace(/`[^`\n]*`/g, (code) => code.slice(1, -1).replace(/[[\]]/g, ''))

test('each link in the pages points to a file that exists, and to a heading in it', async () => {
  const docs = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md')).map((name) => `docs/${name}`)
  for (const page of ['README.md', 'ARCHITECTURE.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', ...docs]) {
    const text = withoutCode(await readFile(join(ROOT, page), 'utf8'))
    for (const [, link] of text.matchAll(/\]\((?!https?:)([^)]+)\)/g)) {
      const [path, anchor] = link.split('#')
      const target = path ? join(ROOT, page, '..', path) : join(ROOT, page)
      const linked = await readFile(target, 'utf8').catch((error) => assert.equal(error.code, 'EISDIR', `${page} links to ${link}`))
      if (!anchor) continue
      const headings = [...withoutCode(linked).matchAll(/^#+ (.+)$/gm)].map(([, heading]) => anchorOf(heading))
      assert.ok(headings.includes(anchor), `${page} links to ${link}`)
    }
  }
})
