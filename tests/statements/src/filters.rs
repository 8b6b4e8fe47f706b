//! The conditions of filters: each operator with each kind of value.

use std::collections::BTreeSet;

use edge_mcp::rag::{
    ChunkOptions, Document, Filter, SaveStore, Scalar, Search, SearchStore, Space, SqlitePassages, StoreError, chunks,
};
use serde_json::{Value, json};

use crate::Failure;

/// Saves a document for each kind of value, and compares the passages that each filter allows with `Filter::matches`.
pub(crate) async fn check(store: &SqlitePassages) -> Vec<Failure> {
    let mut failures = Vec::new();
    if let Err(error) = run(store, &mut failures).await {
        failures.push(format!("filters: {error:?}"));
    }
    failures
}

async fn run(store: &SqlitePassages, failures: &mut Vec<Failure>) -> Result<(), StoreError> {
    let space = Space { index: "statements".into(), name: "filters".into() };
    let documents = documents();
    store.save_all(&space, &documents).await?;
    let search = Search { space: space.clone(), ..Search::new("walnut").top_k(100) };
    let ids: Vec<_> = store.search(search).await?.passages.iter().map(|found| found.passage.id).collect();
    for (filter, json) in filters() {
        let passages = store.passages(&space, &ids, &filter).await?;
        let allowed: BTreeSet<_> = passages.into_iter().map(|passage| passage.document).collect();
        let matching = documents.iter().filter(|document| filter.matches(&document.metadata));
        let expected: BTreeSet<_> = matching.map(|document| document.name.clone()).collect();
        if allowed != expected {
            failures.push(format!("filter {json}: {allowed:?}, expected {expected:?}"));
        }
    }
    for document in &documents {
        if !store.remove(&space, &document.name).await? {
            failures.push(format!("filters: the document {} was not stored", document.name));
        }
    }
    Ok(())
}

/// Returns documents whose metadata has each kind of value. A document is named by its metadata.
fn documents() -> Vec<Document> {
    let values = [
        json!(null),
        json!("x"),
        json!("X"),
        json!("xy"),
        json!("y"),
        json!(""),
        json!("1"),
        json!("true"),
        json!(1),
        json!(1.0),
        json!(1.5),
        json!(-1),
        json!(0),
        json!(9_007_199_254_740_992_u64),
        json!(9_007_199_254_740_993_u64),
        json!(true),
        json!(false),
        json!([]),
        json!(["x"]),
        json!(["xy", 1]),
        json!([true, 2]),
        json!({}),
        json!({ "x": "x" }),
    ];
    let metadata = values.into_iter().map(|value| json!({ "a": value })).chain([json!({})]);
    let document = |metadata: Value| Document {
        name: metadata.to_string(),
        metadata: metadata.as_object().cloned().unwrap_or_default(),
        chunks: chunks("The walnut.", &ChunkOptions::new()),
    };
    metadata.map(document).collect()
}

/// Returns each operator with each kind of value, and the largest filters, with their names.
fn filters() -> Vec<(Filter, String)> {
    let operands =
        [json!("x"), json!("xy"), json!(""), json!("1"), json!(1), json!(9_007_199_254_740_993_u64), json!(true)];
    let mut tests = vec![json!({ "$exists": true }), json!({ "$in": [] }), json!({ "$nin": operands })];
    for operand in operands {
        tests.extend(["$eq", "$ne", "$contains"].map(|operator| json!({ operator: operand })));
        if !operand.is_boolean() {
            tests.extend(["$gt", "$gte", "$lt", "$lte"].map(|operator| json!({ operator: operand })));
        }
    }
    let json = tests.into_iter().map(|test| json!({ "a": test }).to_string());
    // Nothing matches a filter that is not valid, so a mistake in the table is a failure.
    let mut filters: Vec<_> =
        json.map(|json| (Filter::from_json(&json).unwrap_or(Filter::exists("$")), json)).collect();
    filters.extend(largest());
    filters
}

/// Returns the largest filters. There is a limit for the length of a statement, and one for the depth of an expression.
fn largest() -> [(Filter, String); 2] {
    let values = || [Scalar::from("x"), Scalar::from(1), Scalar::from(true)];
    let widest = (1..80).fold(Filter::any_of("a", values()), |filter, nth| {
        filter.or(Filter::any_of("a", values().into_iter().chain([Scalar::from(nth)])))
    });
    let deepest = (0..22).fold(Filter::eq("a", "x"), |filter, nth| match nth % 3 {
        0 => filter.or(Filter::gt("b", nth)),
        1 => filter.and(Filter::none_of("c", [nth])),
        _ => Filter::not(filter),
    });
    [(widest, "of 80 tests".to_owned()), (deepest, "of 22 levels".to_owned())]
}
