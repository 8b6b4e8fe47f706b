//! The statements on vectors. `{space}` stands for the number of the space, and a list is one parameter, as in
//! [`statements`](crate::rag::sqlite::statements). The first statements select by the index and the space, which are `?1` and `?2`.

/// The model of the index, and the number of passages of the space. Rows: `{model, dimensions, saved, centre, generation, passages}`.
pub(super) const MODEL: &str = "\
SELECT model, dimensions, saved, centre, generation, \
  ifnull((SELECT passages FROM rag_spaces WHERE index_name = ?1 AND space = ?2), 0) AS passages \
FROM rag_models WHERE index_name = ?1";

/// The codes of the passages that match the filter, unless the space has too many passages. `?3`: the values of the filter, `?4`: the most
/// passages of the space, `?5`: the text that each passage contains. Rows: `{codes, ids}`, one for each page.
pub(super) const CODES: &str = "\
WITH {visible}\
code AS (\
  SELECT page, id, code FROM rag_codes AS code WHERE space = {space}{is visible code}{containing} \
  AND (SELECT passages FROM rag_spaces WHERE index_name = ?1 AND space = ?2) <= CAST(?4 AS INTEGER)\
) \
SELECT group_concat(code, '') AS codes, group_concat(id) AS ids FROM code GROUP BY page ORDER BY page";

/// The condition of [`CODES`] on the text of a passage.
pub(super) const CONTAINING: &str =
    " AND EXISTS (SELECT 1 FROM rag_chunks AS chunk WHERE chunk.id = code.id AND instr(chunk.text, ?5) > 0)";

/// Vectors of a model by the ids of their passages. `?3`: the values of the filter, `?4`: the ids, `?5`: the model, `?6`: the text that each
/// passage contains. Rows: `[id, vector]`.
pub(super) const VECTORS: &str = "\
SELECT json_array(vector.id, vector.vector) AS item FROM json_each(?4) AS asked \
CROSS JOIN rag_vectors AS vector ON vector.id = asked.value AND vector.space = {space} AND vector.vector IS NOT NULL \
CROSS JOIN rag_chunks AS chunk ON chunk.id = vector.id CROSS JOIN rag_documents AS document ON document.id = chunk.document{own} \
WHERE document.space = {space} AND {filter}{containing} \
  AND EXISTS (SELECT 1 FROM rag_models WHERE index_name = ?1 AND model = ?5)";

/// The condition of [`VECTORS`] on the text of a passage.
pub(super) const TEXT_CONTAINING: &str = " AND instr(chunk.text, ?6) > 0";

/// Those of some passages that the space has. `?3`: the ids. Rows: the ids.
pub(super) const OF_SPACE: &str = "\
SELECT vector.id AS id FROM json_each(?3) AS asked CROSS JOIN rag_vectors AS vector ON vector.id = asked.value AND vector.space = {space}";

/// Passages without a vector, those with the fewest refusals first. `?3`: the most passages, `?4`: the refusals after which a passage is left
/// out. Rows: passages.
pub(super) const PENDING: &str = "\
SELECT {passage} AS item \
FROM (\
  SELECT id, refusals FROM rag_vectors WHERE space = {space} AND vector IS NULL AND refusals < CAST(?4 AS INTEGER) \
  ORDER BY refusals, id LIMIT CAST(?3 AS INTEGER)\
) AS pending \
CROSS JOIN rag_chunks AS chunk ON chunk.id = pending.id CROSS JOIN rag_documents AS document ON document.id = chunk.document{own} \
ORDER BY pending.refusals, chunk.id";

/// The numbers of passages without a vector that the model has not refused, and that it has refused. Rows: `[count, refused]`.
pub(super) const COUNT_PENDING: &str = "\
SELECT count(*) FILTER (WHERE refusals = 0) AS count, count(*) FILTER (WHERE refusals > 0) AS refused \
FROM rag_vectors WHERE space = {space} AND vector IS NULL";

/// Counts refusals of passages. `?3`: the passages.
pub(super) const REFUSE: &str = "\
UPDATE rag_vectors SET refusals = refusals + 1 WHERE id IN (SELECT value FROM json_each(?3)) AND space = {space} AND vector IS NULL";

/// Saves the vectors of passages of the space that still exist. `?3`: the vectors, as `[id, vector]`.
pub(super) const SAVE_VECTORS: &str = "\
UPDATE rag_vectors SET vector = new.value->>1 FROM json_each(?3) AS new WHERE rag_vectors.id = new.value->>0 AND rag_vectors.space = {space}";

