//! The statements of the store.
//!
//! Every statement selects by the index and the space, which are `?1` and `?2`: `{space}` stands for the number of the space. A list is one
//! parameter: a JSON array. Every row of a result has one column, which is a JSON array too.
//!
//! A statement that changes passages or links first selects their ids by a `CROSS JOIN`, which SQLite executes in the order in which it
//! is written. Otherwise, SQLite might read the whole space instead of one document.

/// A passage, as [`passages`](super::rows::passages) reads it.
const PASSAGE: &str = "json_array(chunk.id, document.name, chunk.ordinal, chunk.heading, chunk.text, json({metadata}))";

/// The metadata of a passage: its own, or that of its document. A statement that uses it has the join [`OWN`].
const METADATA: &str = "ifnull(own.metadata, document.metadata)";
const OWN: &str = " LEFT JOIN rag_metadata AS own ON own.chunk = chunk.id";

/// The number of the space.
const SPACE: &str = "(SELECT id FROM rag_spaces WHERE index_name = ?1 AND space = ?2)";

/// The documents that match a filter, and the passages with metadata of their own that match it: the id of a passage is negative here. SQLite
/// evaluates the filter once for each document of the space, and once for each of these passages.
const VISIBLE: &str = "\
visible AS MATERIALIZED (\
  SELECT document.id AS id, document.passages AS passages FROM (\
    SELECT id, passages, metadata FROM rag_documents WHERE space = {space} \
    UNION ALL SELECT -chunk, 1, metadata FROM rag_metadata WHERE space = {space}\
  ) AS document WHERE {filter}\
), ";

/// The number of passages that match a filter. Passages with metadata of their own do not count for their documents.
const SIZE: &str = "\
(SELECT ifnull(sum(passages), 0) FROM visible) \
- (SELECT count(*) FROM rag_metadata WHERE space = {space} AND document IN (SELECT id FROM visible))";

/// Returns the condition that the passage of a chunk matches the filter. `chunk` is the id of the chunk, and `document` that of its document.
fn is_visible(chunk: &str, document: &str) -> String {
    format!(
        "iif(EXISTS (SELECT 1 FROM rag_metadata AS own WHERE own.chunk = {chunk}), -{chunk}, {document}) IN (SELECT id FROM visible)"
    )
}

/// The places of the condition that a passage matches the filter, with the id of the passage and that of its document.
const FILTERED: [(&str, &str, &str); 4] = [
    ("{is visible chunk}", "chunk.id", "chunk.document"),
    ("{is visible target}", "target.id", "target.document"),
    ("{is visible linked}", "linked.id", "linked.document"),
    ("{is visible code}", "code.id", "code.document"),
];

