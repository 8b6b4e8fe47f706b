//! The number that is checked is the number that the program gets.

// A test may panic.
#![allow(clippy::expect_used, clippy::indexing_slicing)]

use edge_json::{Document, JsonLimits, deserialize, write};
use edge_json_schema::{Validator, from_type};
use jsonschema::Draft;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// Numbers at the bounds below, and beside them by less than a float can hold.
const NUMBERS: [&str; 46] = [
    "0",
    "-0",
    "0.0",
    "-0.0",
    "1",
    "1.0",
    "10e-1",
    "2",
    "-1",
    "7",
    "7.0",
    "0.5",
    "0.25",
    "0.75",
    "0.1",
    "0.10000000000000000001",
    "0.09999999999999999999",
    "1e-400",
    "-1e-400",
    "1e-99999999999999999999",
    "5e-324",
    "0.99999999999999999999",
    "0.9999999999999999",
    "0.99999999",
    "1.00000000000000000001",
    "1.00000001",
    "1.0000000000000001",
    "1e23",
    "1e300",
    "3.4028236e38",
    "16777217",
    "16777216.5",
    "9007199254740992",
    "9007199254740993",
    "9007199254740993.0",
    "9007199254740992.5",
    "9.007199254740993e15",
    "-9007199254740993",
    "-9223372036854775809",
    "18446744073709551615",
    "18446744073709551616",
    "1e19",
    "10000000000000000001",
    "1e400",
    "-1e400",
    "1e99999999999999999999",
];

fn read<'d, T: Deserialize<'d>>(document: &'d Document<'_>) -> Option<T> {
    deserialize::read(document.root()).ok()
}

/// Asserts that another validator accepts the value that the program gets, if this library accepts the text.
fn check<T: for<'d> Deserialize<'d> + Serialize>(schema: &Value, texts: &[String]) {
    let validator = Validator::new(schema.clone()).expect("a schema");
    let other = jsonschema::options().with_draft(Draft::Draft202012).offline().build(schema).expect("a schema");
    for text in texts {
        let document = Document::parse(text.as_bytes(), JsonLimits::default()).expect("JSON");
        let is_accepted = validator.validate(document.root()).is_empty();
        let value: Option<T> = read(&document);
        if let Some(value) = value.filter(|_| is_accepted) {
            let text = write::to_string(&value).expect("serializes");
            let value = serde_json::from_str(&text).expect("JSON");
            assert!(other.is_valid(&value), "{schema} accepts {text}, but the program gets {value}");
        }
    }
}

fn numbers() -> Vec<String> {
    NUMBERS.map(str::to_owned).into()
}

/// A client cannot pass a bound with a number that becomes another one.
#[test]
fn a_number_in_a_json_value_is_within_the_checked_bounds() {
    for limit in
        [json!(0), json!(1), json!(0.1), json!(0.5), json!(9_007_199_254_740_992_u64), json!(u64::MAX), json!(1e300)]
    {
        for keyword in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "const"] {
            check::<Value>(&json!({ keyword: limit }), &numbers());
            check::<Value>(&json!({ "not": { keyword: limit } }), &numbers());
            check::<i64>(&json!({ "type": "integer", keyword: limit }), &numbers());
            check::<u64>(&json!({ "type": "integer", "not": { keyword: limit } }), &numbers());
        }
        check::<Value>(&json!({ "enum": [limit, 7] }), &numbers());
    }
    check::<Value>(&json!({ "type": "integer" }), &numbers());
    for step in [json!(0.25), json!(2), json!(3)] {
        check::<Value>(&json!({ "multipleOf": step, "maximum": 1e22, "minimum": -1e22 }), &numbers());
    }
    let pairs: Vec<_> =
        NUMBERS.iter().flat_map(|one| NUMBERS.iter().map(move |other| format!("[{one},{other}]"))).collect();
    check::<Value>(&json!({ "uniqueItems": true }), &pairs);
}

/// An integer that an `f64` rounds is compared in both forms.
#[test]
fn a_number_in_a_float_is_within_the_checked_bounds() {
    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Double(#[schemars(range(min = -1, max = 1))] f64);
    check::<Double>(&from_type::<Double>(), &numbers());
    for limit in [json!(0), json!(1), json!(0.1), json!(9_007_199_254_740_992_u64), json!(u64::MAX)] {
        for keyword in ["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum"] {
            check::<f64>(&json!({ "type": "number", keyword: limit }), &numbers());
            check::<Value>(&json!({ "type": ["number", "null"], keyword: limit }), &numbers());
            check::<f64>(&json!({ "not": { "type": "number", keyword: limit } }), &numbers());
        }
    }
}

/// serde would make it infinite.
#[test]
fn a_number_beyond_an_f32_is_rejected() {
    for (text, is_read) in [("3.4028235e38", true), ("3.4028236e38", false), ("-1e39", false)] {
        let document = Document::parse(text.as_bytes(), JsonLimits::default()).expect("JSON");
        assert_eq!(read::<f32>(&document).is_some(), is_read, "{text}");
    }
}

#[test]
fn numbers_that_become_a_bound_are_rejected() {
    for (schema, text) in [
        (json!({ "exclusiveMinimum": 0 }), "1e-400"),
        (json!({ "exclusiveMinimum": 0 }), "1e-99999999999999999999"),
        (json!({ "exclusiveMaximum": 1 }), "0.99999999999999999999"),
        (json!({ "type": "number", "exclusiveMinimum": 9_007_199_254_740_992_u64 }), "9007199254740993"),
        (json!({ "not": { "const": 1 } }), "0.99999999999999999999"),
        (json!({ "uniqueItems": true }), "[0.1,0.10000000000000000001]"),
        (json!({ "multipleOf": 3 }), "-9223372036854775809"),
        (json!({ "not": { "maximum": -9.223_372_036_854_776e18 } }), "-9223372036854775809"),
        (json!({ "maximum": 50 }), "1e99999999999999999999"),
        (json!({ "type": "number", "maximum": 50 }), "1e400"),
    ] {
        let validator = Validator::new(schema.clone()).expect("a schema");
        let document = Document::parse(text.as_bytes(), JsonLimits::default()).expect("JSON");
        let mistakes = validator.validate(document.root());
        assert!(mistakes.len() == 1 && mistakes[0].contains("must"), "{schema} {text}: {mistakes:?}");
    }
}

#[test]
fn numbers_that_become_an_allowed_value_are_accepted() {
    for (schema, text) in [
        (json!({ "enum": [0.1] }), "0.10000000000000000001"),
        (json!({ "type": "integer" }), "0.99999999999999999999"),
        (json!({ "multipleOf": 0.01 }), "4.02000000000000000001"),
        (json!({ "type": "integer", "minimum": 9_007_199_254_740_993_u64 }), "9007199254740993.0"),
        (json!({ "uniqueItems": true }), "[9007199254740992,9007199254740993]"),
        // The number as it is matches one alternative, and the `f64` matches the other.
        (
            json!({ "type": "number", "anyOf": [
                { "type": "number", "maximum": 9_007_199_254_740_992_u64 },
                { "type": "number", "exclusiveMinimum": 9_007_199_254_740_992_u64 },
            ] }),
            "9007199254740993",
        ),
    ] {
        let validator = Validator::new(schema.clone()).expect("a schema");
        let document = Document::parse(text.as_bytes(), JsonLimits::default()).expect("JSON");
        assert_eq!(validator.validate(document.root()), Vec::<String>::new(), "{schema} {text}");
    }
}
