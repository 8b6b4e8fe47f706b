//! Any schema and any value: the answer is the same whichever way the schema is put, and takes no more steps and memory than it may.
//!
//! The input is the schema on its first line, and the value in what follows. A check that takes longer than its steps allow shows as a
//! timeout, and a check that keeps memory shows as a difference of live bytes.
#![no_main]

use edge_mcp::json::{Document, JsonLimits, Value};
use edge_mcp::schema::Schema;
use libfuzzer_sys::fuzz_target;
use peak_alloc::PeakAlloc;
use serde_json::{Value as Json, json};

/// As the library has it.
const MOST_MISTAKES: usize = 10;
const TOO_LONG: &str = "this takes too long to check";

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// Bytes that a check may take at one time, whatever the value: remembered answers, states of patterns, and the mistakes.
const MOST_BYTES: usize = 4 << 20;
/// Bytes that it may take in addition for each byte of the value: members in order, digests of items, canonical forms.
const BYTES_FOR_EACH: usize = 64;

type Validate = fn(&Schema, Value<'_>) -> Vec<String>;

fuzz_target!(|input: &str| {
    let (schema, value) = input.split_once('\n').unwrap_or((input, "null"));
    let Ok(schema) = serde_json::from_str::<Json>(schema) else { return };
    let Ok(compiled) = Schema::of_value(&schema) else { return };
    let Ok(document) = Document::parse(value.as_bytes(), JsonLimits::default()) else { return };
    is_bounded(&compiled, &document, value.len());
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

/// Checks the value, and fails if that takes too much.
fn is_bounded(schema: &Schema, document: &Document<'_>, length: usize) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let (steps, limit) = schema.steps(document.root());
    let (peak, after) = (MEMORY.peak_usage(), MEMORY.current_usage());
    assert!(steps <= limit, "{steps} steps");
    let most = length.saturating_mul(BYTES_FOR_EACH).saturating_add(MOST_BYTES);
    assert!(peak.saturating_sub(before) <= most, "{} bytes at one time", peak.saturating_sub(before));
    assert_eq!(after, before, "bytes are live after the check");
}

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
