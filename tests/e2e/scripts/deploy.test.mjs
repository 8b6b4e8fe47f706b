// Tests of scripts/deploy.mjs. A fake wrangler records its calls and prints prepared answers.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { after, describe, test } from 'node:test'
import { appendPrivately, makePrivate } from '../../../scripts/lib/private-file.mjs'

const DEPLOY = new URL('../../../scripts/deploy.mjs', import.meta.url).pathname
const PLACEHOLDER = '00000000-0000-0000-0000-000000000000'

const CONFIG = `name = "kb"
main = "worker.js"
compatibility_date = "2026-11-01"

[secrets]
required = ["MCP_STATIC_TOKENS"]

[[d1_databases]]
binding = "DB"
database_name = "kb-data"
database_id = "${PLACEHOLDER}"
preview_database_id = "kb-data"
`

// The fake stores its state in a folder: the databases and secrets of Cloudflare in databases.json and secrets.json, and its calls in
// calls.json.
const FAKE = `#!${process.execPath}
const fs = require('node:fs')
const [, , ...args] = process.argv
const at = (name) => process.env.FAKE + '/' + name
const read = (name, otherwise) => fs.existsSync(at(name)) ? JSON.parse(fs.readFileSync(at(name), 'utf8')) : otherwise
const command = args.slice(0, 2).join(' ')
const file = args.indexOf('--secrets-file') < 0 ? undefined : fs.readFileSync(args[args.indexOf('--secrets-file') + 1], 'utf8')
fs.writeFileSync(at('calls.json'), JSON.stringify([...read('calls.json', []), { args, file, config: fs.readFileSync('wrangler.toml', 'utf8') }]))
if (process.env.FAIL === command) { console.error('the account is locked'); process.exit(1) }
if (command === 'd1 list') console.log(JSON.stringify(read('databases.json', [])))
if (command === 'd1 create') fs.writeFileSync(at('databases.json'), JSON.stringify([{ name: args[2], uuid: 'made-uuid' }]))
if (command === 'vectorize list') console.log(JSON.stringify(read('indexes.json', [])))
if (command === 'secret list') {
  if (!fs.existsSync(at('secrets.json'))) { console.error('Worker "kb" not found. [code: 10007]'); process.exit(1) }
  console.log(JSON.stringify(read('secrets.json')))
}
if (args[0] === 'deploy') fs.writeFileSync(process.env.WRANGLER_OUTPUT_FILE_PATH,
  '{"type":"wrangler-session"}\\n' + JSON.stringify({ type: 'deploy', targets: ['https://kb.example.workers.dev'] }) + '\\n')
`

const folders = []
after(() => Promise.all(folders.map((folder) => rm(folder, { recursive: true, force: true }))))

/** Runs the script in a new folder. `tokenFile` is the content and the mode of .deploy.vars. */
async function deploy({ config = CONFIG, databases, indexes, secrets, tokenFile, environment = {} }) {
  const folder = await mkdtemp(join(tmpdir(), 'deploy-'))
  folders.push(folder)
  const fake = join(folder, 'fake')
  await mkdir(fake)
  await writeFile(join(folder, 'wrangler.toml'), config)
  if (tokenFile) {
    await writeFile(join(folder, '.deploy.vars'), tokenFile.text)
    await chmod(join(folder, '.deploy.vars'), tokenFile.mode)
  }
  await writeFile(join(fake, 'wrangler'), FAKE, { mode: 0o755 })
  if (databases) await writeFile(join(fake, 'databases.json'), JSON.stringify(databases))
  if (indexes) await writeFile(join(fake, 'indexes.json'), JSON.stringify(indexes))
  if (secrets) await writeFile(join(fake, 'secrets.json'), JSON.stringify(secrets))
  const { status, output } = await new Promise((resolve) => {
    execFile(process.execPath, [DEPLOY], {
      cwd: folder,
      env: { ...process.env, PATH: `${fake}${delimiter}${process.env.PATH}`, FAKE: fake, ...environment },
    }, (error, stdout, stderr) => resolve({ status: error ? error.code : 0, output: stdout + stderr })).stdin.end()
  })
  const calls = existsSync(join(fake, 'calls.json')) ? JSON.parse(await readFile(join(fake, 'calls.json'), 'utf8')) : []
  const commands = calls.map(({ args }) => args.join(' '))
  return { status, output, calls, folder, commands, config: await readFile(join(folder, 'wrangler.toml'), 'utf8') }
}

const SECRET = { MCP_STATIC_TOKENS: '[{"token":"very-secret"}]' }

describe('the first deployment', () => {
  test('the script creates the database, migrates it, and deploys with the secrets', async () => {
    const { status, output, calls, commands, config } = await deploy({ environment: SECRET })
    assert.equal(status, 0, output)
    assert.deepEqual(commands.map((command) => command.replace(/--secrets-file .*/, '--secrets-file FILE')), [
      'd1 list --json',
      'd1 create kb-data',
      'd1 list --json',
      'd1 migrations apply DB --remote',
      'secret list --format json',
      'deploy --secrets-file FILE',
    ])
    assert.deepEqual(JSON.parse(calls.at(-1).file), SECRET)
    assert.equal(existsSync(calls.at(-1).args.at(-1)), false, 'the file with the secrets is deleted')
    assert.equal(config, CONFIG.replace(PLACEHOLDER, 'made-uuid'))
    assert.equal(calls.at(-3).config, config, 'wrangler.toml has the id before the migration')
    assert.match(output, /curl -s https:\/\/kb\.example\.workers\.dev\/mcp /)
    assert.match(output, /D1 cannot export a database with FTS5 tables as a whole/)
    assert.doesNotMatch(output, /very-secret/)
  })

  test('a secret without a value prevents the deployment', async () => {
    const { status, output, commands } = await deploy({ environment: { MCP_STATIC_TOKENS: '' } })
    assert.equal(status, 1)
    assert.match(output, /no value for the secret MCP_STATIC_TOKENS/)
    assert.ok(!commands.some((command) => command.startsWith('deploy')))
  })
})

