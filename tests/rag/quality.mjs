// Reads the corpus and the questions of this folder, and measures which places the sections that answer have in a result.

import { readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'

import { markdownFiles, slugOf } from '../../scripts/lib/documents.mjs'
import { titleOf } from '../../scripts/lib/title.mjs'

const FOLDER = import.meta.dirname
/** The passages of a result that count. */
export const DEPTH = 10

/** Reads the documents of the corpus, as the arguments of `run_ingest`, and the name of each document's file, by its slug. */
export async function readCorpus() {
  const folder = join(FOLDER, 'corpus')
  const documents = []
  const files = new Map()
  for (const path of (await markdownFiles(folder)).files) {
    const text = await readFile(join(folder, path), 'utf8')
    files.set(slugOf(path), basename(path))
    documents.push({ slug: slugOf(path), title: titleOf(text, path), text })
  }
  return { documents, files }
}

/** Reads a file of questions. `groups` has the sections that answer: one section of each group is needed. */
export async function readQuestions(file) {
  const lines = (await readFile(join(FOLDER, file), 'utf8')).trim().split('\n')
  return lines.map((line) => {
    const [kind, question, gold] = line.split('\t')
    return { kind, question, groups: gold.split(' & ').map((group) => group.split('|')) }
  })
}

/** Returns the section of a passage as `FILE#HEADING`. */
export const sectionOf = (files, slug, heading) => `${files.get(slug)}#${heading.split(' > ').at(-1)}`

/** Returns the places of a group's sections among the sections of the first passages, from 1. A section counts at its first passage. */
const places = (group, sections) =>
  group.map((section) => sections.slice(0, DEPTH).indexOf(section) + 1).filter((place) => place > 0).sort((a, b) => a - b)

const gain = (place) => 1 / Math.log2(place + 1)
const mean = (numbers) => numbers.reduce((sum, number) => sum + number, 0) / numbers.length

/** Measures questions with one group. `results` has the sections of the passages that were found for each question. */
export function measure(questions, results) {
  const rows = questions.map(({ groups: [group] }, nth) => {
    const found = places(group, results[nth])
    const best = group.slice(0, DEPTH).reduce((sum, _, place) => sum + gain(place + 1), 0)
    return { first: found[0], gained: found.reduce((sum, place) => sum + gain(place), 0) / best }
  })
  return {
    'hit@1': mean(rows.map(({ first }) => Number(first === 1))),
    'hit@5': mean(rows.map(({ first }) => Number(first <= 5))),
    MRR: mean(rows.map(({ first }) => (first ? 1 / first : 0))),
    'nDCG@10': mean(rows.map(({ gained }) => gained)),
  }
}

/** Measures questions of relations. The place of a question is the worst of the first places of its groups. */
export function measureRelations(questions, results) {
  const rows = questions.map(({ groups }, nth) => groups.map((group) => places(group, results[nth])[0] ?? Infinity))
  return {
    'one@1': mean(rows.map((row) => Number(Math.min(...row) === 1))),
    'all@5': mean(rows.map((row) => Number(Math.max(...row) <= 5))),
    'all@10': mean(rows.map((row) => Number(Math.max(...row) <= 10))),
    'MRR of all': mean(rows.map((row) => 1 / Math.max(...row))),
  }
}