/// The passages with any of the words, best first, and the words. The text of the statement depends on whether there is a filter, because
/// a search without a filter does not need to read the documents.
///
/// A term of the index consists of the number of the space and a stem, so a search reads only the words of its space. Counts and similar
/// words come from the documents that match the filter. Nothing else must have an effect on the result, because the caller may be able
/// to see it. The name of a column of `rag_words` ends with the impact of its words. The inner queries return only ids, so that SQLite does
/// not sort texts.
///
/// The result of a subquery is a text for some versions of SQLite, so `json` marks it as JSON.
///
/// `?3`: the values of the filter, `?4`: the stems, `?5`: the most passages, `?6`: the stems that are corrected, as `[stem, first letters,
/// first half, last half]`, `?7`: the most stems that are corrected, `?8`: the most similar words, `?9`: the text that each passage contains. Rows: first
/// `[passages, 0 or 1, [[stem, passages], …]]`, where 1 means that the space has passages only in other indexes, and then the passages.
const SEARCH: &str = "\
WITH {visible}\
size AS MATERIALIZED (SELECT ifnull({size}, 0) AS passages), \
asked AS MATERIALIZED (SELECT value AS stem, {space} || '·' || value AS term FROM json_each(?4)), \
hits AS (\
  SELECT asked.stem AS stem, hit.doc AS id, CAST(substr(hit.col, 2) AS INTEGER) AS impact \
  FROM asked CROSS JOIN rag_hits AS hit ON hit.term = asked.term{join}\
), \
known AS MATERIALIZED ({known}), \
weights AS MATERIALIZED (\
  SELECT stem, max(1, CAST(round(1000 * ln((size.passages - known.passages + 0.5) / (known.passages + 0.5))) AS INTEGER)) AS weight \
  FROM known CROSS JOIN size\
), \
best AS MATERIALIZED (\
  SELECT hits.id AS id, sum(weights.weight * hits.impact) AS score FROM hits CROSS JOIN weights ON weights.stem = hits.stem \
  GROUP BY hits.id ORDER BY score DESC, hits.id LIMIT CAST(?5 AS INTEGER)\
), \
unknown AS MATERIALIZED (\
  SELECT value->>0 AS stem, {space} || '·' || (value->>1) AS beginning, value->>2 AS first_half, value->>3 AS last_half \
  FROM json_each(?6) WHERE value->>0 NOT IN (SELECT stem FROM known) ORDER BY key LIMIT CAST(?7 AS INTEGER)\
), \
near AS MATERIALIZED (\
  SELECT DISTINCT word.term AS term, substr(word.term, instr(word.term, '·') + 1) AS stem FROM unknown CROSS JOIN rag_vocabulary AS word \
    ON word.term >= unknown.beginning AND word.term < unknown.beginning || char(1114111) \
  WHERE length(word.term) - length(unknown.beginning) + 2 BETWEEN length(unknown.stem) - 1 AND length(unknown.stem) + 1 AND (\
    substr(word.term, instr(word.term, '·') + 1, length(unknown.first_half)) = unknown.first_half \
    OR substr(word.term, -length(unknown.last_half)) = unknown.last_half\
  )\
), \
similar AS (\
  SELECT stem, (SELECT count(*) FROM rag_hits AS hit{join} WHERE hit.term = near.term) AS passages FROM near \
  ORDER BY passages DESC, stem LIMIT CAST(?8 AS INTEGER)\
) \
SELECT item FROM (\
  SELECT 0 AS kind, 0 AS score, 0 AS id, json_array(size.passages, {unknown}, json((\
    SELECT json_group_array(json_array(stem, passages)) FROM (\
      SELECT * FROM known UNION ALL SELECT * FROM similar WHERE passages > 0\
    )\
  ))) AS item FROM size \
  UNION ALL \
  SELECT 1, -best.score, best.id, \
    {passage} \
  FROM best CROSS JOIN rag_chunks AS chunk ON chunk.id = best.id CROSS JOIN rag_documents AS document ON document.id = chunk.document{own}\
) ORDER BY kind, score, id";

/// The words of the question that the space contains. Without a filter, the index has their counts.
const KNOWN: &str = "\
SELECT asked.stem AS stem, word.doc AS passages FROM asked CROSS JOIN rag_vocabulary AS word ON word.term = asked.term";

/// Whether the space has passages only in other indexes.
const UNKNOWN: &str =
    "size.passages = 0 AND EXISTS (SELECT 1 FROM rag_spaces AS other WHERE other.space = ?2 AND other.passages > 0)";

/// Passages by their ids. `?3`: the values of the filter, `?4`: the ids. Rows: passages, in the order of the ids.
pub(super) const PASSAGES: &str = "\
SELECT {passage} AS item \
FROM json_each(?4) AS asked CROSS JOIN rag_chunks AS chunk ON chunk.id = asked.value \
CROSS JOIN rag_documents AS document ON document.id = chunk.document{own} \
WHERE document.space = {space} AND {filter} ORDER BY asked.key";

