//! Filters: their semantics, in Rust and in SQLite, the argument `filter`, and filters of the program.

// Tests may panic when an assumption fails.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects)]

mod argument;
mod pairs;
mod program;
mod schema;
mod semantics;
mod sql;

use edge_mcp::json::{Document, JsonLimits};
use edge_mcp::rag::{Fields, Filter};
use edge_mcp_test_support::random;
use serde_json::Value;

/// The declared fields of the tests.
fn fields() -> Fields {
    Fields::new()
        .text("category", "Subject")
        .number("version", "Release")
        .boolean("draft", "Whether the document is unfinished")
        .text("author.name", "Name of the author")
        .text("rights.holder.address.city", "City of the holder of the rights")
}

/// Reads an argument. Returns the message of an error.
fn argument(json: &str) -> Result<Filter, String> {
    let document = Document::parse(json.as_bytes(), JsonLimits::default()).expect("JSON");
    Filter::parse(document.root(), &fields()).map_err(|error| error.message().to_owned())
}

/// Reads a filter that can use every field.
fn filter(json: &Value) -> Filter {
    Filter::from_json(&json.to_string()).unwrap_or_else(|error| panic!("{json}: {error}"))
}

fn matches(filter: &Filter, metadata: &Value) -> bool {
    filter.matches(metadata.as_object().expect("an object"))
}
