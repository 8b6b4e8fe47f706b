//! Schemas of tools: publication, validation of arguments and results, and error messages.

use edge_json_schema::Validator;
use edge_mcp::json::{Document, JsonLimits};
use edge_mcp::testing::TestHost;
use edge_mcp::{Endpoint, Json, McpServer, Tool};
use schemars::JsonSchema;
use serde::Serialize;
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
    Tool::with_schema("contact", "d", schema, None, |arguments: Value| async move { arguments.to_string() })
}

/// Rule 54: a schema that client libraries read is published unchanged, with the order of its members.
#[test]
fn a_schema_is_published_unchanged() {
    let endpoint = Endpoint::new(|_| McpServer::builder("s", "1").tool(tool(&contact())).build()).without_auth();
    let answer = modern("tools/list", json!({})).ask_at(&endpoint);
    let published = &answer.result()["tools"][0]["inputSchema"];
    assert_eq!(published.to_string(), contact().to_string());
}

/// A published schema is enforced.
#[test]
fn a_schema_is_enforced() {
    let endpoint = Endpoint::new(|_| McpServer::builder("s", "1").tool(tool(&contact())).build()).without_auth();
    for (arguments, says) in [
        (json!({ "email": "a@b" }), None),
        (json!({ "contactMethod": "phone", "phone": "1" }), None),
        (json!({ "email": "a@b", "address": { "city": "Paris" }, "other": { "street": "s" } }), None),
        (json!({}), Some("is required")),
        (json!({ "contactMethod": "phone", "email": "a@b" }), Some("`phone` is required")),
        (json!({ "contactMethod": "email", "phone": "1" }), Some("`email` is required")),
        (json!({ "email": "a@b", "address": { "city": 7 } }), Some("`address.city` must be a string")),
        (json!({ "email": "a@b", "other": { "street": 7 } }), Some("`other.street` must be a string")),
        (json!({ "email": "a@b", "more": 1 }), Some("is not a known property")),
    ] {
        let answer = modern("tools/call", json!({ "name": "contact", "arguments": arguments })).ask_at(&endpoint);
        let (text, is_error) = answer.tool_text();
        assert_eq!(is_error, says.is_some(), "{arguments}: {text}");
        assert!(text.contains(says.unwrap_or("")), "{arguments}: {text}");
    }
}

