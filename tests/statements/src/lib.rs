//! The outcomes that are equal on both machines: `SQLite` and D1, the map of the tests and Workers KV. Each case of the tables runs on both.
//!
//! docs/testing.md lists the rules of the cases, and a test compares the two.
#![forbid(unsafe_code)]

mod filters;
mod keys;
mod passages;
mod sql;
mod vectors;

use edge_mcp::Context;
use edge_mcp::rag::{SqlitePassages, SqliteVectors};
use edge_mcp::storage::{Database, KvStore};

/// A case that failed: its name, and the difference.
pub type Failure = String;

/// Runs all cases on a database without tables. Returns the failures.
pub async fn check_database(database: &Database) -> Vec<Failure> {
    sql::check(database).await
}

/// Runs all cases on an empty store. Returns the failures.
pub async fn check_store(store: &KvStore) -> Vec<Failure> {
    keys::check(store).await
}

/// Runs each statement of the store of passages and vectors, and the conditions of filters with each operator. The database has the tables of the store,
/// and these stay without documents. Returns the failures.
pub async fn check_passages(database: &Database, cx: &Context) -> Vec<Failure> {
    let store = SqlitePassages::new(database.clone());
    let mut failures = passages::check(&store).await;
    failures.extend(filters::check(&store).await);
    failures.extend(vectors::check(&SqliteVectors::new(store), cx).await);
    failures
}

/// Returns the rules of all cases, in the order of docs/testing.md.
#[must_use]
pub fn rules() -> Vec<&'static str> {
    let mut rules: Vec<_> = sql::cases().into_iter().map(|case| case.rule).chain(keys::RULES.iter().copied()).collect();
    rules.dedup();
    rules
}
