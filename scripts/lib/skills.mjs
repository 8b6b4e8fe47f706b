// Skills of a folder: entries for skills/list, with a digest of each file.

import { createHash } from 'node:crypto'
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { readFrontmatter } from './frontmatter.mjs'
import { readRegularFile } from './regular-file.mjs'

/** The limits of one skill, which hosts have too. */
export const MOST_FILES = 512
export const MOST_BYTES = 16 * 2 ** 20
const MOST_URI_BYTES = 2048
/** The limits of a folder with skills. */
const MOST_IN_FOLDER = 20_000
const DEEPEST = 32

/** The media types of extensions. */
export const TYPES = {
  css: 'text/css', csv: 'text/csv', gif: 'image/gif', html: 'text/html', jpeg: 'image/jpeg', jpg: 'image/jpeg', js: 'text/javascript',
  json: 'application/json', md: 'text/markdown', mjs: 'text/javascript', pdf: 'application/pdf', png: 'image/png', py: 'text/x-python',
  rs: 'text/x-rust', sh: 'application/x-sh', svg: 'image/svg+xml', toml: 'application/toml', ts: 'text/typescript', txt: 'text/plain',
  webp: 'image/webp', xml: 'application/xml', yaml: 'application/yaml', yml: 'application/yaml',
}

/**
 * A file of a skill: its URI, its path in the folder, its media type and its bytes.
 *
 * @typedef {{ uri: string, path: string, mimeType: string, bytes: Buffer, digest: string }} File
 * @typedef {{ root: string, entry: { uri: string, frontmatter: object, resources: object[] }, files: File[] }} Skill
 */

/**
 * Reads the skills of a folder. `files` of a skill are those of its folder, without the files of skills inside it. Its entry has both.
 *
 * @param {string} folder
 * @param {{ prefix?: string, mostFileBytes?: number }} options `prefix` is the first part of the URIs, such as `team`
 * @returns {Promise<{ skills: Skill[], problems: string[], warnings: string[] }>}
 */
export async function readSkills(folder, { prefix = '', mostFileBytes = MOST_BYTES } = {}) {
  const problems = []
  const warnings = []
  const paths = await walk(folder, problems, warnings)
  const roots = paths.filter((path) => path.endsWith('/SKILL.md')).map((path) => path.slice(0, -'/SKILL.md'.length))
  if (paths.includes('SKILL.md')) problems.push('SKILL.md: a skill is a folder inside of this folder: move it into one')
  const innermost = (path) => roots.filter((root) => path.startsWith(`${root}/`)).sort((one, other) => other.length - one.length)[0]
  const files = []
  for (const path of paths.filter((path) => innermost(path) !== undefined)) {
    try {
      const bytes = await readRegularFile(join(folder, path), mostFileBytes)
      const digest = `sha256:${createHash('sha256').update(bytes).digest('hex')}`
      files.push({ uri: uriOf(prefix, path), path, root: innermost(path), mimeType: typeOf(path), bytes, digest })
    } catch (error) {
      problems.push(`${path}: ${error.message}`)
    }
  }
  files.sort((one, other) => (one.uri < other.uri ? -1 : 1))
  const skills = []
  for (const root of roots) {
    const inside = files.filter(({ path }) => path.startsWith(`${root}/`))
    try {
      skills.push(skillOf(prefix, root, inside, warnings))
    } catch (error) {
      problems.push(`${root}: ${error.message}`)
    }
  }
  skills.sort((one, other) => (one.entry.uri < other.entry.uri ? -1 : 1))
  warnings.push(...hiddenCharacters(files), ...similarNames(paths))
  return { skills, problems, warnings }
}

/** Returns the paths of all files. Names that begin with a dot are left out. Links and special files are problems. */
async function walk(folder, problems, warnings) {
  const paths = []
  async function enter(path, depth) {
    if (depth > DEEPEST) return problems.push(`${path}: folders are nested more than ${DEEPEST} levels deep`)
    for (const name of await readdir(join(folder, path), { encoding: 'buffer' })) {
      if (paths.length >= MOST_IN_FOLDER) throw new Error(`${folder} has more than ${MOST_IN_FOLDER} files`)
      const text = utf8(name)
      if (text === undefined) {
        problems.push(`${path}: the name of a file is not UTF-8`)
      } else if (!text.startsWith('.')) {
        await add(path ? `${path}/${text}` : text, text, depth)
      }
    }
  }
  async function add(path, name, depth) {
    if (/[\\\u0000-\u001f\u007f]/.test(name)) return problems.push(`${JSON.stringify(path)}: rename it without \\ and control characters`)
    const what = await lstat(join(folder, path))
    if (what.isDirectory()) return enter(path, depth + 1)
    if (!what.isFile()) return problems.push(`${path}: it is a link or a special file: replace it by a file`)
    if (name !== 'SKILL.md' && name.toLowerCase() === 'skill.md') warnings.push(`${path}: only SKILL.md in capitals makes a skill`)
    paths.push(path)
  }
  await enter('', 0)
  return paths.sort()
}

