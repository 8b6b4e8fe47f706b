// scripts/load starts this module and documents it.

import { readFile, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { firstToken } from './lib/dev-vars.mjs'
import { collisions, markdownFiles, slugOf, titleOf } from './lib/documents.mjs'
import { callTool, isConfidential, withRetries } from './lib/mcp.mjs'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')

const { folder, url } = readArguments()
const documents = await collect(folder)
const token = await findToken()

const failures = []
for (const [index, { path, slug }] of documents.entries()) {
  const problem = slug ? await save(path, slug) : 'its path has no slug, because the path does not contain a-z or 0-9: rename it'
  if (problem) failures.push(path)
  console.error(`[${index + 1}/${documents.length}] ${path}${problem ? `: NOT LOADED: ${problem}` : ` -> ${slug}`}`)
}
console.error(`${documents.length - failures.length} loaded, ${failures.length} not loaded`)
process.exitCode = failures.length > 0 ? 1 : 0

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        url: { type: 'string', default: 'http://127.0.0.1:8787/mcp' },
        'allow-clear-text': { type: 'boolean', default: false },
      },
    })
    if (positionals.length !== 1) throw new Error('pass one folder: scripts/load DIR [--url URL]')
    if (!URL.canParse(values.url)) throw new Error(`--url must be a URL (got ${values.url})`)
    if (!values['allow-clear-text'] && !isConfidential(new URL(values.url))) {
      throw new Error(`--url ${values.url} would send the token in clear text: use https, or add --allow-clear-text`)
    }
    return { folder: positionals[0], url: values.url }
  } catch (error) {
    fail(error.message)
  }
}

async function collect(folder) {
  if (!(await stat(folder).catch(() => undefined))?.isDirectory()) fail(`${folder} is not a folder`)
  const documents = (await markdownFiles(folder)).map((path) => ({ path, slug: slugOf(path) }))
  if (documents.length === 0) fail(`there is no .md file in ${folder}`)
  const same = collisions(documents.filter(({ slug }) => slug))
  for (const [slug, paths] of same) console.error(`load: several files have the slug ${slug}: ${paths.join(', ')}`)
  if (same.length > 0) fail('nothing was sent: rename the files above')
  return documents
}

async function findToken() {
  if (process.env.MCP_TOKEN) return process.env.MCP_TOKEN
  const text = await readFile(join(ROOT, '.dev.vars'), 'utf8').catch(() => '')
  try {
    return firstToken(text) ?? fail('there is no token: set MCP_TOKEN, or run scripts/dev, which writes one to .dev.vars')
  } catch (error) {
    fail(error.message)
  }
}

/** Sends one file. Returns the problem if the file was not saved. */
async function save(path, slug) {
  let text
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(await readFile(join(folder, path)))
  } catch (error) {
    return error.code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'it is not UTF-8' : error.message
  }
  try {
    const call = { url, token, name: 'save-document', arguments: { slug, title: titleOf(text, path), text } }
    await withRetries(() => callTool(call), { say: (message) => console.error(`${path}: ${message}`) })
  } catch (error) {
    return error.message
  }
}

function fail(message) {
  console.error(`load: ${message}`)
  process.exit(1)
}
