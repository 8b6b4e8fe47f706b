//! The tables of the store in SQLite.

use edge_mcp::rag::{Link, SaveStore, Space};
use edge_mcp::storage::{Database, SqlValue, Statement};
use edge_mcp::testing;
use serde_json::{Map, Value};

use crate::{document, space, sqlite};

/// Rows that no table may have: parts of a document that is not stored, passages without words, and wrong counts.
const LEFT_OVER: &[&str] = &[
    "rag_chunks WHERE document NOT IN (SELECT id FROM rag_documents)",
    "rag_links WHERE chunk NOT IN (SELECT id FROM rag_chunks)",
    "rag_metadata WHERE (chunk, document) NOT IN (SELECT id, document FROM rag_chunks)",
    "rag_metadata WHERE (document, space) NOT IN (SELECT id, space FROM rag_documents)",
    "rag_words WHERE rowid NOT IN (SELECT id FROM rag_chunks)",
    "rag_chunks WHERE id NOT IN (SELECT rowid FROM rag_words)",
    "rag_documents AS document WHERE passages <> (SELECT count(*) FROM rag_chunks WHERE document = document.id)",
    "rag_spaces AS space WHERE passages <> (SELECT ifnull(sum(passages), 0) FROM rag_documents WHERE space = space.id)",
];

/// The tables that have no rows without documents.
const OF_DOCUMENTS: &[&str] =
    &["rag_chunks", "rag_metadata", "rag_links", "rag_words", "rag_vocabulary", "rag_spaces WHERE passages <> 0"];

async fn assert_empty(database: &Database, tables: &[&'static str]) {
    for table in tables {
        let count: Option<u64> = database.query(format!("SELECT count(*) FROM {table}")).first().await.expect(table);
        assert_eq!(count, Some(0), "{table}");
    }
}

async fn run(database: &Database, sql: &'static str) -> u64 {
    database.query(sql).run().await.expect(sql)
}

/// R103: the tables have nothing that belongs to no document, and nothing after all documents are deleted. Deletes them.
pub(crate) async fn check(database: &Database) {
    assert_empty(database, LEFT_OVER).await;
    run(database, "INSERT INTO rag_words (rag_words) VALUES ('integrity-check')").await;
    assert!(run(database, "DELETE FROM rag_documents").await > 0, "there were documents");
    assert_empty(database, OF_DOCUMENTS).await;
}

/// An export of D1 has no virtual tables.
#[test]
fn an_import_of_the_exported_tables_fills_the_index_again() {
    const TABLES: [&str; 5] = ["rag_spaces", "rag_documents", "rag_chunks", "rag_metadata", "rag_links"];
    let store = sqlite();
    let database = store.database();
    let rows = async |sql: String| database.query(sql).all::<Map<String, Value>>().await.expect("rows");
    let index = async || rows("SELECT term, doc, col FROM rag_hits ORDER BY doc, term".to_owned()).await;
    testing::run(async {
        for nth in 0..3 {
            let text = format!("# Part\n\nThe walnut of number{nth}.\n\n# Other\n\nWalnuts and tulips.");
            let mut document = document(&nth.to_string(), &text);
            document.chunks[0].metadata = Map::from_iter([("page".to_owned(), nth.into())]);
            document.chunks[1].links =
                ["0", "1"].map(|name| Link { document: name.into(), section: Some("Part".into()) }).into();
            let space = Space { name: (nth % 2).to_string(), ..space() };
            assert_eq!(store.save(&space, &document).await.expect("saved").chunks, 2);
        }
        let mut exported = Vec::new();
        for table in TABLES {
            exported.push(rows(format!("SELECT * FROM {table}")).await);
        }
        let before = index().await;
        run(database, "DELETE FROM rag_documents").await;
        run(database, "DELETE FROM rag_spaces").await;
        assert!(index().await.is_empty(), "the index is empty");
        for (table, exported) in TABLES.iter().zip(&exported) {
            for row in exported {
                let columns = row.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                let places = (1..=row.len()).map(|nth| format!("?{nth}")).collect::<Vec<_>>().join(", ");
                let insert = database.query(format!("INSERT INTO {table} ({columns}) VALUES ({places})"));
                row.values().map(bound).fold(insert, Statement::bind).run().await.expect("inserted");
            }
        }
        assert!(before.len() > 20, "{}", before.len());
        assert_eq!(index().await, before);
        for (table, exported) in TABLES.iter().zip(&exported) {
            assert_eq!(&rows(format!("SELECT * FROM {table}")).await, exported, "{table}");
        }
    });
}

/// Returns the value of a column.
fn bound(value: &Value) -> SqlValue {
    match value {
        Value::Number(number) => number.as_i64().expect("an integer").into(),
        Value::String(text) => text.into(),
        Value::Array(bytes) => {
            let byte = |byte: &Value| byte.as_u64().and_then(|byte| u8::try_from(byte).ok()).expect("a byte");
            SqlValue::Blob(bytes.iter().map(byte).collect())
        }
        _ => panic!("{value}"),
    }
}
