//! Fuzzes filters. Nothing panics, both forms of the argument `filter` have the same result, and filters have two truth values. A caller's
//! filter reads the metadata of a document a limited number of times.
//!
//! The first line of the input is a filter as JSON, and the second line is metadata.
#![no_main]

use edge_mcp::json::{Document, JsonLimits};
use edge_mcp::rag::{Fields, Filter, check_metadata};
use edge_json_schema::Validator;
use libfuzzer_sys::fuzz_target;
use serde_json::{Map, Value, json};

/// The most tests in the argument `filter`.
const TESTS: usize = 10;
/// The longest condition, in bytes. A statement of D1 has at most 100 KB.
const LONGEST: usize = 95_000;

fuzz_target!(|input: &str| {
    let (json, metadata) = input.split_once('\n').unwrap_or((input, "{}"));
    let fields = Fields::new().text("a", "A").number("b", "B").boolean("c", "C");
    let metadata: Map<String, Value> = serde_json::from_str(metadata).unwrap_or_default();
    let _ = check_metadata(&metadata);

    if let Ok(filter) = Filter::from_json(json) {
        check(&filter, &metadata);
    }
    let Ok(document) = Document::parse(json.as_bytes(), JsonLimits::default()) else { return };
    let text = Value::from(json).to_string();
    let of_text = Document::parse(text.as_bytes(), JsonLimits::default()).expect("a string");
    let parse = |document: &Document<'_>| {
        let parsed = Filter::parse(document.root(), &fields);
        parsed.map_err(|error| {
            assert!(error.message().starts_with("Argument `filter`: ") && error.message().len() < 3000, "{json}");
            error.message().to_owned()
        })
    };
    let parsed = parse(&document);
    if document.root().as_str().is_none() {
        let again = parse(&of_text);
        // A text has its own message if it is nested too deeply to be parsed.
        assert!(parsed == again || (parsed.is_err() && again.is_err()), "{json}: {parsed:?} {again:?}");
    }
    if let Ok(filter) = parsed {
        check(&filter, &metadata);
        check_cost(&filter);
        // The schema counts the spaces of a text, and the parser does not.
        assert!(document.root().as_str().is_some() || is_in_schema(json, &fields), "{json}");
    }
});

/// Checks the properties of a valid filter.
fn check(filter: &Filter, metadata: &Map<String, Value>) {
    let matches = filter.matches(metadata);
    assert_ne!(Filter::not(filter.clone()).matches(metadata), matches);
    let other = Filter::eq("a", "x");
    assert_eq!(filter.clone().and(other.clone()).matches(metadata), matches && other.matches(metadata));
    let condition = filter.to_sql("documents.metadata", 2).expect("a valid filter");
    assert!(condition.text.len() < LONGEST);
    assert_eq!(condition.text.matches('?').count(), condition.text.matches("?2").count(), "{}", condition.text);
    let values: Value = serde_json::from_str(&condition.values).expect("JSON");
    assert!(values.is_array());
}

/// Checks that the database reads each element of the metadata at most once for each test. The lists of the filter are read once for all
/// documents.
fn check_cost(filter: &Filter) {
    let condition = filter.to_sql("documents.metadata", 2).expect("a valid filter").text;
    let count = |part: &str| condition.matches(part).count();
    assert!(count("json_each(documents.metadata") <= TESTS, "{condition}");
    assert!(count("documents.metadata") <= 4 * TESTS, "{condition}");
    assert_eq!(count("json_each("), count("json_each(documents.metadata") + count("json_each(?2, "), "{condition}");
}

/// Returns whether the published schema accepts a filter.
fn is_in_schema(filter: &str, fields: &Fields) -> bool {
    let schema = json!({ "type": "object", "properties": { "filter": fields.schema() } });
    let schema = Validator::new(schema).expect("a schema that can be enforced");
    let arguments = format!("{{\"filter\":{filter}}}");
    let document = Document::parse(arguments.as_bytes(), JsonLimits::default()).expect("JSON");
    schema.validate(document.root()).is_empty()
}