/// The passages around others in their sections. `?3`: the values of the filter, `?4`: the ids of the others, `?5`: the greatest difference of
/// positions. Rows: passages.
pub(super) const NEIGHBOURS: &str = "\
SELECT {passage} AS item \
FROM json_each(?4) AS asked CROSS JOIN rag_chunks AS found ON found.id = asked.value \
CROSS JOIN rag_documents AS document ON document.id = found.document \
CROSS JOIN rag_chunks AS chunk ON chunk.document = found.document AND chunk.heading = found.heading \
  AND chunk.ordinal BETWEEN found.ordinal - CAST(?5 AS INTEGER) AND found.ordinal + CAST(?5 AS INTEGER){own} \
WHERE document.space = {space} AND {filter} AND chunk.id NOT IN (SELECT value FROM json_each(?4)) GROUP BY chunk.id ORDER BY chunk.id";

/// The edges that begin at a seed, or one edge away from a seed. `?3`: the values of the filter, `?4`: the ids of the seeds, `?5`: the
/// threshold, `?6`: the most passages around the seeds, `?7`: the most edges. Rows: `[source, target, weight]`.
///
/// Edges lead only between passages that match the filter.
const EDGES: &str = "\
WITH {visible}\
seeds AS MATERIALIZED (\
  SELECT chunk.id AS id, chunk.document AS document, document.name AS name, chunk.ordinal AS ordinal \
  FROM (SELECT DISTINCT value AS id FROM json_each(?4)) AS asked CROSS JOIN rag_chunks AS chunk ON chunk.id = asked.id \
  CROSS JOIN rag_documents AS document ON document.id = chunk.document WHERE document.space = {space}{is visible chunk}\
), \
first_edges AS MATERIALIZED ({edges from seeds}), \
around AS (\
  SELECT target AS id FROM first_edges WHERE weight > CAST(?5 AS REAL) AND target NOT IN (SELECT id FROM seeds) \
  GROUP BY target ORDER BY max(weight) DESC, target LIMIT CAST(?6 AS INTEGER)\
), \
near AS MATERIALIZED (\
  SELECT chunk.id AS id, chunk.document AS document, document.name AS name, chunk.ordinal AS ordinal \
  FROM around CROSS JOIN rag_chunks AS chunk ON chunk.id = around.id CROSS JOIN rag_documents AS document ON document.id = chunk.document\
) \
SELECT json_array(source, target, weight) AS item FROM (\
  SELECT * FROM first_edges UNION ALL SELECT * FROM ({edges from near})\
) WHERE weight > CAST(?5 AS REAL) ORDER BY weight DESC, target, source LIMIT CAST(?7 AS INTEGER)";

/// The edges from the passages of the table expression `origin`: to the passages to which they link, and to the passages that link to them.
const EDGES_FROM: &str = "\
SELECT source.id AS source, target.id AS target, 0.9 AS weight FROM origin AS source \
  CROSS JOIN rag_links AS link ON link.chunk = source.id \
  CROSS JOIN rag_documents AS document ON document.space = {space} AND document.name = link.target \
  CROSS JOIN rag_chunks AS target ON target.document = document.id AND target.ordinal = {linked in document.id} \
UNION ALL \
SELECT source.id, target.id, 0.9 FROM origin AS source \
  CROSS JOIN rag_links AS link ON link.space = {space} AND link.target = source.name AND source.ordinal = {linked in source.document} \
  CROSS JOIN rag_chunks AS target ON target.id = link.chunk{is visible target}";

/// The position of the passage to which `link` leads in a document: the first of the section, or the first of the document. Passages that do
/// not match the filter have no effect.
const LINKED: &str = "\
ifnull(\
  (SELECT min(linked.ordinal) FROM rag_chunks AS linked \
    WHERE linked.document = {document} AND linked.anchor = link.section{is visible linked}), \
  (SELECT min(linked.ordinal) FROM rag_chunks AS linked WHERE linked.document = {document}{is visible linked})\
)";

