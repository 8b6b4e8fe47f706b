//! The tables of the store of passages.

use std::collections::{BTreeMap, BTreeSet};

use edge_mcp::rag::{Chunk, Document, Space};
use edge_mcp::storage::Statement;
use edge_mcp::testing::TestDatabase;
use futures::FutureExt;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::embeddings;
use crate::passages::INDEX;
use crate::vector_service::VectorService;

/// A document, as the tables have it.
#[derive(Debug, Default)]
pub struct Stored {
    pub version: String,
    pub metadata: Map<String, Value>,
    /// The number of passages that the document counts.
    pub passages: usize,
    pub ids: Vec<i64>,
    /// The headings and the texts.
    pub chunks: Vec<(String, String)>,
    /// The position, the target and the section of each link.
    pub links: BTreeSet<(usize, String)>,
}

/// Returns the headings and the text of a chunk.
pub fn chunk(chunk: &Chunk) -> (String, String) {
    (chunk.heading.join(" > "), chunk.text.clone())
}

/// Returns the links of a document as its rows have them.
pub fn links(document: &Document) -> BTreeSet<(usize, String)> {
    let anchor = |section: &str| section.to_lowercase().replace(['-', ' '], "");
    let links =
        document.chunks.iter().enumerate().flat_map(|(at, chunk)| chunk.links.iter().map(move |link| (at, link)));
    let others = links.filter(|(_, link)| link.document != document.name);
    others
        .map(|(at, link)| (at, format!("{}#{}", link.document, anchor(link.section.as_deref().unwrap_or_default()))))
        .collect()
}

/// Runs a statement, which does not wait.
fn rows<T: DeserializeOwned>(statement: Statement) -> Vec<T> {
    statement.all().now_or_never().expect("SQLite does not wait").expect("rows")
}

/// Returns the number of rows that were changed so far.
pub fn changes(sqlite: &TestDatabase) -> u64 {
    rows(sqlite.database().query("SELECT total_changes()"))[0]
}

/// Returns the number of passages of a space that have no vector.
pub fn pending(sqlite: &TestDatabase, space: &str) -> usize {
    const PENDING: &str = "SELECT count(*) FROM rag_vectors WHERE vector IS NULL AND space = (SELECT id FROM rag_spaces WHERE space = ?1)";
    rows(sqlite.database().query(PENDING).bind(space))[0]
}

/// Returns the texts of the passages of a space that have no vector.
pub fn pending_texts(sqlite: &TestDatabase, space: &str) -> Vec<String> {
    const PENDING: &str = "SELECT chunk.text FROM rag_vectors AS vector JOIN rag_chunks AS chunk ON chunk.id = vector.id \
        WHERE vector.vector IS NULL AND vector.space = (SELECT id FROM rag_spaces WHERE space = ?1)";
    rows(sqlite.database().query(PENDING).bind(space))
}

const CHUNKS: &str = "\
SELECT space.space, document.name, json(document.metadata), document.passages, chunk.id, chunk.ordinal, chunk.heading, chunk.text, \
  (SELECT group_concat(link.target || '#' || link.section, ' ') FROM rag_links AS link WHERE link.chunk = chunk.id AND link.space = space.id) \
FROM rag_documents AS document CROSS JOIN rag_spaces AS space ON space.id = document.space \
LEFT JOIN rag_chunks AS chunk ON chunk.document = document.id ORDER BY space.space, document.name, chunk.ordinal";

