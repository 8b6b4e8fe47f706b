// Publishes a folder of skills in a knowledge base: first the files that it does not have, and then the entries of all skills.

import { readSkills, TYPES } from './skills.mjs'

/** The most bytes of a file: the database of the knowledge base limits a row. */
const FILE_BYTES = 1_500_000
/** The most files, and the most bytes of their base64, of one call of save-skill-files. */
const TOGETHER = 40
const BASE64_BYTES = 2_500_000
/** The most digests of one call of missing-skill-files. */
const DIGESTS = 1000
/** The most bytes of the entries, because a request has at most 4 MiB. */
const ENTRY_BYTES = 4_000_000
/** How often the skills are published, if another program deletes files before they are used. */
const ATTEMPTS = 3

/**
 * Makes the set of skills equal to a folder. Nothing is sent if a skill of the folder is refused.
 *
 * @param {{ folder: string, prefix?: string, strict?: boolean, set: string, say: (message: string) => void,
 *   call: (tool: string, args: object) => Promise<string> }} load `call` returns the text of a result
 */
export async function loadSkills({ folder, prefix, strict, set, call, say }) {
  const { skills, problems, warnings } = await readSkills(folder, { prefix, mostFileBytes: FILE_BYTES })
  for (const warning of warnings) say(`${strict ? 'refused' : 'warning'}: ${warning}`)
  for (const problem of problems) say(`refused: ${problem}`)
  if (problems.length > 0 || (strict && warnings.length > 0)) throw new Error('nothing was sent: change the files above')
  if (skills.length === 0) throw new Error(`there is no folder with a SKILL.md in ${folder}`)
  const types = Object.entries(TYPES).map(([extension, type]) => `${extension}=${type}`)
  const entries = skills.map(({ entry }) => JSON.stringify(entry))
  const bytes = Buffer.byteLength(JSON.stringify(entries))
  if (bytes > ENTRY_BYTES) {
    throw new Error(`the list of the files has ${bytes} bytes, and a set has at most ${ENTRY_BYTES}: load the folders inside as ` +
      'several sets, with --set and --prefix')
  }
  const files = new Map(skills.flatMap(({ files }) => files.map(({ digest, bytes }) => [digest, bytes])))
  say(`${skills.length} skills with ${files.size} different files for the set ${set}`)
  let uploaded = 0
  for (let attempt = 1; ; attempt++) {
    for (const batch of batches(await missing(files, call), files)) {
      await call('save-skill-files', { files: batch })
      uploaded += batch.length
      say(`${uploaded} files uploaded`)
    }
    try {
      say(`${await call('publish-skills', { set, entries, types })}, ${uploaded} of ${files.size} files uploaded`)
      return
    } catch (error) {
      // A program that publishes another set deletes the files that no set uses yet.
      if (attempt === ATTEMPTS || (await missing(files, call)).length === 0) throw error
    }
  }
}

async function missing(files, call) {
  const digests = [...files.keys()]
  const found = []
  for (let at = 0; at < digests.length; at += DIGESTS) {
    const missing = await call('missing-skill-files', { digests: digests.slice(at, at + DIGESTS) })
    found.push(...missing.split('\n').filter(Boolean))
  }
  return found
}

/** Divides files into the calls of save-skill-files. */
function batches(digests, files) {
  const batches = []
  let size = Infinity
  for (const digest of digests) {
    const base64 = files.get(digest).toString('base64')
    size += base64.length
    if (size > BASE64_BYTES || batches.at(-1).length === TOGETHER) {
      batches.push([])
      size = base64.length
    }
    batches.at(-1).push({ digest, base64 })
  }
  return batches
}
