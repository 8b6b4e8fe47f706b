//! Saves, changes and removes random documents in a store with SQLite and in a store in memory. Compares both with a simple model, and with
//! each other, after each change.
//!
//! The database is the process that starts this program. Each line of the output is a batch: a JSON array of statements, as `[sql, values]`.
//! The answer is a line with a JSON object: `{"rows": …}` with the rows of each statement, or `{"error": …}`. tests/e2e/passages.test.mjs
//! answers from D1.
//!
//! Usage: `passage_store SEED CHANGES`

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod comparison;
mod model;
#[path = "../property/random.rs"]
#[allow(dead_code, unreachable_pub, reason = "other tests use the other functions")]
mod random;

use std::io::{Write, stdin, stdout};

use comparison::{Comparison, Store};
use edge_mcp::rag::{
    Database, Document, MemoryStore, Saved, Space, SqlitePassages, Statement, StoreError, StoreFailure,
};
use edge_mcp::testing;
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};
use random::Random;
use serde_json::{Value, json};

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().expect("a number"));
    let mut random = Random::new(arguments.next().expect("a seed"));
    let changes = arguments.next().expect("a number of changes");
    testing::run(async {
        let mut comparison = Comparison::new(vec![Box::new(SqlitePassages::new(Parent)), Box::new(MemoryStore::new())]);
        for _ in 0..changes {
            comparison.step(&mut random).await;
        }
    });
}

/// The database of the process that starts this program.
struct Parent;

impl Database for Parent {
    fn batch(&self, statements: Vec<Statement>) -> LocalBoxFuture<'_, Result<Vec<Vec<String>>, StoreError>> {
        let batch: Vec<Value> = statements.iter().map(|Statement { sql, values }| json!([sql, values])).collect();
        let mut out = stdout().lock();
        writeln!(out, "{}", Value::Array(batch)).and_then(|()| out.flush()).expect("the parent reads");
        let mut line = String::new();
        stdin().read_line(&mut line).expect("the parent answers");
        let mut answer: Value = serde_json::from_str(&line).expect("JSON");
        let error = |cause: &str| StoreError { kind: StoreFailure::Unavailable, cause: cause.to_owned() };
        ready(match answer["error"].as_str() {
            Some(cause) => Err(error(cause)),
            None => Ok(serde_json::from_value(answer["rows"].take()).expect("rows")),
        })
        .boxed_local()
    }
}

impl Store for SqlitePassages<Parent> {
    fn save_all<'a>(&'a self, space: &'a Space, documents: &'a [Document]) -> LocalBoxFuture<'a, Saved> {
        async move { Self::save_all(self, space, documents).await.expect("saved") }.boxed_local()
    }

    /// R62, R111: a batch with a statement that fails changes nothing.
    fn fail<'a>(
        &'a self,
        space: &'a Space,
        documents: &'a [Document],
        random: &'a mut Random,
    ) -> LocalBoxFuture<'a, ()> {
        async move {
            let mut statements = self.save_statements(space, documents).expect("statements");
            let failing = Statement { sql: "INSERT INTO rag_size VALUES (NULL)".into(), values: Vec::new() };
            statements.insert(random.below(statements.len() + 1), failing);
            assert!(self.database().batch(statements).await.is_err());
        }
        .boxed_local()
    }
}