/// The numbers of rows that must not exist.
const WRONG: &[(&str, &str)] = &[
    ("chunks without a document", "rag_chunks WHERE document NOT IN (SELECT id FROM rag_documents)"),
    ("documents without a space", "rag_documents WHERE space NOT IN (SELECT id FROM rag_spaces)"),
    ("links without a chunk", "rag_links WHERE chunk NOT IN (SELECT id FROM rag_chunks)"),
    ("metadata without a chunk", "rag_metadata WHERE (chunk, document) NOT IN (SELECT id, document FROM rag_chunks)"),
    (
        "links of another space",
        "rag_links AS link JOIN rag_chunks AS chunk ON chunk.id = link.chunk JOIN rag_documents AS document ON document.id = chunk.document WHERE document.space <> link.space",
    ),
    ("words without a chunk", "rag_words WHERE rowid NOT IN (SELECT id FROM rag_chunks)"),
    ("chunks without words", "rag_chunks WHERE id NOT IN (SELECT rowid FROM rag_words)"),
    (
        "wrong counts of spaces",
        "rag_spaces AS space WHERE passages <> (SELECT ifnull(sum(passages), 0) FROM rag_documents WHERE space = space.id)",
    ),
];

/// The terms of the chunks of a space, and those of the index.
const TERMS: &str = "\
SELECT (SELECT sum(length(words) - length(replace(words, '·', ''))) FROM rag_chunks), (\
  SELECT count(*) FROM rag_hits AS hit CROSS JOIN rag_chunks AS chunk ON chunk.id = hit.doc CROSS JOIN rag_documents AS document \
    ON document.id = chunk.document WHERE hit.term LIKE document.space || '·%'\
), (SELECT count(*) FROM rag_hits)";

/// The same for vectors.
const WRONG_VECTORS: &[(&str, &str)] = &[
    ("chunks without a vector", "rag_chunks WHERE id NOT IN (SELECT id FROM rag_vectors)"),
    ("vectors without a chunk", "rag_vectors WHERE id NOT IN (SELECT id FROM rag_chunks)"),
    (
        "vectors of another space",
        "rag_vectors AS vector JOIN rag_chunks AS chunk ON chunk.id = vector.id JOIN rag_documents AS document ON document.id = chunk.document WHERE document.space <> vector.space",
    ),
    (
        "codes without a vector",
        "rag_codes AS code WHERE NOT EXISTS (SELECT 1 FROM rag_vectors AS vector WHERE vector.id = code.id AND vector.space = code.space AND vector IS NOT NULL)",
    ),
    (
        "codes of another document",
        "rag_codes AS code JOIN rag_chunks AS chunk ON chunk.id = code.id WHERE chunk.document <> code.document",
    ),
    (
        "connections without a vector, or with another space",
        "rag_neighbours AS edge WHERE NOT EXISTS (SELECT 1 FROM rag_vectors AS source CROSS JOIN rag_vectors AS target ON target.space = source.space WHERE source.id = edge.source AND target.id = edge.target AND source.id <> target.id AND source.vector IS NOT NULL AND target.vector IS NOT NULL)",
    ),
    ("passages with too many connections", "(SELECT source FROM rag_neighbours GROUP BY source HAVING count(*) > 16)"),
];

/// The same for vectors whose nearest ones no service finds, and for the others.
const WITHOUT_SERVICE: &[(&str, &str)] = &[(
    "vectors without a code",
    "rag_vectors WHERE vector IS NOT NULL AND (space, id / 2048, id) NOT IN (SELECT space, page, id FROM rag_codes)",
)];
const WITH_CODES: &[(&str, &str)] = &[("codes beside the service", "rag_codes")];

/// The passages with a vector, with the names of their spaces.
const WITH_SERVICE: &str = "\
SELECT vector.id, space.space, chunk.heading || char(10) || chunk.text FROM rag_vectors AS vector \
CROSS JOIN rag_chunks AS chunk ON chunk.id = vector.id CROSS JOIN rag_spaces AS space ON space.id = vector.space \
WHERE vector.vector IS NOT NULL";

/// The vectors, with the texts of their passages, their codes, and the centre of the codes.
const VECTORS: &str = "\
SELECT vector.id, chunk.heading || char(10) || chunk.text, vector.vector, code.code, model.centre FROM rag_vectors AS vector \
CROSS JOIN rag_chunks AS chunk ON chunk.id = vector.id \
CROSS JOIN rag_codes AS code ON code.space = vector.space AND code.page = vector.id / 2048 AND code.id = vector.id \
CROSS JOIN rag_models AS model WHERE vector.vector IS NOT NULL";