/// Saves the connections of passages of the space that still have vectors. `?3`: the edges, as `[source, target, weight]`.
pub(super) const SAVE_NEIGHBOURS: &str = "\
INSERT OR REPLACE INTO rag_neighbours (source, target, weight) \
SELECT source.id, target.id, new.value->>2 FROM json_each(?3) AS new \
CROSS JOIN rag_vectors AS source ON source.id = new.value->>0 AND source.space = {space} AND source.vector IS NOT NULL \
CROSS JOIN rag_vectors AS target ON target.id = new.value->>1 AND target.space = {space} AND target.vector IS NOT NULL";

// The other statements select by the index, which is `?1`, or only by the ids of passages.

/// Records the model of an index that has none. `?2`: the model, `?3`: the dimensions.
pub(super) const INSERT_MODEL: &str =
    "INSERT OR IGNORE INTO rag_models (index_name, model, dimensions) SELECT ?1, ?2, CAST(?3 AS INTEGER)";

/// Fails if the index has another model, or if the centre has changed. `?2`: the model, `?3`: the dimensions, `?4`: the generation.
pub(super) const EXPECT_MODEL: &str = "\
INSERT INTO rag_models (index_name, model, dimensions) SELECT ?1, NULL, NULL WHERE NOT EXISTS (\
  SELECT 1 FROM rag_models WHERE index_name = ?1 AND model = ?2 AND dimensions = CAST(?3 AS INTEGER) AND generation = CAST(?4 AS INTEGER)\
)";

/// Fails if other vectors were saved. `?2`: the number of vectors that were saved before.
pub(super) const EXPECT_SAVED: &str = "\
INSERT INTO rag_models (index_name, model, dimensions) SELECT ?1, NULL, NULL WHERE NOT EXISTS (\
  SELECT 1 FROM rag_models WHERE index_name = ?1 AND saved = CAST(?2 AS INTEGER)\
)";

/// Counts saved vectors. `?2`: their number.
pub(super) const COUNT_SAVED: &str = "UPDATE rag_models SET saved = saved + CAST(?2 AS INTEGER) WHERE index_name = ?1";

/// Sets the centre of the index. `?2`: the centre.
pub(super) const SET_CENTRE: &str =
    "UPDATE rag_models SET centre = ?2, generation = generation + 1 WHERE index_name = ?1";

/// All vectors of the index. `?2`: the most vectors. Rows: `[id, vector]`.
pub(super) const ALL_VECTORS: &str = "\
SELECT json_array(vector.id, vector.vector) AS item FROM rag_spaces AS space CROSS JOIN rag_vectors AS vector ON vector.space = space.id \
WHERE space.index_name = ?1 AND vector.vector IS NOT NULL ORDER BY vector.id LIMIT CAST(?2 AS INTEGER)";

/// Saves the codes of passages of the index that still exist. `?2`: the codes, as `[id, code]`.
pub(super) const SAVE_CODES: &str = "\
INSERT OR REPLACE INTO rag_codes (space, page, id, document, code) \
SELECT vector.space, vector.id / 2048, vector.id, chunk.document, new.value->>1 FROM json_each(?2) AS new \
CROSS JOIN rag_vectors AS vector ON vector.id = new.value->>0 CROSS JOIN rag_chunks AS chunk ON chunk.id = vector.id \
WHERE vector.space IN (SELECT id FROM rag_spaces WHERE index_name = ?1)";

/// Deletes the lightest connections of passages that have too many. `?1`: the passages, `?2`: the most connections of a passage.
pub(super) const LIMIT_NEIGHBOURS: &str = "\
DELETE FROM rag_neighbours WHERE (source, target) IN (\
  SELECT source, target FROM (\
    SELECT source, target, row_number() OVER (PARTITION BY source ORDER BY weight DESC, target) AS nth \
    FROM rag_neighbours WHERE source IN (SELECT value FROM json_each(?1))\
  ) WHERE nth > CAST(?2 AS INTEGER)\
)";

/// The ids that no passage has. `?1`: the ids. Rows: the ids.
pub(super) const STALE: &str = "\
SELECT asked.value AS id FROM json_each(?1) AS asked WHERE NOT EXISTS (SELECT 1 FROM rag_chunks WHERE id = asked.value)";

/// Delete the vectors of the index, and its model.
pub(super) const DELETE_ALL: [&str; 4] = [
    "DELETE FROM rag_codes WHERE space IN (SELECT id FROM rag_spaces WHERE index_name = ?1)",
    "DELETE FROM rag_neighbours WHERE source IN (\
       SELECT vector.id FROM rag_spaces AS space CROSS JOIN rag_vectors AS vector ON vector.space = space.id WHERE space.index_name = ?1\
     )",
    "UPDATE rag_vectors SET vector = NULL, refusals = 0 WHERE space IN (SELECT id FROM rag_spaces WHERE index_name = ?1)",
    "DELETE FROM rag_models WHERE index_name = ?1",
];
