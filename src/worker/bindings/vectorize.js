// Requests to Vectorize.

/** Returns the ids of the nearest vectors. */
export async function nearest(index, vector, topK, namespace) {
  const { matches } = await index.query(vector, { topK, namespace, returnMetadata: 'none' })
  return matches.map(({ id }) => id)
}

/** Adds or replaces vectors, each with its id. */
export async function upsert(index, namespace, vectors) {
  await index.upsert(vectors.map(([id, values]) => ({ id, values, namespace })))
}

export async function delete_by_ids(index, ids) {
  await index.deleteByIds(ids)
}
