//! Prints statements for SQLite that evaluate random filters on random metadata, with the results of `Filter::matches`.
//!
//! Each line is a JSON object: a statement, its parameters, the filters (one for each column), the metadata (one for each row), and the
//! expected rows. tests/e2e/filters.test.mjs runs the statements in D1.
//!
//! Usage: `filter_pairs SEED COUNT`

#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

mod pairs;

use edge_mcp::rag::{Filter, Scalar};
use edge_mcp_test_support::random::{self, Random};
use serde_json::{Map, Value, json};

/// The number of filters in a statement, and the number of documents that each of them is evaluated on.
const FILTERS: usize = 25;
const DOCUMENTS: usize = 10;

/// A filter, and the JSON that it was read from.
type Named = (Filter, String);

fn main() {
    let mut arguments = std::env::args().skip(1).map(|argument| argument.parse::<u64>().expect("a number"));
    let mut random = Random::new(arguments.next().expect("a seed"));
    let pairs = usize::try_from(arguments.next().expect("a count")).expect("a count");
    for _ in 0..pairs / (FILTERS * DOCUMENTS) {
        let filters: Vec<Named> = (0..FILTERS).map(|_| pairs::filter(&mut random)).collect();
        let documents: Vec<Map<String, Value>> = (0..DOCUMENTS).map(|_| pairs::metadata(&mut random)).collect();
        print(&filters, &documents);
    }
    for filters in every_operator().chunks(FILTERS) {
        print(filters, &every_value());
    }
    for filter in largest() {
        print(&[filter], &every_value());
    }
}

/// Returns each operator with each kind of value.
fn every_operator() -> Vec<Named> {
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
    json.map(|json| (Filter::from_json(&json).expect("a filter"), json)).collect()
}

/// Returns documents with each kind of value.
fn every_value() -> Vec<Map<String, Value>> {
    let values = json!([
        null, "x", "X", "xy", "y", "", "1", "true", 1, 1.0, 1.5, -1, 0, 9_007_199_254_740_992_u64, 9_007_199_254_740_993_u64,
        true, false, [], ["x"], ["xy", 1], [true, 2], {}, { "x": "x" }
    ]);
    let documents = values.as_array().expect("an array").iter().map(|value| json!({ "a": value }));
    documents.chain([json!({})]).filter_map(|document| document.as_object().cloned()).collect()
}

/// Returns the largest filters. SQLite limits the length of a statement, and the depth of an expression.
fn largest() -> [Named; 2] {
    let values = || [Scalar::from("x"), Scalar::from(1), Scalar::from(true)];
    let widest = (0..80).map(|_| Filter::any_of("a", values())).reduce(Filter::or).expect("tests");
    let deepest = (0..22).fold(Filter::eq("a", "x"), |filter, nth| match nth % 3 {
        0 => filter.or(Filter::gt("b", nth)),
        1 => filter.and(Filter::none_of("c", [nth])),
        _ => Filter::not(filter),
    });
    [(widest, "80 tests".into()), (deepest, "22 levels".into())]
}

/// Prints a statement that evaluates the filters on the documents.
fn print(filters: &[Named], documents: &[Map<String, Value>]) {
    let (mut columns, mut values) = (Vec::new(), vec![json!(documents).to_string()]);
    for (filter, _) in filters {
        let parameter = u8::try_from(values.len() + 1).expect("few parameters");
        let condition = filter.to_sql("documents.metadata", parameter).expect("a valid filter");
        columns.push(condition.text);
        values.push(condition.values);
    }
    let row = |document| filters.iter().map(|(filter, _)| u8::from(filter.matches(document))).collect::<Vec<_>>();
    let line = json!({
        "statement": format!("SELECT {} FROM (SELECT value AS metadata FROM json_each(?1)) AS documents", columns.join(", ")),
        "values": values,
        "filters": filters.iter().map(|(_, json)| json).collect::<Vec<_>>(),
        "documents": documents,
        "expected": documents.iter().map(row).collect::<Vec<_>>(),
    });
    println!("{line}");
}
