// Statements of D1. The result of a statement is the JSON text of `[changes, columns, row, …]`, as bytes: a string would cross into the wasm
// module one character after the other.

const encoder = new TextEncoder()

/** Returns a result as text. Throws the length of a text that is longer than `most`. */
function text(result, most) {
  const json = JSON.stringify(result)
  if (json.length > most) throw json.length
  return encoder.encode(json)
}

/** Runs a statement that reads. Unlike `all`, `raw` returns two columns of the same name, and columns without rows. */
export async function query(database, sql, values, most) {
  const [columns = [], ...rows] = await database.prepare(sql).bind(...values).raw({ columnNames: true })
  return text([0, columns, ...rows], most)
}

/** Runs statements in one transaction: all of them, or none. */
export async function batch(database, statements, most) {
  const answers = await database.batch(statements.map(([sql, values]) => database.prepare(sql).bind(...values)))
  return answers.map(({ results, meta }) => text([meta.changes, Object.keys(results[0] ?? {}), ...results.map(Object.values)], most))
}
