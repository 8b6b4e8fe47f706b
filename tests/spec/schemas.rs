//! Schemas that are data.

use edge_mcp::http::Endpoint;
use edge_mcp::server::{McpServer, Tool};
use serde_json::{Value, json};

use crate::support::modern;

fn contact() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "other": { "$ref": "#addressDef" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}

fn tool(schema: &Value) -> Tool {
    Tool::with_schema("contact", schema, None, |arguments: Value| async move { arguments.to_string() }).description("d")
}

/// Rule 54: a schema is published word for word, order included.
#[test]
fn a_schema_is_published_as_it_is() {
    let endpoint = Endpoint::new(|_| McpServer::builder("s", "1").tool(tool(&contact())).build()).without_auth();
    let answer = modern("tools/list", json!({})).ask_at(&endpoint);
    let published = &answer.result()["tools"][0]["inputSchema"];
    assert_eq!(published.to_string(), contact().to_string());
}

/// And it is enforced.
#[test]
fn a_schema_is_enforced() {
    let endpoint = Endpoint::new(|_| McpServer::builder("s", "1").tool(tool(&contact())).build()).without_auth();
    for (arguments, says) in [
        (json!({ "email": "a@b" }), None),
        (json!({ "contactMethod": "phone", "phone": "1" }), None),
        (json!({ "email": "a@b", "address": { "city": "Paris" }, "other": { "street": "s" } }), None),
        (json!({}), Some("is required")),
        (json!({ "contactMethod": "phone", "email": "a@b" }), Some("phone: is required")),
        (json!({ "contactMethod": "email", "phone": "1" }), Some("email: is required")),
        (json!({ "email": "a@b", "address": { "city": 7 } }), Some("address.city: expected a string")),
        (json!({ "email": "a@b", "other": { "street": 7 } }), Some("other.street: expected a string")),
        (json!({ "email": "a@b", "more": 1 }), Some("unknown property")),
    ] {
        let answer = modern("tools/call", json!({ "name": "contact", "arguments": arguments })).ask_at(&endpoint);
        let (text, is_error) = answer.tool_text();
        assert_eq!(is_error, says.is_some(), "{arguments}: {text}");
        assert!(text.contains(says.unwrap_or("")), "{arguments}: {text}");
    }
}

/// Rules 55 and 56: what could not be enforced is refused: other dialects, other documents, keywords that are not known.
#[test]
fn what_cannot_be_enforced_is_refused() {
    for (schema, says) in [
        (json!({ "type": "object", "$schema": "http://json-schema.org/draft-07/schema#" }), "/$schema"),
        (json!({ "type": "object", "$ref": "https://example.com/schema.json" }), "https://example.com/schema.json"),
        (json!({ "type": "object", "properties": { "a": { "$ref": "other.json#/a" } } }), "other.json"),
        (json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/none" } } }), "#/$defs/none"),
        (json!({ "type": "object", "unevaluatedProperties": false }), "unevaluatedProperties"),
        (json!({ "type": "array" }), "object"),
        (json!(true), "object"),
        (json!(7), "a schema is an object"),
    ] {
        let problem = McpServer::builder("s", "1").tool(tool(&schema)).build().err().map(|error| error.to_string());
        assert!(problem.as_ref().is_some_and(|problem| problem.contains(says)), "{schema}: {problem:?}");
    }
}
