//! The statements of the store.
//!
//! Every statement selects by the index and the space, which are `?1` and `?2`. A list is one parameter: a JSON array. Every row of a
//! result has one column, which is a JSON array too.
//!
//! A statement that changes passages or links first selects their ids by a `CROSS JOIN`, which SQLite executes in the order in which it
//! is written. Otherwise, SQLite might read the whole space instead of one document.

/// How often each word of a question occurs, and the words of the index that resemble a word that no passage contains: they begin with
/// the same two characters, and are at most one character longer or shorter. `?1`: the stems of the words. Rows: `[stem, passages]`.
pub(super) const WORDS: &str = "\
SELECT json_array(term, doc) AS item FROM rag_words WHERE term IN (SELECT value FROM json_each(?1)) \
UNION ALL \
SELECT json_array(near.term, near.doc) FROM json_each(?1) AS asked CROSS JOIN rag_words AS near \
  ON near.term >= substr(asked.value, 1, 2) AND near.term < substr(asked.value, 1, 2) || char(1114111) \
WHERE length(asked.value) >= 5 AND length(near.term) BETWEEN length(asked.value) - 1 AND length(asked.value) + 1 \
  AND NOT EXISTS (SELECT 1 FROM rag_words WHERE term = asked.value) \
LIMIT 1000";

/// The number of passages in the tables, and whether the index has any: 0 or 1. `?1`: the index. Rows: `[passages, 0 or 1]`.
pub(super) const SIZE: &str =
    "SELECT json_array(passages, EXISTS (SELECT 1 FROM rag_chunks WHERE index_name = ?1)) AS item FROM rag_size";

/// The passages that match an expression of FTS5, best first. A word in the headings counts five times as much as a word in the text. The
/// inner query returns only ids, so that SQLite does not sort texts. `?3`: the values of the filter, `?4`: the expression, `?5`: the most
/// passages. Rows: passages.
pub(super) const SEARCH: &str = "\
SELECT json_array(passage.id, passage.document, passage.ordinal, passage.heading, passage.text, json(passage.metadata)) AS item FROM (\
  SELECT rag_chunks_text.rowid AS id, bm25(rag_chunks_text, 5.0, 1.0) AS score \
  FROM rag_chunks_text CROSS JOIN rag_chunks AS chunk ON chunk.id = rag_chunks_text.rowid \
  WHERE rag_chunks_text MATCH ?4 AND chunk.index_name = ?1 AND chunk.space = ?2 AND {filter} \
  ORDER BY score, rag_chunks_text.rowid LIMIT CAST(?5 AS INTEGER)\
) AS best CROSS JOIN rag_chunks AS passage ON passage.id = best.id ORDER BY best.score, best.id";

/// Passages by their ids. `?3`: the values of the filter, `?4`: the ids. Rows: passages, in the order of the ids.
pub(super) const PASSAGES: &str = "\
SELECT json_array(chunk.id, chunk.document, chunk.ordinal, chunk.heading, chunk.text, json(chunk.metadata)) AS item \
FROM json_each(?4) AS asked CROSS JOIN rag_chunks AS chunk ON chunk.id = asked.value \
WHERE chunk.index_name = ?1 AND chunk.space = ?2 AND {filter} ORDER BY asked.key";

/// The edges that begin at a seed, or one edge away from a seed. `?3`: the values of the filter, `?4`: the ids of the seeds, `?5`: the
/// threshold, `?6`: the most passages around the seeds, `?7`: the most edges. Rows: `[source, target, weight]`.
///
/// `visible` has only passages that match the filter, so edges lead only between such passages.
pub(super) const EDGES: &str = "\
WITH visible AS NOT MATERIALIZED (\
  SELECT id, document, ordinal, heading FROM rag_chunks AS chunk WHERE index_name = ?1 AND space = ?2 AND {filter}\
), \
seeds AS MATERIALIZED (\
  SELECT visible.* FROM (SELECT DISTINCT value AS id FROM json_each(?4)) AS asked CROSS JOIN visible ON visible.id = asked.id\
), \
first_edges AS MATERIALIZED ({edges from seeds}), \
around AS (\
  SELECT target AS id FROM first_edges WHERE weight > CAST(?5 AS REAL) AND target NOT IN (SELECT id FROM seeds) \
  GROUP BY target ORDER BY max(weight) DESC, target LIMIT CAST(?6 AS INTEGER)\
), \
near AS MATERIALIZED (SELECT visible.* FROM around CROSS JOIN visible ON visible.id = around.id) \
SELECT json_array(source, target, weight) AS item FROM (\
  SELECT * FROM first_edges UNION ALL SELECT * FROM ({edges from near})\
) WHERE weight > CAST(?5 AS REAL) AND source <> target ORDER BY weight DESC, target, source LIMIT CAST(?7 AS INTEGER)";

/// The edges from the passages of the table expression `origin`: neighbours in the document, the first passages of documents to which the
/// document links, and the first passages of documents that link to it.
const EDGES_FROM: &str = "\
SELECT source.id AS source, target.id AS target, iif(source.heading = target.heading, 1.0, 0.75) AS weight \
  FROM origin AS source CROSS JOIN visible AS target \
  ON target.document = source.document AND target.ordinal IN (source.ordinal - 1, source.ordinal + 1) \
UNION ALL \
SELECT source.id, target.id, 0.9 FROM origin AS source \
  CROSS JOIN rag_links AS link ON link.index_name = ?1 AND link.space = ?2 AND link.document = source.document \
  CROSS JOIN visible AS target ON target.document = link.target AND target.ordinal = 0 \
  WHERE source.ordinal = 0 \
UNION ALL \
SELECT source.id, target.id, 0.9 FROM origin AS source \
  CROSS JOIN rag_links AS link ON link.index_name = ?1 AND link.space = ?2 AND link.target = source.document \
  CROSS JOIN visible AS target ON target.document = link.document AND target.ordinal = 0 \
  WHERE source.ordinal = 0";

