// scripts/load starts this module and documents it.

import { createHash } from 'node:crypto'
import { readFile, realpath, stat } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { firstToken } from './lib/dev-vars.mjs'
import { collisions, markdownFiles, slugOf } from './lib/documents.mjs'
import { loadSkills } from './lib/load-skills.mjs'
import { readRegularFile } from './lib/regular-file.mjs'
import { callTool, isConfidential, NoAnswer, textOf, toolNames, withRetries } from './lib/mcp.mjs'
import { titleOf } from './lib/title.mjs'

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..')
/** The most documents, and the most characters of text, of one request. */
const TOGETHER = 25
const CHARACTERS = 500_000
/** The most bytes of a file: a document has at most 400 000 characters, and each has at most 4 bytes. */
const FILE_BYTES = 1_600_000
/** A smaller number of documents is always deleted. */
const FEW = 10
/** The most skipped paths that are shown. */
const SHOWN = 10

const options = readArguments()
const { folder, url } = options
if (!(await stat(folder).catch(() => undefined))?.isDirectory()) fail(`${folder} is not a folder`)
const files = options.skills ? [] : await collect(folder)
const set = options.set ?? (await defaultSet(folder))
const token = await findToken()

const say = (message) => console.error(message)
const begun = performance.now()
const counts = { done: 0, loaded: 0, unchanged: 0, failed: 0, deleted: 0 }

process.once('SIGINT', () => {
  say(options.skills ? '\ninterrupted. The skills are as before, or as in the folder. Run the same command again.'
    : `\ninterrupted after ${counts.done} of ${files.length} files. Run the same command again to load the rest.`)
  process.exit(130)
})

try {
  if (options.skills) await loadSkills({ folder, prefix: options.prefix, strict: options.strict, set, call: callForText, say })
  else await loadDocuments()
} catch (error) {
  say(`load: ${error.message}`)
  if (counts.done < files.length) {
    say(`load: stopped after ${counts.done} of ${files.length} files. Run the same command again to load the rest.`)
  }
  process.exitCode = 1
}
if (!options.skills) {
  say(`${counts.loaded} loaded, ${counts.unchanged} unchanged, ${counts.deleted} deleted, ${counts.failed} not loaded (${seconds().toFixed(1)} s)`)
}
if (counts.failed > 0) process.exitCode = 1

async function loadDocuments() {
  const stored = await listSet()
  say(`${files.length} files for the set ${set}, which has ${stored.size} documents`)
  await loadAll(stored)
  if (!options.keep) await deleteGone(stored)
  await embed()
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        set: { type: 'string' },
        url: { type: 'string', default: 'http://127.0.0.1:8787/mcp' },
        again: { type: 'boolean', default: false },
        keep: { type: 'boolean', default: false },
        'delete-many': { type: 'boolean', default: false },
        'allow-clear-text': { type: 'boolean', default: false },
        skills: { type: 'boolean', default: false },
        prefix: { type: 'string' },
        strict: { type: 'boolean' },
      },
    })
    if (positionals.length !== 1) throw new Error('pass one folder: scripts/load DIR [--url URL]')
    if (values.set !== undefined && !/^.{1,100}$/u.test(values.set)) throw new Error('--set must have 1 to 100 characters')
    if (!URL.canParse(values.url)) throw new Error(`--url must be a URL (got ${values.url})`)
    if (!values['allow-clear-text'] && !isConfidential(new URL(values.url))) {
      throw new Error(`--url ${values.url} would send the token in clear text: use https, or add --allow-clear-text`)
    }
    const others = values.skills ? ['again', 'keep', 'delete-many'] : ['prefix', 'strict']
    const other = others.find((name) => values[name])
    if (other) throw new Error(`--${other} is only for ${values.skills ? 'documents, not for --skills' : '--skills'}`)
    return { folder: positionals[0], ...values, deleteMany: values['delete-many'] }
  } catch (error) {
    fail(error.message)
  }
}

/** Returns the files to load with their slugs. `problem` of a file says why it cannot be loaded, so the document that it had stays. */
async function collect(folder) {
  const { files: paths, skipped, links } = await markdownFiles(folder).catch((error) => fail(`${folder} cannot be read: ${error.message}`))
  const linked = links.filter((path) => /\.md$/i.test(path))
  for (const path of links.filter((path) => !linked.includes(path))) console.error(`load: the folder ${path} is a link, which is not followed`)
  if (skipped.length > 0) {
    const others = skipped.length > SHOWN ? `, and ${skipped.length - SHOWN} others` : ''
    console.error(`load: skipped, because names that begin with a dot and node_modules are not loaded: ${skipped.slice(0, SHOWN).join(', ')}${others}`)
  }
  // A link to a file fails when it is read.
  const files = [...paths, ...linked].sort().map((path) => ({ path, slug: slugOf(path) }))
  if (files.length === 0) fail(`there is no .md file in ${folder}`)
  const shared = collisions(files)
  return files.map(({ path, slug }) => {
    const others = shared.get(slug)?.filter((other) => other !== path)
    return { path, slug, problem: others && `its slug ${slug} is also that of ${others.join(', ')}: rename one of them` }
  })
}