test('a later deployment creates no database and asks for no secret that exists', async () => {
  const config = CONFIG.replace(PLACEHOLDER, 'known-uuid')
  const result = await deploy({ config, secrets: [{ name: 'MCP_STATIC_TOKENS', type: 'secret_text' }] })
  assert.equal(result.status, 0, result.output)
  assert.deepEqual(result.commands, ['d1 migrations apply DB --remote', 'secret list --format json', 'deploy'])
  assert.equal(result.config, config)
})

describe('an index of Vectorize', () => {
  const config = CONFIG.replace(PLACEHOLDER, 'known-uuid').replace('"MCP_STATIC_TOKENS"', '"MCP_STATIC_TOKENS", "KB_EMBEDDING_API_KEY"') +
    '\n[[vectorize]]\nbinding = "VECTORS"\nindex_name = "kb-vectors"\n'
  const withModel = (model) => `${config}\n[vars]\nKB_EMBEDDING_MODEL = "${model}"\n`
  const environment = { ...SECRET, KB_EMBEDDING_API_KEY: 'key-of-model' }

  for (const [what, options, dimensions] of [
    ['the default model', { config }, 1024],
    ['another model of Workers AI', { config: withModel('@cf/baai/bge-base-en-v1.5') }, 768],
    ['a model elsewhere', { config: withModel('large'), environment: { ...environment, VECTORIZE_DIMENSIONS: '1536' } }, 1536],
  ]) test(`is created before the deployment, with the dimensions of ${what}`, async () => {
    const { status, output, calls, commands } = await deploy({ environment, ...options })
    assert.equal(status, 0, output)
    assert.deepEqual(commands.slice(0, 3), [
      'vectorize list --json', `vectorize create kb-vectors --dimensions ${dimensions} --metric cosine`, 'd1 migrations apply DB --remote',
    ])
    assert.equal(JSON.parse(calls.at(-1).file).KB_EMBEDDING_API_KEY, 'key-of-model')
    assert.doesNotMatch(output, /key-of-model/)
  })

  test('that exists stays as it is', async () => {
    const { status, output, commands } = await deploy({ config, environment, indexes: [{ name: 'kb-vectors' }] })
    assert.equal(status, 0, output)
    assert.ok(!commands.some((command) => command.startsWith('vectorize create')))
  })

  test('whose dimensions are unknown prevents the deployment', async () => {
    const { status, output, commands } = await deploy({ config: withModel('large'), environment })
    assert.equal(status, 1)
    assert.match(output, /set VECTORIZE_DIMENSIONS to the number of dimensions of the vectors of large: the index kb-vectors needs it/)
    assert.deepEqual(commands, ['vectorize list --json'])
  })

  test('needs the key of the model, if it is a required secret', async () => {
    const { status, output } = await deploy({ config, environment: SECRET, indexes: [{ name: 'kb-vectors' }] })
    assert.equal(status, 1)
    assert.match(output, /no value for the secret KB_EMBEDDING_API_KEY/)
  })
})

for (const command of ['d1 migrations']) {
  test(`if \`wrangler ${command}\` fails, the deployment fails with wrangler's message`, async () => {
    const { status, output, commands } = await deploy({ environment: { ...SECRET, FAIL: command } })
    assert.equal(status, 1)
    assert.match(output, /the account is locked/)
    assert.match(output, new RegExp(`deploy: wrangler ${command}.* failed`))
    assert.ok(commands.at(-1).startsWith(command))
  })
}

describe('the file that stores a created token', () => {
  const modeOf = async (file) => (await stat(file)).mode & 0o777
  const newPath = async () => {
    const folder = await mkdtemp(join(tmpdir(), 'token-file-'))
    folders.push(folder)
    return join(folder, '.deploy.vars')
  }

  test('a deployment removes the access of other users, and prints a warning', async () => {
    const tokenFile = { text: "MCP_STATIC_TOKENS='very-secret'\n", mode: 0o644 }
    const { status, output, folder } = await deploy({ tokenFile, environment: SECRET })
    assert.equal(status, 0, output)
    assert.match(output, /other users had access to \.deploy\.vars; its mode is 600 now/)
    assert.equal(await modeOf(join(folder, '.deploy.vars')), 0o600)
    assert.equal(await readFile(join(folder, '.deploy.vars'), 'utf8'), tokenFile.text)
  })

  for (const [mode, result] of [[0o666, 0o600], [0o400, 0o400]]) {
    test(`mode ${mode.toString(8)} becomes ${result.toString(8)}`, async () => {
      const file = await newPath()
      await writeFile(file, 'text')
      await chmod(file, mode)
      assert.equal(makePrivate(file), mode !== result)
      assert.equal(await modeOf(file), result)
      assert.equal(await readFile(file, 'utf8'), 'text')
    })
  }

  test('a new file has mode 600 with any umask', async () => {
    const file = await newPath()
    const before = process.umask(0)
    try {
      appendPrivately(file, 'one\n')
    } finally {
      process.umask(before)
    }
    assert.equal(await modeOf(file), 0o600)
    await chmod(file, 0o666)
    appendPrivately(file, 'two\n')
    assert.equal(await modeOf(file), 0o600)
    assert.equal(await readFile(file, 'utf8'), 'one\ntwo\n')
  })

  test('a missing file is not created', async () => {
    const file = await newPath()
    assert.equal(makePrivate(file), false)
    assert.equal(existsSync(file), false)
  })
})
