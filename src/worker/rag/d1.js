// Statements of D1 whose rows have one column.

/** Runs statements in one transaction: all of them, or none. Returns the column `item` of the rows of each statement. */
export async function batch(database, statements) {
  const answers = await database.batch(statements)
  return answers.map(({ results }) => results.map(({ item }) => item))
}
