//! The JSON Schema of the argument `filter`.

use edge_json_schema::Validator;
use edge_mcp::json::{Document, JsonLimits};
use edge_mcp::rag::Fields;
use serde_json::{Value, json};

use crate::{argument, fields};

/// Returns the schema of arguments with a filter.
fn arguments(fields: &Fields) -> Value {
    json!({ "type": "object", "additionalProperties": false, "properties": { "filter": fields.schema() } })
}

/// Returns the mistakes that the schema finds in a filter.
fn mistakes(json: &str) -> Vec<String> {
    let schema = Validator::new(arguments(&fields())).expect("a schema that can be enforced");
    let arguments = format!("{{\"filter\":{json}}}");
    let document = Document::parse(arguments.as_bytes(), JsonLimits::default()).expect("JSON");
    schema.validate(document.root())
}

/// R3: the model sees the declared fields with their types and descriptions, and the operators.
#[test]
fn the_schema_lists_fields_and_operators() {
    let filter = fields().schema();
    assert_eq!(
        filter["description"],
        "Conditions on metadata. Test a field (category, version, draft, author.name, rights.holder.address.city) by a value, a list or operators: $eq $ne $gt $gte \
         $lt $lte $in $nin $exists $contains. Logic: $and $or $nor $not. Example: {\"version\":{\"$gt\":2}}"
    );
    let properties = &filter["anyOf"][0]["properties"];
    let test = |kind: &str| {
        let value = json!({ "type": kind });
        json!([value, { "type": "null" }, { "type": "array", "items": value }, { "type": "object" }])
    };
    assert_eq!(properties["category"], json!({ "description": "Subject", "anyOf": test("string") }));
    assert_eq!(properties["version"]["anyOf"], test("number"));
    assert_eq!(properties["author.name"]["description"], "Name of the author");
    assert_eq!(properties["$or"], json!({ "type": "array", "items": { "type": "object" } }));
    assert_eq!(properties["$not"], json!({ "type": "object" }));
    let description = Fields::new().boolean("draft", "Whether it is a draft").schema()["description"].clone();
    assert!(description.as_str().expect("a text").ends_with("Example: {\"draft\":true}"));
}

/// Semantic Kernel 1.45 drops definitions, and AutoGen 0.7.5, DSPy 3.4 and Semantic Kernel reject a list of types.
#[test]
fn the_schema_has_no_form_that_clients_cannot_convert() {
    let text = fields().schema().to_string();
    assert!(!text.contains("$ref") && !text.contains(r#""type":["#), "{text}");
}

/// The schema accepts every filter that the parser accepts.
#[test]
fn the_schema_accepts_valid_filters() {
    for json in [
        "{}",
        "\"{}\"",
        r#"{"category":"tea"}"#,
        r#"{"category":null,"version":[1,2],"draft":{"$ne":true}}"#,
        r#"{"$or":[{"category":{"$contains":"t","$nin":["a"]}},{"version":{"$gte":1,"$lt":2.5}}],"$not":{"draft":true}}"#,
        r#"{"version":{"$in":[]},"author.name":{"$exists":false},"author":{"name":"Ada"}}"#,
    ] {
        assert_eq!(mistakes(json), [] as [&str; 0], "{json}");
        assert!(argument(json).is_ok(), "{json}");
    }
    let longest =
        json!({ "category": "x".repeat(512), "version": vec![1; 100], "$or": vec![json!({ "draft": true }); 8] });
    assert_eq!(mistakes(&longest.to_string()), [] as [&str; 0]);
    assert!(argument(&longest.to_string()).is_ok());
}

/// The schema rejects values of wrong types, and its messages name their places. The parser rejects them too.
#[test]
fn the_schema_rejects_wrong_types() {
    for (json, mistake) in [
        ("null", "`filter` must be an object or a string (got null)"),
        ("[]", "`filter` must be an object or a string (got [])"),
        (r#"{"version":"2"}"#, "`filter.version` must be a number or"),
        (r#"{"version":[1,"2"]}"#, "`filter.version[1]` must be a number (got \"2\")"),
        (r#"{"$or":[1]}"#, "`filter.$or[0]` must be an object"),
        (r#"{"$or":{"draft":true}}"#, "`filter.$or` must be an array"),
        (r#"{"$not":"yes"}"#, "`filter.$not` must be an object"),
    ] {
        let mistakes = mistakes(json);
        assert!(mistakes.len() == 1 && mistakes[0].starts_with(mistake), "{json} {mistakes:?}");
        assert!(argument(json).is_err(), "{json}");
    }
}

/// R3, R14 and R18: the parser reports unknown names, operands and limits, because its messages name the remedy.
#[test]
fn the_schema_leaves_the_rest_to_the_parser() {
    for json in [
        r#"{"colour":"red"}"#,
        r#"{"category":{"$regex":"x"}}"#,
        r#"{"$not":{"$gt":1}}"#,
        r#"{"$not":{"$not":{"draft":true}}}"#,
        r#"{"$or":[{"category":1}]}"#,
        r#"{"$not":{"draft":"yes"}}"#,
        r#"{"$and":[]}"#,
        r#"{"version":{}}"#,
        r#"{"version":[]}"#,
        r#"{"version":{"$gt":"2"}}"#,
        r#"{"version":{"$not":{"$gt":1}}}"#,
        r#"{"draft":{"$gt":true}}"#,
        r#"{"version":{"$date":"2026-01-31"}}"#,
    ] {
        assert_eq!(mistakes(json), [] as [&str; 0], "{json}");
        assert!(argument(json).is_err(), "{json}");
    }
}
