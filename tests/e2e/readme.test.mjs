// Tests the README: each command prints the output that the README shows, and the code is the code of examples/weather. With
// UPDATE_PICTURES=1, the test writes the picture of the landing page.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'

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
    await rm(join(folder, 'docs/SUMMARY.md'))
    await run(join(ROOT, 'scripts/load'), [folder, '--url', worker.url], { env: { ...process.env, MCP_TOKEN: worker.token } })
    const commands = blocks('console').flatMap((block) => block.split(/^\$ /m).filter(Boolean))
    assert.ok(commands.length >= 5)
    for (const text of commands) {
      const [command, ...output] = text.trimEnd().split('\n')
      const { stdout } = await run('bash', ['-c', command.replaceAll('http://127.0.0.1:8787', worker.origin)],
        { env: { ...process.env, TOKEN: worker.token } })
      assert.equal(stdout, output.join('\n'), command)
    }
    if (process.env.UPDATE_PICTURES) await takePicture(worker)
  } finally {
    await worker.stop()
    await rm(folder, { recursive: true })
  }
})

async function takePicture({ origin, token }) {
  const browser = await chromium.launch({ executablePath: (await readFile(join(ROOT, '.tools/browser'), 'utf8')).trim() })
  try {
    const page = await browser.newPage({ viewport: { width: 760, height: 470 } })
    await page.goto(origin)
    await page.getByLabel('Token', { exact: true }).fill(token)
    await page.getByRole('button', { name: 'Use token' }).click()
    await page.getByLabel('Search', { exact: true }).fill('Can a tool call survive a restart of the server?')
    await page.keyboard.press('Enter')
    await page.locator('.search > .result > .title:focus').waitFor()
    await page.getByRole('heading', { level: 2, name: /^Tools/ }).evaluate((heading) => { scrollBy(0, heading.getBoundingClientRect().top - 24) })
    await page.screenshot({ path: join(ROOT, 'docs/landing.png') })
  } finally {
    await browser.close()
  }
}

test('the server in the README is examples/weather', async () => {
  const [code] = blocks('rust')
  assert.equal(code, await readFile(join(ROOT, 'examples/weather/src/lib.rs'), 'utf8'))
  assert.ok(code.trimEnd().split('\n').length <= 30)
})
