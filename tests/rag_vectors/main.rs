//! The search by meaning, in SQLite and in memory.

// Tests and their helpers may panic when an assumption fails.
#![allow(clippy::expect_used, clippy::panic, clippy::arithmetic_side_effects, clippy::indexing_slicing)]
// An indexer returns what it indexed.
#![allow(clippy::similar_names)]

mod comparison;
mod contract;
mod database;
mod embedder;
mod failures;
mod graph;
mod races;
mod refusals;
mod retrieval;
mod tables;
mod vector_index;

use std::rc::Rc;

use edge_mcp::rag::{
    ChunkOptions, Document, Edge, Filter, Indexer, MemoryStore, Passage, PassageId, Retriever, SaveStore, Search,
    SearchResult, SearchStore, SearchTool, Space, SqliteVectors, StoreError, VectorStore, chunks,
};
use edge_mcp::testing::{self, call};
use edge_mcp::{Context, Endpoint, HandlerError, McpServer, Tool};
use embedder::Synonyms;
use futures::future::LocalBoxFuture;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;

fn sqlite() -> Rc<SqliteVectors> {
    Rc::new(database::store_in(&database::empty()))
}

fn space() -> Space {
    Space { index: "docs".into(), ..Space::default() }
}

fn document(name: &str, text: &str) -> Document {
    Document { name: name.into(), chunks: chunks(text, &ChunkOptions::new()), ..Document::default() }
}

/// Saves documents with one passage each.
async fn save(store: &dyn SaveStore, space: &Space, texts: impl IntoIterator<Item = (String, String)>) {
    for (name, text) in texts {
        store.save(space, &document(&name, &text)).await.expect("saved");
    }
}

/// A part of a store: all searches are in one space.
struct InSpace {
    store: Rc<dyn SearchStore>,
    space: Space,
}

impl SearchStore for InSpace {
    fn search(&self, search: Search) -> LocalBoxFuture<'_, Result<SearchResult, StoreError>> {
        self.store.search(Search { space: self.space.clone(), ..search })
    }

    fn passages<'a>(
        &'a self,
        _: &'a Space,
        ids: &'a [PassageId],
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Passage>, StoreError>> {
        self.store.passages(&self.space, ids, filter)
    }

    fn edges<'a>(
        &'a self,
        _: &'a Space,
        seeds: &'a [PassageId],
        threshold: f64,
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Edge>, StoreError>> {
        self.store.edges(&self.space, seeds, threshold, filter)
    }
}

#[derive(Deserialize, JsonSchema)]
struct SaveCounts {
    name: String,
    text: String,
}

/// Returns an endpoint with the tools `save` and `search`.
fn endpoint<S: VectorStore + 'static>(store: &Rc<S>) -> Endpoint {
    let store = store.clone();
    testing::endpoint(move |_| {
        let indexer = Indexer::new(store.clone(), Synonyms::default());
        let save = move |SaveCounts { name, text }: SaveCounts, cx: Context| {
            let indexer = indexer.clone();
            async move {
                let saved = indexer.save(&space(), &document(&name, &text), &cx).await?;
                Ok::<_, HandlerError>(format!("{} {}", saved.embedded, saved.pending))
            }
        };
        let search =
            SearchTool::new(Retriever::new("docs", store.clone()).embedder(Synonyms::default())).name("search");
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
