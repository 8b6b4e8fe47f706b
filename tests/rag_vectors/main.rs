//! The search by meaning, in SQLite and in memory.

// Tests and their helpers may panic when an assumption fails.
#![allow(clippy::expect_used, clippy::panic, clippy::arithmetic_side_effects, clippy::indexing_slicing)]

mod embedder;

use std::rc::Rc;

use edge_mcp::rag::{
    ChunkOptions, Document, Indexer, MemoryStore, Retriever, SearchTool, Space, SqlitePassages, SqliteVectors,
    VectorStore, chunks, migration, vector_migration,
};
use edge_mcp::testing::{self, TestDatabase, call};
use edge_mcp::{Context, Endpoint, HandlerError, McpServer, Tool};
use embedder::Synonyms;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

fn sqlite() -> Rc<SqliteVectors> {
    let database = TestDatabase::empty();
    for sql in [migration("rag"), vector_migration("rag")] {
        database.migrate(&sql.expect("a prefix")).expect("the tables");
    }
    Rc::new(SqliteVectors::new(SqlitePassages::new(database.database())))
}

fn space() -> Space {
    Space { index: "docs".into(), ..Space::default() }
}

fn document(name: &str, text: &str) -> Document {
    Document { name: name.into(), chunks: chunks(text, &ChunkOptions::new()), ..Document::default() }
}

#[derive(Deserialize, JsonSchema)]
struct Saved {
    name: String,
    text: String,
}

/// Returns an endpoint with the tools `save` and `search`.
fn endpoint<S: VectorStore + 'static>(store: &Rc<S>) -> Endpoint {
    let store = store.clone();
    testing::endpoint(move |_| {
        let indexer = Indexer::new(store.clone(), Synonyms);
        let save = move |Saved { name, text }: Saved, cx: Context| {
            let indexer = indexer.clone();
            async move {
                let saved = indexer.save(&space(), &document(&name, &text), &cx).await?;
                Ok::<_, HandlerError>(format!("{} {}", saved.embedded, saved.pending))
            }
        };
        let search = SearchTool::new(Retriever::new("docs", store.clone()).embedder(Synonyms)).name("search");
        let save = Tool::new("save", "Saves a document.", save);
        McpServer::builder("docs", "1.0.0").tool(save).tool(search.tool()).build()
    })
}

async fn found_by_meaning<S: VectorStore + 'static>(store: Rc<S>) {
    let endpoint = endpoint(&store);
    for (name, text) in [("tea", "# Tea\n\nWarm the pot."), ("car", "# Car\n\nStart the engine.")] {
        let saved = call(&endpoint, "save", json!({ "name": name, "text": text })).await;
        assert_eq!(saved.text(), "1 0");
    }
    let answer = call(&endpoint, "search", json!({ "queryText": "heat the kettle", "topK": 1 })).await;
    let answer = answer.structured();
    assert_eq!(answer["sources"][0]["id"], "tea#1", "{answer}");
    assert_eq!(answer["retrieval"], "hybrid", "{answer}");
}

#[test]
fn passages_are_found_by_their_meaning() {
    testing::run(found_by_meaning(Rc::new(MemoryStore::new())));
    testing::run(found_by_meaning(sqlite()));
}