/// The edges from the passages of the table expression `origin` to similar passages of other documents.
const SIMILAR_FROM: &str = " \
UNION ALL \
SELECT source.id, target.id, neighbour.weight FROM origin AS source CROSS JOIN rag_neighbours AS neighbour ON neighbour.source = source.id \
  CROSS JOIN rag_chunks AS target ON target.id = neighbour.target AND target.document <> source.document{is visible target}";

/// The number of stored chunks of the documents, and how many of them stay. `?3`: the documents, as `[name, metadata, chunks]`, `?4`: their
/// new chunks, as `[name, hash, ordinal, has metadata]`. Rows: `[stored, kept]`.
pub(super) const COUNT: &str = "\
SELECT json_array(count(*), count(*) FILTER (\
  WHERE (document.name, chunk.hash) IN (SELECT value->>0, value->>1 FROM json_each(?4))\
)) AS item \
FROM json_each(?3) AS new CROSS JOIN rag_documents AS document ON document.space = {space} AND document.name = new.value->>0 \
CROSS JOIN rag_chunks AS chunk ON chunk.document = document.id";

/// Inserts the space if it does not exist.
pub(super) const INSERT_SPACE: &str = "INSERT OR IGNORE INTO rag_spaces (index_name, space) SELECT ?1, ?2";

/// Deletes the documents that no longer have chunks. `?3` as above.
pub(super) const DELETE_DOCUMENTS: &str = "\
DELETE FROM rag_documents WHERE space = {space} AND name IN (SELECT value->>0 FROM json_each(?3) WHERE value->>2 = 0)";

/// Inserts the documents, or sets their metadata and the number of their passages. `?3` as above.
pub(super) const SAVE_DOCUMENTS: &str = "\
INSERT INTO rag_documents (space, name, metadata, passages) \
SELECT {space}, value->>0, jsonb(value->>1), value->>2 FROM json_each(?3) WHERE value->>2 > 0 \
ON CONFLICT (space, name) DO UPDATE SET metadata = excluded.metadata, passages = excluded.passages \
WHERE metadata <> excluded.metadata OR passages <> excluded.passages";

/// Deletes the chunks that the documents no longer have. `?3` and `?4` as above.
pub(super) const DELETE_CHUNKS: &str = "\
DELETE FROM rag_chunks WHERE id IN (\
  SELECT chunk.id FROM json_each(?3) AS new CROSS JOIN rag_documents AS document \
    ON document.space = {space} AND document.name = new.value->>0 CROSS JOIN rag_chunks AS chunk ON chunk.document = document.id \
  WHERE (document.name, chunk.hash) NOT IN (SELECT value->>0, value->>1 FROM json_each(?4))\
)";

/// Moves the stored chunks to their new positions. `?3`: the new chunks, as `[name, hash, ordinal, has metadata]`.
pub(super) const MOVE_CHUNKS: &str = "\
WITH moved AS MATERIALIZED (\
  SELECT chunk.id AS id, new.value->>2 AS ordinal FROM json_each(?3) AS new CROSS JOIN rag_documents AS document \
    ON document.space = {space} AND document.name = new.value->>0 \
  CROSS JOIN rag_chunks AS chunk ON chunk.document = document.id AND chunk.hash = new.value->>1 \
  WHERE chunk.ordinal <> new.value->>2\
) \
UPDATE rag_chunks SET ordinal = moved.ordinal FROM moved WHERE rag_chunks.id = moved.id";

/// Inserts the chunks that are not stored. `?3`: the chunks, as `[name, hash, ordinal, heading, anchor, text, words]`. A trigger adds the words to
/// the index.
pub(super) const INSERT_CHUNKS: &str = "\
INSERT INTO rag_chunks (document, hash, ordinal, heading, anchor, text, words) \
SELECT document.id, new.value->>1, new.value->>2, new.value->>3, nullif(new.value->>4, ''), new.value->>5, new.value->6 FROM json_each(?3) AS new \
CROSS JOIN rag_documents AS document ON document.space = {space} AND document.name = new.value->>0 \
WHERE NOT EXISTS (SELECT 1 FROM rag_chunks AS chunk WHERE chunk.document = document.id AND chunk.hash = new.value->>1)";

