// The results as Markdown.

const BEGIN = '<!-- interop: written by scripts/interop --write -->'
const END = '<!-- /interop -->'

const inWord = (works) => (works === undefined ? undefined : works ? 'works' : 'breaks')

/** The headings of each kind, and the cells between the name and the result. */
const TABLES = {
  server: { heading: 'Servers behind the gateway', columns: ['revision', 'tools'], cells: ({ revision, items }) => [revision, items?.tools] },
  client: {
    heading: 'Clients',
    columns: ['knowledge base', 'examples/everything'],
    cells: (facts) => ['knowledge base', 'everything'].map((name) => inWord(facts[name])),
  },
  'sign-in': {
    heading: 'Sign-in',
    columns: ['sign-in', 'after a restart'],
    cells: ({ signIn, afterRestart }) => [signIn, afterRestart].map(inWord),
  },
}

/** Problems of a gateway that loses something, but whose server can be used. */
const IS_DIFFERENCE = / differs: | through the gateway$| are missing: |^the resource | answers /

/**
 * Returns a result in a word, whose fault it is, the reasons, the problems without an explanation, and the rows that explain the others.
 *
 * @param {{ status: 'done' | 'not installed' | 'not started', problems: string[], facts?: object, reason?: string }} result
 * @param {import('./known.mjs').Known[]} known
 */
export function verdict({ status, problems, facts, reason }, known) {
  if (status !== 'done') return { word: status, fault: '', reasons: [lineOf(reason)], unexplained: [], used: [] }
  if (problems.length === 0) return { word: 'works', fault: '', reasons: [], unexplained: [], used: [] }
  const explained = problems.map((problem) => known.find((each) => each.problem.test(problem)))
  const unexplained = problems.filter((_, index) => !explained[index])
  const ofMachine = explained.every((each) => each?.isOfMachine)
  const word = ofMachine ? 'not started' : problems.every((problem) => IS_DIFFERENCE.test(problem)) ? 'differs' : 'breaks'
  const isTheirs = facts?.reference?.length > 0
  const faults = new Set(explained.map((each) => each?.fault ?? (isTheirs ? 'theirs' : 'unknown')))
  const reasons = [...new Set(problems.map((problem, index) => explained[index]?.reason
    ?? `${isTheirs ? 'The same at server-everything: ' : ''}${lineOf(problem)}`))]
  return { word, fault: [...faults].sort().join(', '), reasons, unexplained, used: explained.filter(Boolean) }
}

/** Returns the line of a message that says most: the last one that begins like an error, or the first one. */
function lineOf(text = '') {
  const lines = text.trim().split('\n').map((line) => line.replace(/^[\s|]+/, '')).filter((line) => line !== '')
  const line = lines.findLast((line) => /^(npm error \d+ Not Found|[\w.]*(Error|Exception)\b.*:)/.test(line)) ?? lines[0] ?? ''
  return line.slice(0, 240)
}

const escaped = (text) => String(text ?? '–').replaceAll('|', '\\|').replaceAll('<', '&lt;').replaceAll('\n', ' ')

/**
 * Returns the tables of all results, with their counts.
 *
 * @param {{ name: string, kind: string, title: string, known: import('./known.mjs').Known[] }[]} subjects
 * @param {Record<string, object>} results by the names of the subjects
 */
export function tables(subjects, results) {
  const parts = []
  for (const [kind, { heading, columns, cells }] of Object.entries(TABLES)) {
    const rows = subjects.filter((subject) => subject.kind === kind && results[subject.name])
    if (rows.length === 0) continue
    const counts = {}
    const lines = rows.map(({ name, title, known }) => {
      const result = results[name]
      const { word, fault, reasons } = verdict(result, known)
      counts[word] = (counts[word] ?? 0) + 1
      return [title, ...cells(result.facts ?? {}).map(escaped), word, fault, reasons.map(escaped).join('; ')]
    })
    const header = ['software', ...columns, 'result', 'fault', 'reason']
    const dates = rows.map(({ name }) => results[name].date).sort()
    const when = dates[0] === dates.at(-1) ? `on ${dates[0]}` : `from ${dates[0]} to ${dates.at(-1)}`
    const summary = Object.entries(counts).map(([word, count]) => `${count} ${word}`).join(', ')
    parts.push(
      `### ${heading}`,
      `${rows.length} ${rows.length === 1 ? 'row' : 'rows'}: ${summary}. Run ${when}.`,
      [header, header.map(() => '---'), ...lines].map((row) => `| ${row.join(' | ')} |`).join('\n'),
    )
  }
  return parts.join('\n\n')
}

/** Returns `page` with the tables between its markers. */
export function withTables(page, text) {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (begin < 0 || end < begin) throw new Error(`the page has no place for the tables: it must contain ${BEGIN} and, after it, ${END}`)
  return `${page.slice(0, begin + BEGIN.length)}\n\n${text}\n\n${page.slice(end)}`
}
