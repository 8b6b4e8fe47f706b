//! Any schema and any value: nothing panics, an answer comes, and it is the same whichever way the schema is put.
//!
//! The input is the schema on its first line, and the value in what follows. How far a check goes is limited by the library, so
//! that one which is not done in time is a failure too.
#![no_main]

use edge_mcp::protocol::json::{Document, JsonLimits, Value};
use edge_mcp::schema::Schema;
use libfuzzer_sys::fuzz_target;
use serde_json::{Value as Json, json};

/// As the library has it.
const MOST_MISTAKES: usize = 10;
const TOO_LONG: &str = "this takes too long to check";

type Validate = fn(&Schema, Value<'_>) -> Vec<String>;

fuzz_target!(|input: &str| {
    let (schema, value) = input.split_once('\n').unwrap_or((input, "null"));
    let Ok(schema) = serde_json::from_str::<Json>(schema) else { return };
    let Ok(compiled) = Schema::of_value(&schema) else { return };
    let Ok(document) = Document::parse(value.as_bytes(), JsonLimits::default()) else { return };
    let whole = standing_alone(schema);
    let ways: [Validate; 2] = [Schema::validate, Schema::validate_with_formats];
    for validate in ways {
        let mistakes = validate(&compiled, document.root());
        assert!(mistakes.len() <= MOST_MISTAKES, "{mistakes:?}");
        assert_eq!(validate(&compiled, document.root()), mistakes);
        // A limit may be met one way and not another.
        let Some(fits) = verdict(&mistakes) else { continue };
        for (another, is_opposite) in [
            (json!({ "allOf": [whole] }), false),
            (json!({ "not": { "not": whole } }), false),
            (json!({ "not": whole }), true),
            (json!({ "if": whole, "else": false }), false),
            (json!({ "oneOf": [whole, false] }), false),
        ] {
            let Ok(compiled) = Schema::of_value(&another) else { continue };
            let mistakes = validate(&compiled, document.root());
            assert!(verdict(&mistakes).is_none_or(|other| other == (fits != is_opposite)), "{another}: {mistakes:?}");
        }
        for (all_or_none, fits) in [(true, true), (false, false)] {
            let compiled = Schema::of_value(&all_or_none.into()).expect("a schema");
            assert_eq!(validate(&compiled, document.root()).is_empty(), fits);
        }
    }
});

/// Whether nothing is wrong; `None` if it took too long to say.
fn verdict(mistakes: &[String]) -> Option<bool> {
    (!mistakes.iter().any(|mistake| mistake.starts_with(TOO_LONG))).then_some(mistakes.is_empty())
}

/// The schema under a name, so that its references stay within it wherever it is put.
fn standing_alone(mut schema: Json) -> Json {
    if let Json::Object(object) = &mut schema
        && !object.get("$id").is_some_and(Json::is_string)
    {
        object.insert("$id".to_owned(), "x://whole/root".into());
    }
    schema
}
