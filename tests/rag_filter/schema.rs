//! The JSON Schema of the argument `filter`.

use edge_json_schema::Validator;
use edge_mcp::json::{Document, JsonLimits};
use edge_mcp::rag::Fields;
use serde_json::{Map, Value, json};

use crate::{argument, fields};

/// Returns the schema of arguments with a filter.
fn arguments(fields: &Fields) -> Value {
    let (filter, definitions) = fields.schema();
    json!({ "type": "object", "additionalProperties": false, "properties": { "filter": filter }, "$defs": definitions })
}

/// Returns the mistakes that the schema finds in a filter.
fn mistakes(json: &str) -> Vec<String> {
    let schema = Validator::new(arguments(&fields())).expect("a schema that can be enforced");
    let arguments = format!("{{\"filter\":{json}}}");
    let document = Document::parse(arguments.as_bytes(), JsonLimits::default()).expect("JSON");
    schema.validate(document.root())
}

/// Whether a definition refers to itself, directly or through others.
fn is_recursive(definitions: &Map<String, Value>) -> bool {
    fn depth(schema: &Value, definitions: &Map<String, Value>, left: usize) -> bool {
        let of_reference = schema["$ref"].as_str().and_then(|path| definitions.get(path.strip_prefix("#/$defs/")?));
        let parts = schema.as_object().into_iter().flat_map(Map::values);
        let items = schema.as_array().into_iter().flatten();
        left == 0 || of_reference.into_iter().chain(parts).chain(items).any(|part| depth(part, definitions, left - 1))
    }
    definitions.values().any(|definition| depth(definition, definitions, 50))
}

/// R3: the model sees the declared fields with their types and descriptions, and two levels of tests.
#[test]
fn the_schema_lists_fields_and_operators() {
    let (filter, definitions) = fields().schema();
    assert_eq!(
        filter,
        json!({
            "$ref": "#/$defs/filter",
            "description": "Conditions on metadata. Test a field by a value, a list or operators: $eq $ne $gt $gte $lt $lte $in $nin \
                            $exists $contains. Example: {\"version\":{\"$gt\":2}}",
        })
    );
    let names: Vec<&String> = definitions.keys().collect();
    assert_eq!(names, ["filter", "list", "fields", "text", "number", "boolean"]);
    let properties = &definitions["filter"]["properties"];
    assert_eq!(properties["category"], json!({ "$ref": "#/$defs/text", "description": "Subject" }));
    assert_eq!(properties["author.name"]["description"], "Name of the author");
    assert_eq!(properties["$or"], json!({ "$ref": "#/$defs/list" }));
    assert_eq!(properties["$not"], json!({ "$ref": "#/$defs/fields" }));
    assert_eq!(definitions["list"], json!({ "type": "array", "items": { "$ref": "#/$defs/fields" } }));
    assert_eq!(definitions["fields"]["properties"]["version"], json!({ "$ref": "#/$defs/number" }));
    assert_eq!(definitions["fields"]["properties"].as_object().map(Map::len), Some(5));
    let (filter, definitions) = Fields::new().boolean("draft", "Whether it is a draft").schema();
    assert_eq!(definitions.len(), 4);
    assert!(filter["description"].as_str().expect("a text").ends_with("Example: {\"draft\":true}"));
}

/// Clients that convert schemas to types do not end if a definition refers to itself.
#[test]
fn the_schema_has_no_recursion() {
    let (_, mut definitions) = fields().schema();
    assert!(!is_recursive(&definitions));
    definitions["fields"]["properties"]["$not"] = json!({ "$ref": "#/$defs/fields" });
    assert!(is_recursive(&definitions));
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
        ("null", "`filter` must be a string or an object (got null)"),
        ("[]", "`filter` must be a string or an object (got [])"),
        (r#"{"version":"2"}"#, "`filter.version` must be a number or"),
        (r#"{"version":[1,"2"]}"#, "`filter.version[1]` must be a number (got \"2\")"),
        (r#"{"$or":[{"category":1}]}"#, "`filter.$or[0].category` must be a string or"),
        (r#"{"$or":{"draft":true}}"#, "`filter.$or` must be an array"),
        (r#"{"$not":{"draft":"yes"}}"#, "`filter.$not.draft` must be a boolean or"),
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
        r#"{"$or":["{}"]}"#,
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