/** Returns the skill in the folder `root`. `files` are all files inside. */
function skillOf(prefix, root, files, warnings) {
  if (files.length > MOST_FILES) throw new Error(`it has ${files.length} files, and a skill has at most ${MOST_FILES}`)
  const bytes = files.reduce((total, file) => total + file.bytes.length, 0)
  if (bytes > MOST_BYTES) throw new Error(`its files have ${bytes} bytes, and a skill has at most 16 MiB`)
  const segments = [...(prefix ? prefix.split('/') : []), ...root.split('/')]
  const wrong = segments.find((segment) => !/^[a-z0-9]([a-z0-9._-]*[a-z0-9])?$/.test(segment))
  if (wrong !== undefined) throw new Error(`rename the folder \`${wrong}\`: use a-z, 0-9, - . _, and begin and end with a letter or digit`)
  const long = files.find(({ uri }) => uri.length > MOST_URI_BYTES)
  if (long) throw new Error(`the URI of its file ${long.path} has more than ${MOST_URI_BYTES} bytes: use shorter names`)
  const main = files.find(({ path }) => path === `${root}/SKILL.md`)
  if (!main) throw new Error('its SKILL.md cannot be read')
  const text = utf8(main.bytes)
  if (text === undefined || text.includes('\0')) throw new Error('its SKILL.md is not UTF-8 text')
  const frontmatter = readFrontmatter(text)
  checkFrontmatter(frontmatter, root.split('/').at(-1), root, warnings)
  const resources = files.map(({ uri, digest, bytes }) => ({ uri, digest, size: bytes.length }))
  return { root: uriOf(prefix, root), entry: { uri: main.uri, frontmatter, resources }, files: files.filter((file) => file.root === root) }
}

function checkFrontmatter(frontmatter, folder, root, warnings) {
  const { name, description, compatibility, metadata } = frontmatter
  if (name !== folder) throw new Error(`the \`name\` of its frontmatter must be the name of its folder, \`${folder}\``)
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name) || name.length > 64) {
    throw new Error('its name must have 1 to 64 characters of a-z and 0-9, with single hyphens between them')
  }
  checkText('description', description, 1024)
  if (compatibility !== undefined) checkText('compatibility', compatibility, 500)
  if (metadata === undefined) return
  if (typeof metadata !== 'object' || metadata === null || Array.isArray(metadata)) throw new Error('its `metadata` must have keys and values')
  for (const [key, value] of Object.entries(metadata)) {
    if (typeof value !== 'string') throw new Error(`the value of \`${key}\` in its \`metadata\` must be a text: quote it`)
    if (key.startsWith('io.modelcontextprotocol/')) warnings.push(`${root}: the key \`${key}\` of \`metadata\` is reserved for the protocol`)
  }
}

function checkText(name, text, most) {
  const length = typeof text === 'string' ? [...text].length : 0
  if (length < 1 || length > most) throw new Error(`its \`${name}\` must be a text of 1 to ${most} characters`)
}

/** Returns the URI of a path. What is not allowed in a path of a URI is percent-encoded. */
export function uriOf(prefix, path) {
  const segments = [...(prefix ? prefix.split('/') : []), ...path.split('/')]
  const keep = (escape) => decodeURIComponent(escape)
  return `skill://${segments.map((segment) => encodeURIComponent(segment).replace(/%(24|26|2B|2C|3B|3D|3A|40)/g, keep)).join('/')}`
}

const typeOf = (path) => TYPES[/\.([^./]+)$/.exec(path)?.[1].toLowerCase()] ?? 'application/octet-stream'

const utf8 = (bytes) => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

/** Characters that a person does not see, but a model reads: bidirectional controls, zero-width characters and tags. */
const HIDDEN = /[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]/u

function hiddenCharacters(files) {
  const isDeceptive = ({ bytes }) => HIDDEN.test(utf8(bytes) ?? '')
  return files.filter(isDeceptive).map(({ path }) => `${path}: it has invisible characters, which a model reads`)
}

/** Names that some systems cannot tell apart. */
function similarNames(paths) {
  const same = Map.groupBy(paths, (path) => path.normalize('NFC').toLowerCase())
  return [...same.values()].filter((paths) => paths.length > 1).map((paths) => `${paths.join(', ')}: some systems take these names for one`)
}