/// Deletes the metadata of chunks that no longer have metadata of their own. `?3`: the documents, as `[name, metadata, chunks]`, `?4`: their new
/// chunks, as `[name, hash, ordinal, has metadata]`.
pub(super) const DELETE_METADATA: &str = "\
DELETE FROM rag_metadata WHERE chunk IN (\
  SELECT own.chunk FROM json_each(?3) AS new CROSS JOIN rag_documents AS document \
    ON document.space = {space} AND document.name = new.value->>0 \
  CROSS JOIN rag_metadata AS own ON own.space = document.space AND own.document = document.id \
  CROSS JOIN rag_chunks AS chunk ON chunk.id = own.chunk \
  WHERE (document.name, chunk.hash) NOT IN (SELECT value->>0, value->>1 FROM json_each(?4) WHERE value->>3)\
)";

/// Saves the metadata of chunks. `?3`: the metadata, as `[name, hash, metadata]`.
pub(super) const SAVE_METADATA: &str = "\
INSERT INTO rag_metadata (chunk, space, document, metadata) \
SELECT chunk.id, document.space, document.id, jsonb(new.value->>2) FROM json_each(?3) AS new \
CROSS JOIN rag_documents AS document ON document.space = {space} AND document.name = new.value->>0 \
CROSS JOIN rag_chunks AS chunk ON chunk.document = document.id AND chunk.hash = new.value->>1 \
WHERE true ON CONFLICT (chunk) DO UPDATE SET metadata = excluded.metadata WHERE metadata <> excluded.metadata";

/// Deletes the links that the chunks no longer have. `?3`: the documents, as `[name, metadata, chunks]`, `?4`: their links, as
/// `[name, hash, target, section]`.
pub(super) const DELETE_LINKS: &str = "\
DELETE FROM rag_links WHERE (chunk, target, section) IN (\
  SELECT link.chunk, link.target, link.section FROM json_each(?3) AS new CROSS JOIN rag_documents AS document \
    ON document.space = {space} AND document.name = new.value->>0 CROSS JOIN rag_chunks AS chunk ON chunk.document = document.id \
  CROSS JOIN rag_links AS link ON link.chunk = chunk.id \
  WHERE (document.name, chunk.hash, link.target, link.section) NOT IN (\
    SELECT value->>0, value->>1, value->>2, value->>3 FROM json_each(?4)\
  )\
)";

/// Inserts the links that are not stored. `?3`: the links, as `[name, hash, target, section]`.
pub(super) const INSERT_LINKS: &str = "\
INSERT OR IGNORE INTO rag_links (space, chunk, target, section) \
SELECT document.space, chunk.id, new.value->>2, new.value->>3 FROM json_each(?3) AS new \
CROSS JOIN rag_documents AS document ON document.space = {space} AND document.name = new.value->>0 \
CROSS JOIN rag_chunks AS chunk ON chunk.document = document.id AND chunk.hash = new.value->>1";

/// Deletes a document. Triggers delete its chunks, its words and its links. `?3`: its name. Rows: `[id]`.
pub(super) const REMOVE: &str =
    "DELETE FROM rag_documents WHERE space = {space} AND name = ?3 RETURNING json_array(id) AS item";

/// The name of a document until its row has an id. No other document can have it, because it has a control character.
pub(super) const UNNAMED: &str = "\u{1}";

/// The three statements around the statement of the program that inserts a row. The first two set the last inserted id to −1, and the third
/// fails if it is still −1: then no row was inserted.
pub(super) const MARK: &str = "INSERT INTO rag_spaces (id, index_name, space) VALUES (-1, char(1), char(1))";
pub(super) const REMOVE_MARK: &str = "DELETE FROM rag_spaces WHERE id = -1";
pub(super) const EXPECT_ROW: &str =
    "INSERT INTO rag_spaces (index_name, space) SELECT NULL, NULL WHERE last_insert_rowid() = -1";

