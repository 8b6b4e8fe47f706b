//! The form of schemas that client libraries read: it has the same meaning as the schema, and no form that a library rejects.

// A test may panic.
#![allow(clippy::expect_used, clippy::panic)]

use edge_json::{Document, JsonLimits};
use edge_json_schema::{Validator, from_type, portable};
use schemars::JsonSchema;
use serde_json::{Value, json};

fn accepts(schema: &Value, value: &Value) -> bool {
    let validator = Validator::new(schema.clone()).unwrap_or_else(|error| panic!("{schema}: {error}"));
    let text = value.to_string();
    let document = Document::parse(text.as_bytes(), JsonLimits::default()).expect("JSON");
    validator.validate(document.root()).is_empty()
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Place {
    city: String,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
enum Unit {
    Millimeters,
    Inches,
}

#[derive(JsonSchema)]
#[allow(dead_code, reason = "only its schema is used")]
struct Order {
    /// A note
    #[schemars(length(min = 1, max = 9))]
    note: Option<String>,
    #[schemars(range(min = 1, max = 5))]
    count: Option<u8>,
    unit: Option<Unit>,
    place: Option<Place>,
    tags: Option<Vec<String>>,
}

/// Semantic Kernel 1.45, AutoGen 0.7.5 and DSPy 3.4 fail for a list of types.
#[test]
fn optional_fields_have_one_type_in_each_alternative() {
    let schema = from_type::<Order>();
    let or_null = |schema: Value| json!([schema, { "type": "null" }]);
    let text = json!({ "type": "string", "minLength": 1, "maxLength": 9 });
    assert_eq!(schema["properties"]["note"], json!({ "description": "A note", "anyOf": or_null(text) }));
    let integer = json!({ "type": "integer", "minimum": 1, "maximum": 5 });
    assert_eq!(schema["properties"]["count"], json!({ "anyOf": or_null(integer) }));
    let unit = json!({ "type": "string", "enum": ["Millimeters", "Inches"] });
    assert_eq!(schema["properties"]["unit"], json!({ "anyOf": or_null(unit) }));
    let tags = json!({ "type": "array", "items": { "type": "string" } });
    assert_eq!(schema["properties"]["tags"], json!({ "anyOf": or_null(tags) }));
    assert_eq!(schema["properties"]["place"]["anyOf"][0]["additionalProperties"], false, "objects are closed");
    for order in [json!({}), json!({ "note": null, "count": null, "unit": null, "place": null, "tags": null })] {
        assert!(accepts(&schema, &order), "null is the same as leaving the field out: {order}");
    }
    assert!(!accepts(&schema, &json!({ "note": "" })) && !accepts(&schema, &json!({ "count": 6 })));
}

#[derive(JsonSchema)]
struct Nothing {}

/// mcpadapt 0.1.20, which smolagents uses, fails for a tool whose schema has no `properties`.
#[test]
fn the_root_of_an_object_has_properties() {
    for schema in [from_type::<Nothing>(), portable(json!({ "type": "object", "additionalProperties": false }))] {
        assert_eq!(schema, json!({ "type": "object", "additionalProperties": false, "properties": {} }));
    }
    let map = json!({ "type": "object", "properties": { "a": { "type": "object" } } });
    assert_eq!(portable(map.clone()), map, "AutoGen would drop all members of a map with empty `properties`");
    assert_eq!(portable(json!({ "type": "string" })), json!({ "type": "string" }));
    assert_eq!(portable(json!(true)), json!(true));
}

#[test]
fn each_form_is_rewritten() {
    for (schema, expected) in [
        (json!({ "type": ["string"], "minLength": 1 }), json!({ "type": "string", "minLength": 1 })),
        (
            json!({ "title": "T", "type": ["integer", "null", "string"], "minimum": 1, "pattern": "a", "default": 2 }),
            json!({
                "title": "T",
                "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "null" }, { "type": "string", "pattern": "a" }],
                "default": 2,
            }),
        ),
        (
            json!({ "type": ["string", "boolean", "null"], "enum": ["a", true, null, 7] }),
            json!({ "anyOf": [
                { "type": "string", "enum": ["a"] }, { "type": "boolean", "enum": [true] }, { "type": "null" },
            ] }),
        ),
        (
            json!({ "type": ["string", "null"], "enum": ["a"] }),
            json!({ "anyOf": [{ "type": "string", "enum": ["a"] }] }),
        ),
        (
            json!({ "type": ["array", "object"], "items": { "type": ["number", "null"] }, "required": ["a"] }),
            json!({ "anyOf": [
                { "type": "array", "items": { "anyOf": [{ "type": "number" }, { "type": "null" }] } },
                { "type": "object", "required": ["a"] },
            ] }),
        ),
        // A list beside `anyOf` has no other form with the same meaning that the libraries read.
        (
            json!({ "type": ["string", "null"], "anyOf": [{ "minLength": 1 }] }),
            json!({ "type": ["string", "null"], "anyOf": [{ "minLength": 1 }] }),
        ),
        (
            json!({ "properties": { "a": true, "b": false }, "items": true, "anyOf": [true], "additionalProperties": true }),
            json!({ "properties": { "a": {}, "b": false }, "items": {}, "anyOf": [{}], "additionalProperties": true }),
        ),
        // The values of these keywords are no schemas.
        (json!({ "const": { "type": ["a", "b"] } }), json!({ "const": { "type": ["a", "b"] } })),
        // The rewritten schema would have another place.
        (
            json!({ "properties": { "a": { "type": ["string", "null"] }, "b": { "$ref": "#/properties/a" } } }),
            json!({ "properties": { "a": { "type": ["string", "null"] }, "b": { "$ref": "#/properties/a" } } }),
        ),
    ] {
        assert_eq!(portable(schema.clone()), expected, "{schema}");
        assert_eq!(portable(expected.clone()), expected, "a second time: {schema}");
    }
}

/// AutoGen 0.7.5 fails for a definition that refers to a later one.
#[test]
fn definitions_do_not_refer_to_each_other() {
    let reference = |name: &str| json!({ "$ref": format!("#/$defs/{name}") });
    let schema = json!({
        "type": "object",
        "properties": { "a": reference("order"), "b": reference("alias") },
        "$defs": {
            "order": { "type": "object", "properties": {
                "to": { "$ref": "#/$defs/place", "description": "The goal" }, "via": { "type": "array", "items": reference("place") },
            } },
            "place": { "type": "object", "description": "A place", "properties": { "unit": reference("unit") } },
            "unit": { "type": "string", "enum": ["mm"] },
            "alias": reference("unit"),
        },
    });
    let place = |description: &str| json!({ "type": "object", "description": description, "properties": { "unit": { "type": "string", "enum": ["mm"] } } });
    let expected = json!({
        "order": { "type": "object", "properties": {
            "to": place("The goal"), "via": { "type": "array", "items": place("A place") },
        } },
        "alias": { "type": "string", "enum": ["mm"] },
    });
    let written = portable(schema.clone());
    assert_eq!(written["$defs"], expected);
    assert_eq!(written["properties"], schema["properties"]);
    for value in [
        json!({ "a": { "to": { "unit": "mm" } } }),
        json!({ "a": { "via": [{ "unit": "in" }] } }),
        json!({ "b": "in" }),
    ] {
        assert_eq!(accepts(&schema, &value), accepts(&written, &value), "{value}");
    }
}

#[test]
fn definitions_that_cannot_be_written_in_place_stay() {
    let recursive = json!({
        "properties": { "a": { "$ref": "#/$defs/tree" } },
        "$defs": {
            "tree": { "type": "object", "properties": { "parts": { "$ref": "#/$defs/list" } } },
            "list": { "type": "array", "items": { "$ref": "#/$defs/tree" } },
        },
    });
    let written = portable(recursive);
    let tree = json!({ "type": "object", "properties": { "parts": { "type": "array", "items": { "$ref": "#/$defs/tree" } } } });
    assert_eq!(written["$defs"], json!({ "tree": tree }));
    // Keywords beside a reference would change their meaning.
    let beside = json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/b", "minLength": 1 }, "b": { "maxLength": 2 } } });
    assert_eq!(portable(beside.clone()), beside);
    // Each definition doubles the size of the next one.
    let mut doubling =
        json!({ "properties": { "a": { "$ref": "#/$defs/d20" } }, "$defs": { "d0": { "type": "string" } } });
    for nth in 1..=20 {
        let before = json!({ "$ref": format!("#/$defs/d{}", nth - 1) });
        doubling["$defs"][format!("d{nth}")] = json!({ "type": "object", "properties": { "a": before, "b": before } });
    }
    assert_eq!(portable(doubling.clone())["$defs"], doubling["$defs"]);
}
