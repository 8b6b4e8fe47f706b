//! The arguments of the tools.

use std::path::Path;

use edge_mcp::rag::{GraphOptions, SearchTool};
use edge_mcp::testing::{self, Client, call};
use serde_json::{Value, json};

use crate::golden::compare_tools;
use crate::server::{docs, endpoint, ids, searched, store, tool};

/// R4, R5 and R110: names, descriptions, schemas and annotations.
#[test]
fn the_tools_are_as_published() {
    compare_tools(&endpoint(), Path::new("tests/rag_tools/tools.golden.json"));
}

/// R2: without fields, there is no argument `filter`. Default names contain the index.
#[test]
fn without_fields_there_is_no_filter() {
    let store = store();
    let endpoint = testing::endpoint(move |_| {
        let search = SearchTool::new(docs(&store)).tool();
        let related = SearchTool::new(docs(&store).graph(GraphOptions::default())).tool();
        edge_mcp::McpServer::builder("docs", "1.0.0").tool(search).tool(related).build()
    });
    testing::run(async {
        let list = Client::new(&endpoint).list("tools").await;
        assert_eq!(list.names(), ["search-docs", "related-docs"]);
        let properties =
            list.result()["tools"][0]["inputSchema"]["properties"].as_object().cloned().expect("properties");
        assert_eq!(properties.keys().collect::<Vec<_>>(), ["queryText", "topK"]);
        let arguments = json!({ "queryText": "tea", "filter": { "category": "drinks" } });
        let answer = call(&endpoint, "search-docs", arguments).await;
        assert!(answer.is_error() && answer.text().contains("`filter`"), "{}", answer.text());
    });
}

/// R1, R2, R3, R14, R107 and R110: each invalid argument is an error that names it, in both tools.
#[test]
fn each_invalid_argument_is_named() {
    let endpoint = endpoint();
    let long = "x".repeat(2001);
    let filter = |filter: Value| json!({ "queryText": "tea", "filter": filter });
    for (arguments, message) in [
        (json!({}), "queryText"),
        (json!({ "queryText": "" }), "queryText"),
        (json!({ "queryText": long }), "queryText"),
        (json!({ "queryText": 5 }), "queryText"),
        (json!({ "queryText": " \n\t" }), "Argument `queryText` must not be blank."),
        (json!({ "queryText": "tea", "topK": 0 }), "topK"),
        (json!({ "queryText": "tea", "topK": 51 }), "topK"),
        (json!({ "queryText": "tea", "topK": 1.5 }), "topK"),
        (json!({ "queryText": "tea", "topK": "5" }), "topK"),
        (json!({ "queryText": "tea", "vector": [1] }), "vector"),
        (json!({ "queryText": "tea", "space": "other" }), "space"),
        (filter(json!(5)), "filter"),
        (filter(json!(null)), "filter"),
        (filter(json!("tea")), "Argument `filter`: the text is not JSON (byte 0). Send an object."),
        (
            filter(json!({ "colour": "red" })),
            "Argument `filter`: field `colour` is not declared. Declared fields: category, version.",
        ),
        (filter(json!("{\"colour\": 1}")), "Argument `filter`: field `colour` is not declared."),
        (filter(json!({ "version": { "$regex": "1" } })), "$regex"),
        (filter(json!({ "version": {} })), "version"),
        (filter(json!({ "$or": [] })), "$or"),
    ] {
        for tool in ["search", "related"] {
            let answer = testing::run(call(&endpoint, tool, arguments.clone()));
            assert!(answer.error().is_none() && answer.is_error(), "{arguments}: {}", answer.text());
            assert!(answer.text().contains(message), "{arguments}: {}", answer.text());
            assert_eq!(answer.structured(), &Value::Null);
        }
    }
}

/// R1 and R2: optional arguments. A filter is an object or the same object as JSON text.
#[test]
fn valid_arguments_are_accepted() {
    let endpoint = endpoint();
    for (arguments, expected) in [
        (json!({ "queryText": "warm tea" }), &["tea#1", "tea#2", "pots#1"][..]),
        (json!({ "queryText": "warm tea", "topK": 1 }), &["tea#1"]),
        (json!({ "queryText": "warm tea", "topK": 50 }), &["tea#1", "tea#2", "pots#1"]),
        (json!({ "queryText": "warm tea", "filter": {} }), &["tea#1", "tea#2", "pots#1"]),
        (json!({ "queryText": "warm tea", "filter": "{}" }), &["tea#1", "tea#2", "pots#1"]),
        (json!({ "queryText": "warm tea", "filter": { "category": "things" } }), &["pots#1"]),
        (json!({ "queryText": "warm tea", "filter": "{\"version\": {\"$gte\": 2}}" }), &["tea#1", "tea#2"]),
        (json!({ "queryText": "x".repeat(2000) }), &[]),
        (json!({ "queryText": "\"".repeat(2000) }), &[]),
        (json!({ "queryText": "'; DROP TABLE rag_chunks; -- NEAR( AND title:tea* \0" }), &["tea#1", "tea#2"]),
    ] {
        assert_eq!(ids(&searched(&endpoint, arguments.clone())), expected, "{arguments}");
    }
}

/// The maximum of `topK` is that of the tool.
#[test]
fn the_maximum_of_top_k_can_be_lowered() {
    let store = store();
    let endpoint = crate::server::endpoint_with(None, move || tool(docs(&store).most(2)).tool());
    assert_eq!(ids(&searched(&endpoint, json!({ "queryText": "warm tea" }))).len(), 2);
    assert!(searched(&endpoint, json!({ "queryText": "warm tea", "topK": 3 })).is_error());
}