/// Deletes the document of an earlier row that had the id of the row that the previous statement inserted.
pub(super) const REMOVE_OF_ROW: &str =
    "DELETE FROM rag_documents WHERE space = {space} AND name = CAST(last_insert_rowid() AS TEXT)";

/// Names a document by the id of the inserted row. `?3`: the name that it has.
pub(super) const NAME_BY_ROW: &str =
    "UPDATE rag_documents SET name = CAST(last_insert_rowid() AS TEXT) WHERE space = {space} AND name = ?3";

/// Returns the statement of a search. Its passages match the filter, and contain the text `?9`.
pub(super) fn search(filter: Option<&str>, is_containing: bool) -> String {
    if !is_containing {
        return filtered_by(SEARCH, filter);
    }
    let sql = SEARCH.replace("{join}", "{join} AND instr(chunk.text, ?9) > 0");
    filtered_by(&sql, Some(filter.unwrap_or("1")))
}

/// Returns the text of a statement with a filter, whose condition is `filter`, or `None` if it matches everything. In the condition,
/// `{metadata}` stands for the metadata.
pub(super) fn filtered_by(sql: &str, filter: Option<&str>) -> String {
    let condition = format!("({})", filter.unwrap_or("1"));
    let visible = VISIBLE.replace("{filter}", &condition.replace("{metadata}", "document.metadata"));
    let of_chunk = format!(
        " CROSS JOIN rag_chunks AS chunk ON chunk.id = hit.doc AND {}",
        is_visible("hit.doc", "+chunk.document")
    );
    let parts = match filter {
        Some(_) => [
            ("{visible}", visible.as_str()),
            ("{size}", SIZE),
            ("{join}", of_chunk.as_str()),
            ("{known}", "SELECT stem, count(*) AS passages FROM hits GROUP BY stem"),
            ("{unknown}", "0"),
        ],
        None => [
            ("{visible}", ""),
            ("{size}", "(SELECT passages FROM rag_spaces WHERE index_name = ?1 AND space = ?2)"),
            ("{join}", ""),
            ("{known}", KNOWN),
            ("{unknown}", UNKNOWN),
        ],
    };
    let sql = parts.into_iter().fold(sql.to_owned(), |sql, (place, part)| sql.replace(place, part));
    let sql = FILTERED.into_iter().fold(sql, |sql, (place, chunk, document)| {
        let condition = filter.map(|_| [" AND ", &is_visible(chunk, document)].concat());
        sql.replace(place, &condition.unwrap_or_default())
    });
    sql.replace("{filter}", &condition)
}

/// Returns the statement for the edges from the seeds, and from the passages around them. With vectors, also for those of similar passages.
pub(super) fn edges(has_vectors: bool) -> String {
    let edges = if has_vectors { [EDGES_FROM, SIMILAR_FROM].concat() } else { EDGES_FROM.to_owned() };
    let edges = ["document.id", "source.document"].into_iter().fold(edges, |sql, document| {
        sql.replace(&format!("{{linked in {document}}}"), &LINKED.replace("{document}", document))
    });
    ["seeds", "near"].into_iter().fold(EDGES.to_owned(), |sql, origin| {
        sql.replace(&format!("{{edges from {origin}}}"), &edges.replace("origin", origin))
    })
}

/// Writes the number of the space into a statement, and the prefix of the tables.
pub(super) fn named(sql: &str, prefix: &str) -> String {
    let prefix = format!("{prefix}_");
    let parts =
        [("{passage}", PASSAGE), ("{metadata}", METADATA), ("{own}", OWN), ("{space}", SPACE), ("rag_", &prefix)];
    parts.into_iter().fold(sql.to_owned(), |sql, (place, part)| sql.replace(place, part))
}
