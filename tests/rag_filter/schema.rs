//! The JSON Schema of the argument `filter`.

use edge_json_schema::Validator;
use edge_mcp::json::{Document, JsonLimits};
use edge_mcp::rag::Fields;
use serde_json::{Value, json};

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

/// R3: the model sees the declared fields with their types and descriptions.
#[test]
fn the_schema_lists_fields_and_operators() {
    let (filter, definitions) = fields().schema();
    assert_eq!(
        filter,
        json!({
            "$ref": "#/$defs/filter",
            "type": ["object", "string"],
            "maxLength": 2048,
            "description": "Restricts the search by metadata: an object, or the same object as JSON text. \
                            Example: {\"version\":{\"$gt\":2}}",
        })
    );
    let names: Vec<&String> = definitions.keys().collect();
    assert_eq!(names, ["filter", "textTest", "numberTest", "booleanTest"]);
    let properties = &definitions["filter"]["properties"];
    assert_eq!(properties["category"], json!({ "$ref": "#/$defs/textTest", "description": "Subject" }));
    assert_eq!(properties["author.name"]["description"], "Name of the author");
    assert_eq!(properties["$not"], json!({ "$ref": "#/$defs/filter", "type": "object" }));
    let operators = |name: &str| definitions[name]["properties"].as_object().expect("operators").len();
    assert_eq!(["textTest", "numberTest", "booleanTest"].map(operators), [11, 11, 7]);
    let (filter, definitions) = Fields::new().boolean("draft", "Whether it is a draft").schema();
    assert_eq!(definitions.len(), 2);
    assert!(filter["description"].as_str().expect("a text").ends_with("Example: {\"draft\":true}"));
}

/// The schema accepts every filter that the parser accepts.
#[test]
fn the_schema_accepts_valid_filters() {
    for json in [
        "{}",
        "\"{}\"",
        r#"{"category":"tea"}"#,
        r#"{"category":null,"version":[1,2],"draft":{"$ne":true}}"#,
        r#"{"$or":[{"category":{"$contains":"t","$not":{"$in":["a"]}}},{"$not":{"version":{"$gte":1,"$lt":2.5}}}]}"#,
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
        (r#"{"version":{}}"#, "`filter.version` must have at least 1 property (got 0)"),
        (r#"{"version":[]}"#, "`filter.version` must have at least 1 item (got 0)"),
        (r#"{"version":{"$gt":"2"}}"#, "`filter.version.$gt` must be a number (got \"2\")"),
        (r#"{"$or":[{"category":{"$eq":["a"]}}]}"#, "`filter.$or[0].category.$eq` must be a string or null"),
        (r#"{"$and":[]}"#, "`filter.$and` must have at least 1 item (got 0)"),
        (r#"{"$or":["{}"]}"#, "`filter.$or[0]` must be an object (got \"{}\")"),
        (r#"{"category":{"$not":"tea"}}"#, "`filter.category.$not` must be an object (got \"tea\")"),
    ] {
        let mistakes = mistakes(json);
        assert!(mistakes.len() == 1 && mistakes[0].starts_with(mistake), "{json} {mistakes:?}");
        assert!(argument(json).is_err(), "{json}");
    }
}

/// R3 and R18: the parser reports unknown names, because its messages name the remedy.
#[test]
fn the_schema_leaves_unknown_names_to_the_parser() {
    for json in [
        r#"{"colour":"red"}"#,
        r#"{"category":{"$regex":"x"}}"#,
        r#"{"$not":{"$gt":1}}"#,
        r#"{"draft":{"$gt":true}}"#,
        r#"{"version":{"$date":"2026-01-31"}}"#,
    ] {
        assert_eq!(mistakes(json), [] as [&str; 0], "{json}");
        assert!(argument(json).is_err(), "{json}");
    }
}