/// The number of stored chunks of the documents, and how many of them stay. `?3`: the documents, as `[name, metadata]`, `?4`: their new
/// chunks, as `[name, hash, ordinal]`. Rows: `[stored, kept]`.
pub(super) const COUNT: &str = "\
SELECT json_array(count(*), count(*) FILTER (\
  WHERE (chunk.document, chunk.hash) IN (SELECT value->>0, value->>1 FROM json_each(?4))\
)) AS item \
FROM json_each(?3) AS document CROSS JOIN rag_chunks AS chunk \
  ON chunk.index_name = ?1 AND chunk.space = ?2 AND chunk.document = document.value->>0";

/// Deletes the chunks that the documents no longer have. `?3` and `?4` as above.
pub(super) const DELETE_CHUNKS: &str = "\
DELETE FROM rag_chunks WHERE id IN (\
  SELECT chunk.id FROM json_each(?3) AS document CROSS JOIN rag_chunks AS chunk \
    ON chunk.index_name = ?1 AND chunk.space = ?2 AND chunk.document = document.value->>0 \
  WHERE (chunk.document, chunk.hash) NOT IN (SELECT value->>0, value->>1 FROM json_each(?4))\
)";

/// Moves the stored chunks to their new positions. `?3`: the new chunks, as `[name, hash, ordinal]`.
pub(super) const MOVE_CHUNKS: &str = "\
WITH moved AS MATERIALIZED (\
  SELECT chunk.id AS id, new.value->>2 AS ordinal FROM json_each(?3) AS new CROSS JOIN rag_chunks AS chunk \
    ON chunk.index_name = ?1 AND chunk.space = ?2 AND chunk.document = new.value->>0 AND chunk.hash = new.value->>1 \
  WHERE chunk.ordinal <> new.value->>2\
) \
UPDATE rag_chunks SET ordinal = moved.ordinal FROM moved WHERE rag_chunks.id = moved.id";

/// Sets the metadata of the stored chunks. `?3`: the documents, as `[name, metadata]`.
pub(super) const SET_METADATA: &str = "\
WITH changed AS MATERIALIZED (\
  SELECT chunk.id AS id, document.value->>1 AS metadata FROM json_each(?3) AS document CROSS JOIN rag_chunks AS chunk \
    ON chunk.index_name = ?1 AND chunk.space = ?2 AND chunk.document = document.value->>0 \
  WHERE chunk.metadata <> document.value->>1\
) \
UPDATE rag_chunks SET metadata = changed.metadata FROM changed WHERE rag_chunks.id = changed.id";

/// Inserts the chunks that are not stored. `?3`: the chunks, as `[name, hash, ordinal, heading, text, metadata]`.
pub(super) const INSERT_CHUNKS: &str = "\
INSERT INTO rag_chunks (index_name, space, document, hash, ordinal, heading, text, metadata) \
SELECT ?1, ?2, value->>0, value->>1, value->>2, value->>3, value->>4, value->>5 FROM json_each(?3) AS new \
WHERE NOT EXISTS (\
  SELECT 1 FROM rag_chunks AS chunk \
  WHERE chunk.index_name = ?1 AND chunk.space = ?2 AND chunk.document = new.value->>0 AND chunk.hash = new.value->>1\
)";

/// Deletes the links that the documents no longer have. `?3`: the documents, as `[name, metadata]`, `?4`: their links, as `[name, target]`.
pub(super) const DELETE_LINKS: &str = "\
DELETE FROM rag_links WHERE id IN (\
  SELECT link.id FROM json_each(?3) AS document CROSS JOIN rag_links AS link \
    ON link.index_name = ?1 AND link.space = ?2 AND link.document = document.value->>0 \
  WHERE (link.document, link.target) NOT IN (SELECT value->>0, value->>1 FROM json_each(?4))\
)";

/// Inserts the links that are not stored. `?3`: the links, as `[name, target]`.
pub(super) const INSERT_LINKS: &str = "\
INSERT OR IGNORE INTO rag_links (index_name, space, document, target) \
SELECT ?1, ?2, value->>0, value->>1 FROM json_each(?3)";

/// Deletes all links and all chunks of a document. `?3`: its name. The rows of the second statement are the ids of the chunks.
pub(super) const REMOVE_LINKS: &str = "DELETE FROM rag_links WHERE index_name = ?1 AND space = ?2 AND document = ?3";
pub(super) const REMOVE_CHUNKS: &str =
    "DELETE FROM rag_chunks WHERE index_name = ?1 AND space = ?2 AND document = ?3 RETURNING json_array(id) AS item";

/// Writes the edges from the seeds, and from the passages around them, into [`EDGES`].
pub(super) fn edges() -> String {
    ["seeds", "near"].into_iter().fold(EDGES.to_owned(), |sql, origin| {
        sql.replace(&format!("{{edges from {origin}}}"), &EDGES_FROM.replace("origin", origin))
    })
}
