// scripts/skills starts this module and documents it.

import { readFile, stat, writeFile } from 'node:fs/promises'
import { dirname, relative, resolve } from 'node:path'
import { parseArgs } from 'node:util'
import { readSkills } from './lib/skills.mjs'

const { folder, file, prefix, strict, check } = readArguments()
if (!(await stat(folder).catch(() => undefined))?.isDirectory()) fail(`${folder} is not a folder`)
const { skills, problems, warnings } = await readSkills(folder, { prefix })
for (const warning of warnings) console.error(`${strict ? 'refused' : 'warning'}: ${warning}`)
for (const problem of problems) console.error(`refused: ${problem}`)
if (problems.length > 0 || (strict && warnings.length > 0)) fail(`${file} was not written: change the files above`)
if (skills.length === 0) fail(`there is no folder with a SKILL.md in ${folder}`)
const source = rust(skills)
if (!check) await writeFile(file, source)
else if ((await readFile(file, 'utf8').catch(() => '')) !== source) {
  fail(`${file} is not up to date: run scripts/skills ${folder} ${file}${prefix ? ` --prefix ${prefix}` : ''}`)
}

function readArguments() {
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: { prefix: { type: 'string' }, strict: { type: 'boolean' }, check: { type: 'boolean' } },
    })
    if (positionals.length !== 2) throw new Error('pass a folder and a file: scripts/skills DIR FILE')
    return { folder: positionals[0], file: positionals[1], ...values }
  } catch (error) {
    fail(error.message)
  }
}

/** Returns the Rust file. */
function rust(skills) {
  return `//! The skills of this server. \`scripts/skills\` writes this file: do not edit it.

use edge_mcp::skills::{Catalog, File, Skill};

#[rustfmt::skip]
pub(crate) static SKILLS: Catalog = Catalog::new(&[
${skills.map(skill).join('')}]);

#[cfg(test)]
mod tests {
    #[test]
    fn entries_fit_their_files() {
        assert_eq!(super::SKILLS.check(), Ok(()));
    }
}
`
}

function skill({ root, entry, files }) {
  const json = JSON.stringify(entry)
  const hashes = '#'.repeat(1 + Math.max(0, ...[...json.matchAll(/"(#*)/g)].map(([, hashes]) => hashes.length)))
  return `    Skill::new(${text(root)}, r${hashes}"${json}"${hashes}, &[\n${files.map(one).join('')}    ]),\n`
}

function one({ uri, path, mimeType, bytes }) {
  const isText = Buffer.from(bytes.toString('utf8')).equals(bytes)
  const included = text(relative(dirname(resolve(file)), resolve(folder, path)))
  const content = isText ? `text(${text(uri)}, ${text(mimeType)}, include_str!(${included}))`
    : `bytes(${text(uri)}, ${text(mimeType)}, include_bytes!(${included}))`
  return `        File::${content},\n`
}

/** Returns a Rust string. */
function text(value) {
  return `"${value.replace(/["\\]/g, '\\$&')}"`
}

function fail(message) {
  console.error(`skills: ${message}`)
  process.exit(1)
}