/// A schema of another framework, such as one that zod writes, can be used as it is.
#[test]
fn a_schema_of_draft_07_is_published_and_enforced() {
    let schema = json!({
        "type": "object",
        "properties": { "size": { "type": "array", "items": [{ "type": "integer" }], "additionalItems": false } },
        "required": ["size"],
        "additionalProperties": false,
        "$schema": "http://json-schema.org/draft-07/schema#",
    });
    let of_server = schema.clone();
    let endpoint = Endpoint::new(move |_| McpServer::builder("s", "1").tool(tool(&of_server)).build()).without_auth();
    let listed = modern("tools/list", json!({})).ask_at(&endpoint);
    assert_eq!(listed.result()["tools"][0]["inputSchema"], schema);
    assert_eq!(error_of(&schema, r#"{"size":[1]}"#), None);
    assert!(error_of(&schema, r#"{"size":[1,2]}"#).is_some_and(|error| error.contains("size")));
}

/// Calls a tool with this schema. Returns the error text, or `None` if the arguments are valid.
fn error_of(schema: &Value, arguments: &str) -> Option<String> {
    let schema = schema.clone();
    let endpoint = Endpoint::new(move |_| McpServer::builder("s", "1").tool(tool(&schema)).build());
    let answer = modern("tools/call", json!({ "name": "contact", "arguments": "@" }));
    let body = String::from_utf8(answer.body.clone()).expect("UTF-8").replace("\"@\"", arguments);
    let answer = answer.with_body(body).ask_at(&endpoint.without_auth().without_rate_limit());
    let (text, is_error) = answer.tool_text();
    is_error.then(|| text.to_owned())
}

/// Each mistake is one line: the path, what is expected, and the value.
#[test]
fn mistakes_have_path_expectation_and_value() {
    let schema = json!({
        "type": "object",
        "properties": {
            "location": { "type": "string", "minLength": 2, "maxLength": 5 },
            "units": { "enum": ["c", "f"] },
            "count": { "type": "integer", "minimum": 1, "exclusiveMaximum": 10 },
            "price": { "type": "number", "multipleOf": 0.01 },
            "code": { "type": "string", "pattern": "^[A-Z]{2}$" },
            "items": {
                "type": "array",
                "items": { "type": "object", "properties": { "qty": { "type": "integer", "minimum": 1 } }, "required": ["qty"] },
                "minItems": 1, "maxItems": 3, "uniqueItems": true,
            },
            "pair": { "prefixItems": [{ "type": "string" }], "items": { "type": "boolean" } },
            "tags": { "contains": { "const": "x" }, "maxContains": 1 },
            "either": { "anyOf": [{ "type": "integer" }, { "type": "object", "properties": { "id": { "type": "integer" } }, "required": ["id"] }] },
            "one": { "oneOf": [{ "minimum": 1 }, { "maximum": 5 }] },
            "map": { "propertyNames": { "maxLength": 3 }, "minProperties": 1, "additionalProperties": { "type": "null" } },
            "card": {}, "billing": {},
            "never": false,
            "other": { "not": { "type": "string" } },
        },
        "dependentRequired": { "card": ["billing"] },
        "additionalProperties": false,
    });
    for (arguments, line) in [
        (r#"{"location":5}"#, "`location` must be a string (got 5)"),
        (r#"{"location":"x"}"#, "`location` must have at least 2 characters (got 1)"),
        (r#"{"location":"abcdef"}"#, "`location` must have at most 5 characters (got 6)"),
        (r#"{"locaton":"x"}"#, "`locaton` is not a known property; did you mean `location`?"),
        (r#"{"zzz":"x"}"#, "`zzz` is not a known property"),
        (r#"{"units":"k"}"#, r#"`units` must be "c" or "f" (got "k")"#),
        (r#"{"count":0}"#, "`count` must be at least 1 (got 0)"),
        (r#"{"count":10}"#, "`count` must be less than 10 (got 10)"),
        (r#"{"count":1.5}"#, "`count` must be an integer (got 1.5)"),
        (r#"{"price":1.005}"#, "`price` must be a multiple of 0.01 (got 1.005)"),
        (r#"{"code":"ab"}"#, r#"`code` must match the pattern `^[A-Z]{2}$` (got "ab")"#),
        (r#"{"items":[]}"#, "`items` must have at least 1 item (got 0)"),
        (r#"{"items":[{"qty":1},{"qty":2},{"qty":0}]}"#, "`items[2].qty` must be at least 1 (got 0)"),
        (r#"{"items":[{}]}"#, "`items[0].qty` is required"),
        (r#"{"items":[{"qty":1},{"qty":1.0}]}"#, "`items` must have unique items ([0] and [1] are equal)"),
        (r#"{"pair":["a",7]}"#, "`pair[1]` must be a boolean (got 7)"),
        (r#"{"tags":["a"]}"#, "`tags` must contain at least 1 matching item (got 0)"),
        (r#"{"tags":["x","x"]}"#, "`tags` must contain at most 1 matching item (got 2)"),
        (r#"{"either":{"id":"7"}}"#, r#"`either.id` must be an integer (got "7")"#),
        (r#"{"either":"7"}"#, r#"`either` must be an integer or an object (got "7")"#),
        (r#"{"one":3}"#, "`one` matches more than one alternative of `oneOf`"),
        (r#"{"map":{}}"#, "`map` must have at least 1 property (got 0)"),
        (r#"{"map":{"long":null}}"#, r#"the property name "long" in `map` must have at most 3 characters (got 4)"#),
        (r#"{"map":{"a b":1}}"#, r#"`map["a b"]` must be null (got 1)"#),
        (r#"{"card":1}"#, "`billing` is required because `card` is present"),
        (r#"{"never":1}"#, "`never` is not allowed"),
        (r#"{"other":"x"}"#, r#"`other` must not match the schema in `not` (got "x")"#),
    ] {
        let text = error_of(&schema, arguments).unwrap_or_default();
        let lines: Vec<_> = text.lines().skip(1).collect();
        assert_eq!(lines, [format!("- {line}")], "{arguments}");
    }
    for arguments in [
        r#"{"location":"\ud83d\udca1\ud83d\udca1","count":1.0,"price":0.07,"code":"AB"}"#,
        r#"{"items":[{"qty":1},{"qty":2}],"pair":["a",true],"tags":["x",1],"either":7,"one":7,"map":{"a":null}}"#,
        r#"{"card":1,"billing":2,"other":1}"#,
        "{}",
    ] {
        assert_eq!(error_of(&schema, arguments), None, "{arguments}");
    }
    let many: Vec<_> = (0..50).map(|nth| format!("\"x{nth}\":1")).collect();
    let text = error_of(&schema, &format!("{{{}}}", many.join(","))).expect("an error");
    assert_eq!(text.lines().count(), 11, "at most ten mistakes are listed");
}

/// Values are shortened. Values of properties that are named like a secret are not shown.
#[test]
fn secrets_are_not_shown() {
    let schema = json!({
        "type": "object",
        "properties": {
            "name": { "type": "integer" }, "apiKey": { "type": "integer" }, "Password": { "enum": [1] },
            "access_token": { "type": "object", "properties": { "value": { "maximum": 1 } } },
            "list": { "type": "array", "items": { "type": "integer" } },
        },
    });
    let hidden =
        r#"{"apiKey":"hunter2","Password":"hunter2","access_token":{"value":7770777},"list":[{"secret":"hunter2"}]}"#;
    let text = error_of(&schema, hidden).expect("an error");
    assert!(!text.contains("hunter2") && !text.contains("777"), "{text}");
    assert!(text.contains("`apiKey` must be an integer (got a string)"), "{text}");
    let long = error_of(&schema, &format!(r#"{{"name":"{}"}}"#, "x".repeat(1000))).expect("an error");
    assert!(long.len() < 300 && long.contains('…'), "{long}");
}

/// Integers beyond the precision of `f64` are compared exactly, in every spelling.
#[test]
fn numbers_are_exact() {
    let schema = json!({ "type": "object", "properties": {
        "id": { "type": "integer", "maximum": 9_007_199_254_740_993_u64 },
        "big": { "const": 18_446_744_073_709_551_615_u64 },
    } });
    for (arguments, fits) in [
        (r#"{"id":9007199254740993}"#, true),
        (r#"{"id":9007199254740993.0}"#, true),
        (r#"{"id":9007199254740994}"#, false),
        (r#"{"id":9007199254740993.5}"#, false),
        (r#"{"id":1e400}"#, false),
        (r#"{"id":-1e400}"#, true),
        (r#"{"big":18446744073709551615}"#, true),
        (r#"{"big":1.8446744073709551615e19}"#, true),
        (r#"{"big":18446744073709551614}"#, false),
        (r#"{"big":18446744073709551616}"#, false),
    ] {
        let error = error_of(&schema, arguments);
        // `serde_json::Value` rejects numbers out of range.
        let error = error.filter(|text| !text.contains("out of range"));
        assert_eq!(error.is_none(), fits, "{arguments}: {error:?}");
    }
}

/// The number of steps of a check is limited. Beyond the limit, the arguments are rejected.
#[test]
fn the_steps_of_a_check_are_bounded() {
    let twice = |name: &str| json!({ "anyOf": [{ "properties": { "x": { "$ref": name } } }, { "properties": { "x": { "$ref": name } } }] });
    let mut schema = twice("#/$defs/a");
    schema["type"] = json!("object");
    schema["$defs"] = json!({ "a": twice("#/$defs/a") });
    schema["$defs"]["a"]["type"] = json!("object");
    let deep = format!("{}7{}", r#"{"x":"#.repeat(60), "}".repeat(60));
    let text = error_of(&schema, &deep).expect("an error");
    assert!(text.contains("must be an object (got 7)"), "each result is cached: {text}");
    // A long text alone does not take too many steps.
    let pattern = json!({ "type": "object", "properties": { "a": { "pattern": "^(a|a)*$" } } });
    assert_eq!(error_of(&pattern, &format!(r#"{{"a":"{}"}}"#, "a".repeat(1_000_000))), None);
    let text = error_of(&of_a(json!({ "pattern": ENDLESS })), &format!(r#"{{"a":"{}"}}"#, noise())).expect("an error");
    assert!(text.contains("too long"), "{text}");
}

/// A pattern whose automaton rarely reaches the same state twice.
const ENDLESS: &str = "(a|b)*a(a|b){400}c";

/// Random letters `a` and `b`.
fn noise() -> String {
    let mut state = 1_u32;
    let letters = (0..200_000).map(|_| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        if state & 0x1_0000 == 0 { 'a' } else { 'b' }
    });
    letters.collect()
}

/// Returns a schema of an object whose property `a` has this schema.
fn of_a(schema: Value) -> Value {
    json!({ "type": "object", "properties": { "a": schema } })
}

/// If a check exceeds its step limit, the value is rejected, even under `not`.
#[test]
fn values_are_rejected_beyond_the_step_limit() {
    let endless = json!({ "pattern": ENDLESS });
    let long = format!(r#"{{"a":"{}"}}"#, noise());
    let named = format!(r#"{{"{}":1}}"#, noise());
    let number = r#"{"a":1e99999999999999999999}"#.to_owned();
    for (schema, arguments) in [
        (of_a(endless.clone()), &long),
        (of_a(json!({ "not": endless })), &long),
        (of_a(json!({ "if": endless, "then": false })), &long),
        (of_a(json!({ "oneOf": [endless, true] })), &long),
        (of_a(json!({ "anyOf": [endless, { "minLength": 1 }] })), &long),
        (json!({ "type": "object", "patternProperties": { ENDLESS: false } }), &named),
        (json!({ "type": "object", "propertyNames": { "not": endless } }), &named),
        (of_a(json!({ "maximum": 10 })), &number),
        (of_a(json!({ "multipleOf": 7 })), &number),
    ] {
        assert!(error_of(&schema, arguments).is_some(), "{schema}");
    }
}

/// A number whose exponent overflows is rejected by every keyword.
#[test]
fn numbers_with_overflowing_exponents_are_rejected() {
    for (keywords, number) in [
        (json!({ "not": { "minimum": 0 } }), "1e99999999999999999999"),
        (json!({ "oneOf": [{ "minimum": 5 }, { "type": "number" }] }), "1e99999999999999999999"),
        (json!({ "if": { "maximum": 100 }, "then": { "type": "string" } }), "1e-99999999999999999999"),
        (json!({ "not": { "type": "integer" } }), "1e99999999999999999999"),
        (json!({ "not": { "multipleOf": 0.01 } }), "1e9223372036854775807"),
    ] {
        let text = error_of(&of_a(keywords.clone()), &format!(r#"{{"a":{number}}}"#));
        assert!(text.is_some(), "{keywords} {number}");
    }
}

/// Returns the number of steps that a check of `value` takes.
fn steps(schema: &Value, value: &str) -> u32 {
    let schema = Validator::new(schema.clone()).expect("a schema");
    schema.steps(Document::parse(value.as_bytes(), JsonLimits::default()).expect("JSON").root()).0
}

/// Checks of names, texts and lists of names take steps in proportion to their length.
#[test]
fn steps_are_proportional_to_the_length_of_texts() {
    let long = "x".repeat(100_000);
    let escaped = format!(r"\u0061{long}");
    let names: Vec<_> = (0..10_000).map(|nth| format!("n{nth}")).collect();
    let kind = |value: u8| json!({ "type": "object", "properties": { "kind": { "const": value } } });
    let tagged = json!({ "anyOf": [kind(0), kind(1)] });
    for (schema, value, least) in [
        (json!({ "uniqueItems": true }), format!(r#"["{long}"]"#), 10_000),
        (json!({ "required": names }), "{}".to_owned(), 600),
        (
            json!({ "items": { "required": vec!["a"; 1000] } }),
            format!("[{}]", vec![r#"{"a":1}"#; 1000].join(",")),
            9_000,
        ),
        (tagged, format!(r#"{{"kind":"{long}"}}"#), 5_000),
        (json!({ "additionalProperties": { "type": "string" } }), format!(r#"{{"{escaped}":1}}"#), 100_000),
        (json!({ "pattern": "[a-z]y" }), format!("\"{long}\""), 50_000),
        (json!({ "enum": [long] }), format!("\"{long}\""), 6_000),
    ] {
        let steps = steps(&schema, &value);
        assert!(steps >= least, "{steps} steps: {:.80}", schema.to_string());
    }
    // Duplicates in `required` take no steps.
    let objects = format!("[{}]", vec![r#"{"a":1}"#; 1000].join(","));
    assert!(steps(&json!({ "items": { "required": vec!["a"; 10_000] } }), &objects) < 50_000);
}

/// An error message is short even if the schema has long texts.
#[test]
fn mistakes_are_correct_and_short() {
    let mut items: Vec<String> = (0..200_000).map(|nth| nth.to_string()).collect();
    items.push("0".to_owned());
    let arguments = format!(r#"{{"a":[{}]}}"#, items.join(","));
    let text = error_of(&of_a(json!({ "uniqueItems": true })), &arguments).expect("an error");
    assert!(text.ends_with("`a` must have unique items ([0] and [200000] are equal)"), "{text}");
    let ones = format!(r#"{{"a":[{}]}}"#, vec!["1"; 200_001].join(","));
    let text = error_of(&of_a(json!({ "contains": { "const": 1 }, "maxContains": 200_000 })), &ones).expect("an error");
    assert!(text.contains("matching items (got 200001)"), "{text}");
    let values: Vec<_> = (0..50).map(|nth| format!("{nth}{}", "x".repeat(20_000))).collect();
    let source = "x".repeat(3_000);
    for (keywords, value) in [
        (json!({ "enum": values }), "1"),
        (json!({ "pattern": source }), "\"\""),
        (json!({ "dependentRequired": { "given": [source], source: ["given"] } }), r#"{"given":1}"#),
    ] {
        let text = error_of(&of_a(keywords), &format!(r#"{{"a":{value}}}"#)).expect("an error");
        assert!(text.len() < 5_000, "{} bytes", text.len());
    }
}

/// An error does not mention alternatives that the tag, type or constant excludes. If all are excluded, it lists the accepted values.
#[test]
fn the_closest_alternative_is_explained() {
    let shape = |kind: &str, property: &str| {
        json!({
            "type": "object",
            "properties": { "kind": { "const": kind }, property: { "type": "number" } },
            "required": ["kind", property],
        })
    };
    let tagged = of_a(json!({ "oneOf": [shape("circle", "radius"), shape("square", "side")] }));
    let named = |name: &str| json!({ "type": "object", "properties": { name: { "type": "integer" } }, "required": [name], "additionalProperties": false });
    let external = of_a(json!({ "oneOf": [named("Circle"), named("Square"), { "const": "Empty" }] }));
    for (schema, arguments, line) in [
        (&tagged, r#"{"a":{"kind":"square","side":"x"}}"#, r#"`a.side` must be a number (got "x")"#),
        (&tagged, r#"{"a":{"side":"x","kind":"square"}}"#, r#"`a.side` must be a number (got "x")"#),
        (&tagged, r#"{"a":{"kind":"star"}}"#, r#"`a.kind` must be "circle" or "square" (got "star")"#),
        (&tagged, r#"{"a":7}"#, "`a` must be an object (got 7)"),
        (&external, r#"{"a":{"Square":"x"}}"#, r#"`a.Square` must be an integer (got "x")"#),
        (&external, r#"{"a":"Emtpy"}"#, r#"`a` must be an object or "Empty" (got "Emtpy")"#),
    ] {
        let text = error_of(schema, arguments).expect("an error");
        assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), [format!("- {line}")], "{arguments}");
    }
}

/// Recursive alternatives are selected by a tag in any position.
#[test]
fn recursive_tagged_unions_take_few_steps() {
    let kind = |nth: u32| {
        json!({
            "type": "object",
            "properties": { "kind": { "const": format!("k{nth}") }, "args": { "type": "array", "items": { "$ref": "#/$defs/n" } } },
            "required": ["kind"], "additionalProperties": false,
        })
    };
    let kinds: Vec<_> = (0..8).map(kind).collect();
    let schema = json!({ "type": "object", "$defs": { "n": { "oneOf": kinds } }, "properties": { "root": { "$ref": "#/$defs/n" } } });
    let nested = |leaf: &str| (0..12).fold(leaf.to_owned(), |inner, _| format!(r#"{{"args":[{inner}],"kind":"k1"}}"#));
    assert_eq!(error_of(&schema, &format!(r#"{{"root":{}}}"#, nested(r#"{"kind":"k7"}"#))), None);
    let text = error_of(&schema, &format!(r#"{{"root":{}}}"#, nested(r#"{"kind":"k9"}"#))).expect("an error");
    assert!(text.contains("kind` must be"), "{text}");
}

/// A schema may refer to itself by a relative `$id`.
#[test]
fn a_relative_id_is_resolved() {
    let schema = json!({
        "$id": "Node", "type": "object",
        "properties": { "nodes": { "type": "array", "items": { "$ref": "Node" } } }, "additionalProperties": false,
    });
    assert_eq!(error_of(&schema, r#"{"nodes":[{"nodes":[]}]}"#), None);
    assert!(
        error_of(&schema, r#"{"nodes":[{"nodes":7}]}"#)
            .is_some_and(|text| text.contains("`nodes[0].nodes` must be an array"))
    );
}

/// Output that does not match its schema is not sent. The error describes it as a fault of the server, and the log has the paths.
#[test]
fn output_that_does_not_match_its_schema_is_not_sent() {
    let output = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    for (result, says) in [
        (json!({ "n": 1 }), None),
        (json!({ "n": "s3cret" }), Some("`n` must be an integer (got a string)")),
        (json!({}), Some("`n` is required")),
        (json!(["s3cret"]), Some("the value must be an object (got an array)")),
    ] {
        let (output, returned) = (output.clone(), result.clone());
        let endpoint = Endpoint::new(move |_| {
            let result = returned.clone();
            let handler = move |_: Value| {
                let result = result.clone();
                async move { Json(Raw(result)) }
            };
            let tool = Tool::with_schema("t", "d", &json!({ "type": "object" }), Some(&output), handler);
            McpServer::builder("s", "1").tool(tool).build()
        });
        let host = TestHost::new();
        let endpoint = endpoint.without_auth().without_rate_limit();
        let answer = modern("tools/call", json!({ "name": "t" })).ask_on(&endpoint, &host);
        let (text, is_error) = answer.tool_text();
        assert_eq!(is_error, says.is_some(), "{result}: {text}");
        match says {
            None => assert_eq!(answer.result()["structuredContent"], result),
            Some(says) => {
                assert!(
                    answer.result().get("structuredContent").is_none() && text.contains("fault of the server"),
                    "{text}"
                );
                assert!(host.log_text().contains(says), "{}", host.log_text());
                assert!(!format!("{text}{}", host.log_text()).contains("s3cret"));
            }
        }
    }
    let silent = Endpoint::new(move |_| {
        let tool = Tool::with_schema(
            "t",
            "d",
            &json!({ "type": "object" }),
            Some(&json!({ "type": "object" })),
            |_: Value| async { "text" },
        );
        McpServer::builder("s", "1").tool(tool).build()
    });
    let answer = modern("tools/call", json!({ "name": "t" })).ask_at(&silent.without_auth().without_rate_limit());
    assert!(answer.tool_text().1, "an output schema requires structured content");
}

/// Any value, as structured content.
#[derive(Serialize)]
#[serde(transparent)]
struct Raw(Value);

impl JsonSchema for Raw {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Raw".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        true.into()
    }
}

/// Rules 55 and 56: schemas that cannot be enforced are rejected: other dialects, other documents, unsupported keywords.
#[test]
fn schemas_that_cannot_be_enforced_are_rejected() {
    for (schema, says) in [
        (json!({ "type": "object", "properties": { "a": { "$dynamicRef": "#a" } } }), "`$dynamicRef`"),
        (json!({ "type": "object", "items": [7] }), "a schema must be"),
        (json!({ "type": "object", "dependencies": { "a": 7 } }), "a schema must be"),
        (json!({ "type": "object", "$ref": "#" }), "`$ref` forms a cycle"),
        (
            json!({ "type": "object", "allOf": [{ "$ref": "#/$defs/a" }], "$defs": { "a": { "anyOf": [{ "$ref": "#/$defs/a" }] } } }),
            "`$ref` forms a cycle",
        ),
        (json!({ "type": "object", "$vocabulary": { "https://example.com/vocab": true } }), "$vocabulary"),
        (json!({ "type": "object", "minLength": -1 }), "/minLength"),
        (json!({ "type": "object", "multipleOf": 0 }), "/multipleOf"),
        (json!({ "type": "object", "uniqueItems": "yes" }), "/uniqueItems"),
        (
            json!({ "type": "object", "$defs": { "a": { "$anchor": "x" }, "b": { "$anchor": "x" } } }),
            "two schemas have the anchor",
        ),
        (json!({ "type": "object", "anyOf": [] }), "/anyOf"),
        (json!({ "type": "object", "properties": { "a": { "pattern": "(?=x)" } } }), "/properties/a/pattern"),
        (json!({ "type": "object", "properties": { "a~/b": { "type": "x" } } }), "/properties/a~0~1b/type"),
        (json!({ "type": "object", "$schema": "http://json-schema.org/draft-04/schema#" }), "/$schema"),
        (json!({ "type": "object", "properties": { "a": { "$recursiveRef": "#" } } }), "/properties/a/$recursiveRef"),
        (json!({ "type": "object", "$ref": "https://example.com/schema.json" }), "https://example.com/schema.json"),
        (json!({ "type": "object", "properties": { "a": { "$ref": "other.json#/a" } } }), "other.json"),
        (json!({ "type": "object", "properties": { "a": { "$ref": "#/$defs/none" } } }), "#/$defs/none"),
        (json!({ "type": "object", "unevaluatedProperties": false }), "unevaluatedProperties"),
        (json!({ "type": "array" }), "object"),
        (json!(true), "object"),
        (json!(7), "a schema must be an object"),
    ] {
        let problem = McpServer::builder("s", "1").tool(tool(&schema)).build().err().map(|error| error.to_string());
        assert!(problem.as_ref().is_some_and(|problem| problem.contains(says)), "{schema}: {problem:?}");
    }
}
