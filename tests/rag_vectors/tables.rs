//! The tables of the vectors.

use edge_mcp::storage::Database;

/// Rows that no table may have: vectors, codes and connections of passages that are not stored or have no vector, and those of another space.
const LEFT_OVER: &[&str] = &[
    "rag_vectors WHERE id NOT IN (SELECT id FROM rag_chunks)",
    "rag_chunks WHERE id NOT IN (SELECT id FROM rag_vectors)",
    "rag_vectors AS vector WHERE space <> (\
       SELECT document.space FROM rag_chunks AS chunk JOIN rag_documents AS document ON document.id = chunk.document WHERE chunk.id = vector.id\
     )",
    "rag_codes WHERE id NOT IN (SELECT id FROM rag_vectors WHERE vector IS NOT NULL)",
    "rag_vectors WHERE vector IS NOT NULL AND id NOT IN (SELECT id FROM rag_codes)",
    "rag_codes AS code WHERE page <> id / 2048 OR space <> (SELECT space FROM rag_vectors WHERE id = code.id)",
    "rag_codes AS code WHERE document <> (SELECT document FROM rag_chunks WHERE id = code.id)",
    "rag_codes WHERE length(code) <> (SELECT max(length(code)) FROM rag_codes)",
    "rag_neighbours WHERE source NOT IN (SELECT id FROM rag_vectors WHERE vector IS NOT NULL)",
    "rag_neighbours WHERE target NOT IN (SELECT id FROM rag_vectors WHERE vector IS NOT NULL)",
    "rag_neighbours AS edge JOIN rag_vectors AS one ON one.id = source JOIN rag_vectors AS other ON other.id = target \
     WHERE one.space <> other.space",
    "(SELECT source FROM rag_neighbours GROUP BY source HAVING count(*) > 16)",
    "rag_vectors AS vector JOIN rag_spaces AS space ON space.id = vector.space \
     WHERE vector IS NOT NULL AND index_name NOT IN (SELECT index_name FROM rag_models)",
];

pub(crate) async fn count(database: &Database, table: &str) -> u64 {
    let count = database.query(format!("SELECT count(*) FROM {table}")).first().await;
    count.unwrap_or_else(|error| panic!("{table}: {error}")).expect("a row")
}

/// R103: no table of the vectors has anything that belongs to no passage.
pub(crate) async fn check(database: &Database) {
    for table in LEFT_OVER {
        assert_eq!(count(database, table).await, 0, "{table}");
    }
}

/// R66, R103: nothing is left after all documents are deleted.
pub(crate) async fn check_after_all_is_deleted(database: &Database) {
    database.query("DELETE FROM rag_documents").run().await.expect("deleted");
    for table in ["rag_vectors", "rag_codes", "rag_neighbours"] {
        assert_eq!(count(database, table).await, 0, "{table}");
    }
}