/** Returns a name that another folder does not have, because a set that two folders share would lose the documents of one of them. */
async function defaultSet(folder) {
  const path = await realpath(folder)
  const hash = createHash('sha256').update(`${hostname()}\0${path}`).digest('hex').slice(0, 8)
  return `${basename(path).slice(0, 80)}-${hash}`
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

function resultOf(name, args) {
  return withRetries(() => callTool({ url, token, name, arguments: args }), { say })
}

async function call(name, args) {
  return (await resultOf(name, args)).structuredContent
}

/** Calls a tool, and waits for its result if the call goes on as a job. */
async function callToEnd(name, args) {
  let result = await resultOf(name, args)
  for (let job; (job = result._meta?.['edge-mcp/job']) !== undefined;) {
    say(`waiting for ${name}`)
    result = await resultOf('job-result', { job })
  }
  return result.structuredContent
}

async function callForText(name, args) {
  return textOf(await resultOf(name, args))
}

/** Returns the hashes of the documents of the set, by slug. */
async function listSet() {
  const hashes = new Map()
  for (let after = ''; after !== undefined;) {
    const { documents, next } = await call('list-set', { set, after })
    for (const { slug, hash } of documents) hashes.set(slug, hash)
    after = next
  }
  return hashes
}

/** Sends the files that changed, several at a time. */
async function loadAll(stored) {
  let batch = []
  let characters = 0
  const flush = async () => {
    await save(batch)
    batch = []
    characters = 0
    say(`[${counts.done}/${files.length}] ${(counts.done / seconds()).toFixed(0)} files/s, ${counts.failed} not loaded`)
  }
  for (const { path, slug, problem } of files) {
    let document
    try {
      if (problem) throw new Error(problem)
      document = await read(path, slug)
    } catch (error) {
      finish('failed', path, error.message)
      continue
    }
    if (!options.again && stored.get(slug) === document.hash) {
      finish('unchanged', path)
      continue
    }
    if (batch.length > 0 && characters + document.text.length > CHARACTERS) await flush()
    batch.push({ path, document })
    characters += document.text.length
    if (batch.length === TOGETHER) await flush()
  }
  if (batch.length > 0) await flush()
}

async function read(path, slug) {
  const bytes = await readRegularFile(join(folder, path), FILE_BYTES)
  let text
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch {
    throw new Error('it is not UTF-8')
  }
  const title = titleOf(text, path)
  const hash = createHash('sha256').update(JSON.stringify([title, text])).digest('base64url')
  return { slug, title, text, set, hash }
}

/** Saves documents. If the server rejects them together, saves them one by one. */
async function save(batch) {
  try {
    await call('run_ingest', { documents: batch.map(({ document }) => document) })
  } catch (error) {
    if (error instanceof NoAnswer) throw error
    if (batch.length > 1) {
      for (const one of batch) await save([one])
    } else {
      finish('failed', batch[0].path, error.message)
    }
    return
  }
  for (const { path, document } of batch) finish('loaded', path, document.slug)
}

/** Counts a file, and reports it unless it is unchanged. */
function finish(result, path, detail) {
  counts.done++
  counts[result]++
  if (result === 'loaded') say(`${path} -> ${detail}`)
  if (result === 'failed') say(`${path}: NOT LOADED: ${detail}`)
}

/** Deletes the documents of the set that have no file. */
async function deleteGone(stored) {
  const slugs = new Set(files.map(({ slug }) => slug))
  const gone = [...stored.keys()].filter((slug) => !slugs.has(slug))
  if (gone.length > FEW && gone.length > stored.size / 2 && !options.deleteMany) {
    throw new Error(`${gone.length} of the ${stored.size} documents of the set ${set} have no file. ` +
      'Nothing was deleted: if this is right, run the command again with --delete-many, or else with --keep')
  }
  for (const slug of gone) {
    // If another client has saved the document meanwhile, it no longer belongs to the set.
    const { existed } = await call('delete-document', { slug, set })
    if (existed) {
      counts.deleted++
      say(`deleted ${slug}`)
    }
  }
}

/** Makes the missing vectors, if the server has an embedding model. The caller may not be allowed to see the tool. */
async function embed() {
  if (!(await withRetries(() => toolNames({ url, token }), { say })).includes('run_reindex')) return
  for (let embedded = 0, more = true; more;) {
    const answer = await callToEnd('run_reindex', {})
    embedded += answer.embedded
    if (answer.note) say(answer.note)
    more = answer.pending > 0
    if (more || embedded > 0) say(`${embedded} vectors made, ${answer.pending} pending`)
    if (more && answer.embedded === 0) throw new Error('run_reindex makes no more vectors: run the same command again later')
  }
}

function seconds() {
  return (performance.now() - begun) / 1000
}

function fail(message) {
  console.error(`load: ${message}`)
  process.exit(1)
}
