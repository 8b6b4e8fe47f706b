//! Fuzzes the check of values against schemas. Equivalent schemas give the same verdict, and a check stays within its limits on steps and
//! memory.
//!
//! The first line of the input is the schema, and the rest is the value. If a check takes longer than its number of steps suggests, the
//! fuzzer reports a timeout. If a check leaks memory, the number of live bytes differs.
#![no_main]

use edge_json::decimal::Decimal;
use edge_json::{Document, JsonLimits, Kind, Value};
use edge_json_schema::{CheckSteps, Options, Validator};
use libfuzzer_sys::fuzz_target;
use peak_alloc::PeakAlloc;
use serde_json::{Value as Json, json};

/// The same constants as in the library.
const MOST_MISTAKES: usize = 10;
const TOO_LONG: &str = "this takes too long to check";

#[global_allocator]
static MEMORY: PeakAlloc = PeakAlloc;

/// The maximum number of live bytes of a check, independent of the value: cached results, states of patterns, and mistakes.
const MOST_BYTES: usize = 4 << 20;
/// The additional live bytes for each byte of the value: sorted members, digests of items, and canonical forms.
const BYTES_FOR_EACH: usize = 64;

type Validate = fn(&Validator, Value<'_>) -> Vec<String>;

fuzz_target!(|input: &str| {
    let (schema, value) = input.split_once('\n').unwrap_or((input, "null"));
    let Ok(schema) = serde_json::from_str::<Json>(schema) else { return };
    let Ok(compiled) = Validator::new(schema.clone()) else { return };
    let Ok(document) = Document::parse(value.as_bytes(), JsonLimits::default()) else { return };
    assert_bounded(&compiled, &document, value.len());
    let whole = self_contained(schema);
    let validators: [Validate; 2] = [Validator::validate, with_formats];
    for validate in validators {
        let mistakes = validate(&compiled, document.root());
        assert!(mistakes.len() <= MOST_MISTAKES, "{mistakes:?}");
        assert_eq!(validate(&compiled, document.root()), mistakes);
        // A check of one form may reach a limit that a check of another form does not reach.
        let Some(fits) = verdict(&mistakes) else { continue };
        for (another, is_opposite) in [
            (json!({ "allOf": [whole] }), false),
            (json!({ "not": { "not": whole } }), false),
            (json!({ "not": whole }), true),
            (json!({ "if": whole, "else": false }), false),
            (json!({ "oneOf": [whole, false] }), false),
        ] {
            let Ok(compiled) = Validator::new(another.clone()) else { continue };
            let mistakes = validate(&compiled, document.root());
            let Some(other) = verdict(&mistakes) else { continue };
            // If one form of an integer matches and the other does not, neither the schema nor its opposite accepts the value.
            let is_neither = is_opposite && !fits && !other && is_rounded(document.root());
            assert!(is_neither || other == (fits != is_opposite), "{another}: {mistakes:?}");
        }
        for (all_or_none, fits) in [(true, true), (false, false)] {
            let compiled = Validator::new(all_or_none.into()).expect("a schema");
            assert_eq!(validate(&compiled, document.root()).is_empty(), fits);
        }
    }
});

/// Checks the answer to a form.
fn with_formats(validator: &Validator, value: Value<'_>) -> Vec<String> {
    validator.check(value, Options { checks_formats: true, ..Options::default() }, &CheckSteps::default())
}

/// Checks the value, and asserts that the check stays within its limits on steps and memory.
fn assert_bounded(schema: &Validator, document: &Document<'_>, length: usize) {
    let before = MEMORY.current_usage();
    MEMORY.reset_peak_usage();
    let (steps, limit) = schema.steps(document.root());
    let (peak, after) = (MEMORY.peak_usage(), MEMORY.current_usage());
    assert!(steps <= limit, "{steps} steps");
    let most = length.saturating_mul(BYTES_FOR_EACH).saturating_add(MOST_BYTES);
    assert!(peak.saturating_sub(before) <= most, "{} bytes at one time", peak.saturating_sub(before));
    assert_eq!(after, before, "bytes are live after the check");
}

/// Returns whether the value is valid, or `None` if the check reached its limit.
fn verdict(mistakes: &[String]) -> Option<bool> {
    (!mistakes.iter().any(|mistake| mistake.starts_with(TOO_LONG))).then_some(mistakes.is_empty())
}

/// Returns whether the value has an integer that an `f64` rounds, so that it is checked in two forms.
fn is_rounded(value: Value<'_>) -> bool {
    let nested = (0..value.count()).map(|nth| value.at(value.position().saturating_add(nth)));
    nested
        .filter(|value| value.kind() == Kind::Number)
        .any(|number| Decimal::of(number.text()) != Decimal::of(number.text()).as_double())
}

/// Returns the schema with an `$id`, so that its references still resolve within it if it is part of another schema.
fn self_contained(mut schema: Json) -> Json {
    if let Json::Object(object) = &mut schema
        && !object.get("$id").is_some_and(Json::is_string)
    {
        object.insert("$id".to_owned(), "x://whole/root".into());
    }
    schema
}
