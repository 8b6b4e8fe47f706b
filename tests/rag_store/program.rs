//! Saves, changes and removes random documents in a store with SQLite and in a store in memory. Compares both with a simple model, and with
//! each other, after each change.
//!
//! The database is the process that starts this program. Each line of the output is a batch: a JSON array of statements, as `[sql, values]`.
//! The answer is a line with a JSON object: `{"rows": …}` with the rows of each statement, or `{"error": …}`. tests/e2e/passages.test.mjs
//! answers from D1.
//!
//! With `isolation`, it checks instead that the answers to a caller do not depend on documents that the caller cannot see.
//!
//! With `filter`, it searches without a filter, and then with the largest filter of a caller.
//!
//! Usage: `passage_store SEED CHANGES`, `passage_store SEED isolation` or `passage_store SEED filter`

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod comparison;
mod isolation;
mod model;

use std::io::{Write, stdin, stdout};
use std::rc::Rc;

use comparison::{Comparison, Store};
use edge_mcp::rag::{
    ChunkOptions, Database, Document, Filter, MemoryStore, PassageStore, Query, Saved, Search, Space, SqlitePassages,
    Statement, StoreError, StoreFailure, chunks,
};
use edge_mcp::testing;
use edge_mcp_test_support::random::{self, Random};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};
use serde_json::{Map, Value, json};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut random = Random::new(arguments.next().and_then(|seed| seed.parse().ok()).expect("a seed"));
    let part = arguments.next().expect("a number of changes, or `isolation`");
    testing::run(async {
        if part == "isolation" {
            let store = Rc::new(SqlitePassages::new(Parent));
            isolation::corrections(&store).await;
            isolation::scores(&store).await;
            isolation::order(&store).await;
            isolation::connections(&store).await;
            return isolation::random(&store, &mut random, 2).await;
        }
        if part == "filter" {
            return search_with_the_largest_filter(&SqlitePassages::new(Parent)).await;
        }
        let mut comparison = Comparison::new(vec![Box::new(SqlitePassages::new(Parent)), Box::new(MemoryStore::new())]);
        for _ in 0..part.parse().expect("a number of changes") {
            comparison.step(&mut random).await;
        }
    });
}

/// Saves 12 documents with 10 passages and 20 tags each, and searches a word of all passages twice.
async fn search_with_the_largest_filter(store: &SqlitePassages<Parent>) {
    let space = Space { index: "docs".into(), name: "tags".into() };
    let tags: Vec<_> = (0..20).map(|nth| format!("tag-{nth}")).collect();
    let text = (0..10).fold(String::new(), |text, nth| text + &format!("# Part {nth}\n\nThe walnut.\n\n"));
    for nth in 0..12 {
        let document = Document {
            name: format!("d{nth}"),
            metadata: Map::from_iter([("tags".to_owned(), json!(tags))]),
            chunks: chunks(&text, &ChunkOptions::new()),
            links: Vec::new(),
        };
        assert_eq!(store.save(&space, &document).await.expect("saved").chunks, 10);
    }
    let largest = (0..10).map(|nth| Filter::ne("tags", format!("no-tag-{nth}"))).fold(Filter::default(), Filter::and);
    for filter in [Filter::default(), largest] {
        let search = Search { space: space.clone(), query: Query::new("walnut"), filter, most: 50 };
        assert_eq!(store.search(search).await.expect("a search").indexed, 120);
    }
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
            let failing =
                Statement { sql: "INSERT INTO rag_spaces (index_name) VALUES (NULL)".into(), values: Vec::new() };
            statements.insert(random.below(statements.len() + 1), failing);
            assert!(self.database().batch(statements).await.is_err());
        }
        .boxed_local()
    }
}
