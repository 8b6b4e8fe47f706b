// Requests to Vectorize.

/** Returns the ids of the nearest vectors. */
export async function query(index, vector, topK, namespace, filter) {
  const { matches } = await index.query(vector, { topK, namespace, returnMetadata: 'none', ...(filter && { filter: JSON.parse(filter) }) })
  return matches.map(({ id }) => id)
}

/** Adds or replaces vectors, each with its id and its metadata in JSON. */
export async function upsert(index, namespace, vectors) {
  await index.upsert(vectors.map(([id, values, metadata]) => ({ id, values, namespace, metadata: JSON.parse(metadata) })))
}

export async function delete_by_ids(index, ids) {
  await index.deleteByIds(ids)
}