/// A row of [`CHUNKS`].
type Row = (String, String, String, usize, Option<i64>, Option<usize>, Option<String>, Option<String>, Option<String>);

/// Reads the documents by their spaces and names.
pub fn read(sqlite: &TestDatabase) -> Result<BTreeMap<(String, String), Stored>, String> {
    let database = sqlite.database();
    let mut all: BTreeMap<(String, String), Stored> = BTreeMap::new();
    for (space, name, metadata, passages, id, ordinal, heading, text, links) in rows::<Row>(database.query(CHUNKS)) {
        let stored = all.entry((space, name)).or_default();
        stored.metadata =
            serde_json::from_str(&metadata).map_err(|error| format!("{metadata} is not JSON: {error}"))?;
        stored.version = stored.metadata["version"].as_str().unwrap_or_default().to_owned();
        stored.passages = passages;
        let (Some(id), Some(ordinal), Some(heading), Some(text)) = (id, ordinal, heading, text) else { continue };
        let links = links.unwrap_or_default();
        stored.links.extend(links.split(' ').filter(|link| !link.is_empty()).map(|link| (ordinal, link.to_owned())));
        if ordinal != stored.ids.len() {
            return Err(format!("{stored:?} has a chunk at {ordinal} instead of {}", stored.ids.len()));
        }
        stored.ids.push(id);
        stored.chunks.push((heading, text));
    }
    Ok(all)
}

/// Checks that the other tables agree with the chunks.
pub fn check_others(sqlite: &TestDatabase, has_vectors: bool, service: Option<&VectorService>) -> Result<(), String> {
    let database = sqlite.database();
    no_rows(sqlite, WRONG)?;
    let (stored, of_space, indexed) = rows::<(Option<u64>, u64, u64)>(database.query(TERMS))[0];
    if stored.unwrap_or_default() != of_space || of_space != indexed {
        return Err(format!(
            "the chunks have {stored:?} words, and the index {of_space} of their spaces, and {indexed} of all"
        ));
    }
    if has_vectors {
        no_rows(sqlite, WRONG_VECTORS)?;
    }
    if let Some(service) = service {
        no_rows(sqlite, WITH_CODES)?;
        for (id, name, text) in rows::<(i64, String, String)>(database.query(WITH_SERVICE)) {
            let namespace = Space { index: INDEX.into(), name }.namespace();
            let vector = service.vector(&namespace, id);
            if !vector.as_deref().is_some_and(|vector| embeddings::is_of(&text, vector)) {
                return Err(format!("the passage {id} ({text}) has the vector {vector:?} in the index"));
            }
        }
    } else if has_vectors {
        no_rows(sqlite, WITHOUT_SERVICE)?;
        for (id, text, vector, code, centre) in rows::<(i64, String, String, String, String)>(database.query(VECTORS)) {
            embeddings::check(&text, &vector, &code, &centre)
                .map_err(|problem| format!("the vector of {id} ({text}) {problem}"))?;
        }
    }
    Ok(())
}

/// Checks that there are no such rows.
fn no_rows(sqlite: &TestDatabase, wrong: &[(&str, &str)]) -> Result<(), String> {
    let counts: Vec<_> = wrong.iter().map(|(_, rows)| format!("(SELECT count(*) FROM {rows})")).collect();
    let counts = sqlite.database().query(format!("SELECT json_array({}) AS item", counts.join(", ")));
    let counts: Vec<u64> = serde_json::from_str(&rows::<String>(counts)[0]).expect("numbers");
    match counts.iter().zip(wrong).find(|(count, _)| **count > 0) {
        Some((count, (what, _))) => Err(format!("there are {count} {what}")),
        None => Ok(()),
    }
}
