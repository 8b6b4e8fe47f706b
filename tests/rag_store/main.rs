//! Compares the stores, in memory and in SQLite, with a simple model and with each other, and checks the tables of the store in SQLite.
//!
//! A failure prints its seed.

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects)]

mod comparison;
mod cost;
mod headings;
mod isolation;
mod languages;
mod model;
mod rows;
mod tables;

use std::rc::Rc;

use comparison::{Comparison, Store};
use edge_mcp::rag::{self, ChunkOptions, Document, MemoryStore, Space, SqlitePassages, chunks};
use edge_mcp::testing::{self, TestDatabase};
use edge_mcp_test_support::random::{self, Random};
use serde_json::Map;

fn memory() -> Rc<MemoryStore> {
    Rc::new(MemoryStore::new())
}

/// Returns a store in SQLite.
fn sqlite() -> Rc<SqlitePassages> {
    Rc::new(sqlite_with(""))
}

/// Returns a store in a database that has also run the migration of a program.
fn sqlite_with(migration: &str) -> SqlitePassages {
    let database = TestDatabase::empty();
    for sql in [&rag::migration("rag").expect("a prefix"), migration] {
        database.migrate(sql).expect("the tables");
    }
    SqlitePassages::new(database.database())
}

fn space() -> Space {
    Space { index: "docs".into(), name: String::new() }
}

fn document(name: &str, text: &str) -> Document {
    let chunks = chunks(text, &ChunkOptions::new());
    Document { name: name.into(), metadata: Map::new(), chunks }
}

/// R22, R26, R40, R62, R66, R72, R84, R85 and R103: after random changes, the store has the passages and the edges of the model.
#[test]
fn the_store_in_memory_has_the_passages_of_a_model() {
    for seed in 0..6 {
        println!("seed {seed}");
        testing::run(async { changed(vec![Box::new(MemoryStore::new())], seed, 100).await });
    }
}

/// R22, R26, R29, R40, R62, R66, R72, R84, R85 and R103: the same, and the tables have nothing else.
#[test]
fn the_store_in_sqlite_has_the_passages_of_a_model_and_of_the_store_in_memory() {
    for seed in 0..3 {
        println!("seed {seed}");
        let sqlite = sqlite_with("");
        testing::run(async {
            changed(vec![Box::new(sqlite.clone()), Box::new(MemoryStore::new())], seed, 40).await;
            tables::check(sqlite.database()).await;
        });
    }
}

async fn changed(stores: Vec<Box<dyn Store>>, seed: u64, changes: usize) {
    let (mut comparison, mut random) = (Comparison::new(stores), Random::new(seed));
    for _ in 0..changes {
        comparison.step(&mut random).await;
    }
}

/// R91: the correction of a word does not tell whether others use it.
#[test]
fn corrections_do_not_depend_on_the_documents_of_others() {
    testing::run(async {
        isolation::corrections(&memory()).await;
        isolation::corrections(&sqlite()).await;
    });
}

/// R91: the scores of own passages do not tell how many passages of others contain a word.
#[test]
fn scores_do_not_depend_on_the_documents_of_others() {
    testing::run(async {
        isolation::scores(&memory()).await;
        isolation::scores(&sqlite()).await;
    });
}

/// R91: the order of own passages does not tell how many passages of others contain a word, or how long these passages are.
#[test]
fn the_order_of_passages_does_not_depend_on_the_documents_of_others() {
    testing::run(async {
        isolation::order(&memory()).await;
        isolation::order(&sqlite()).await;
    });
}

/// R85 and R91: connected passages do not tell the links and the sections of others.
#[test]
fn connections_do_not_depend_on_the_documents_of_others() {
    testing::run(async {
        isolation::connections(&memory()).await;
        isolation::connections(&sqlite()).await;
    });
}

/// R91: metadata of chunks can hide passages of a document that the caller sees.
#[test]
fn hidden_passages_of_a_visible_document_have_no_effect() {
    testing::run(async {
        isolation::hidden_passages(&memory()).await;
        isolation::hidden_passages(&sqlite()).await;
    });
}

/// R88 and R91: a caller gets the same bytes, whatever other documents are stored.
#[test]
fn random_documents_of_others_have_no_effect() {
    for seed in 0..2 {
        println!("seed {seed}");
        testing::run(async {
            isolation::random(&memory(), &mut Random::new(seed), 6).await;
            isolation::random(&sqlite(), &mut Random::new(seed), 2).await;
        });
    }
}
