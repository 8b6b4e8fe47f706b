//! The bounds of a check: no value takes more than the allowed steps.

// A test may panic.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects, clippy::unreachable)]

#[path = "large.rs"]
#[allow(unreachable_pub, reason = "it is also a module of the benchmark")]
mod large;

use edge_json::{Document, JsonLimits};
use edge_json_schema::Validator;
use jsonschema::Draft;
use large::{Large, fitting, full, hard};
use serde_json::Value;

const TOO_LONG: &str = "this takes too long to check";

/// Returns the mistakes and the steps of a check. Every check must stay within the limit.
fn check(case: &Large) -> (Vec<String>, u32) {
    let schema = Validator::new(case.schema.clone()).expect("a schema");
    let document = Document::parse(case.value.as_bytes(), JsonLimits::default()).expect("within the limits");
    let (steps, limit) = schema.steps(document.root());
    assert!(steps <= limit, "{}: {steps} steps, of at most {limit}", case.name);
    (schema.validate(document.root()), steps)
}

#[test]
fn valid_values_that_fill_a_body_are_accepted() {
    for case in full() {
        let (mistakes, steps) = check(&case);
        assert_eq!(mistakes, Vec::<String>::new(), "{}: {steps} steps", case.name);
    }
}

/// Values of other sizes and shapes. Another validator accepts them, so this library must accept them too.
#[test]
fn valid_values_up_to_one_mebibyte_are_accepted() {
    for seed in 0..6 {
        for case in fitting((1 << 20) >> seed, seed) {
            let (mistakes, steps) = check(&case);
            let value: Value = serde_json::from_str(&case.value).expect("JSON");
            let other = jsonschema::options().with_draft(Draft::Draft202012).offline().build(&case.schema);
            assert!(other.expect("a schema").is_valid(&value), "{}", case.name);
            assert_eq!(mistakes, Vec::<String>::new(), "{}, seed {seed}: {steps} steps", case.name);
        }
    }
}

#[test]
fn checks_of_hard_values_stay_within_the_steps() {
    for case in hard(1 << 20) {
        let (mistakes, steps) = check(&case);
        println!(
            "  {}: {} bytes, {steps} steps, {}",
            case.name,
            case.value.len(),
            mistakes.first().map_or("valid", |mistake| mistake)
        );
    }
}

/// Mistakes in a small value are explained even if its schema is hard to check.
#[test]
fn small_values_are_explained_in_few_steps() {
    for case in hard(100_000).into_iter().filter(|case| case.value.len() < 10_000) {
        let (mistakes, steps) = check(&case);
        assert!(!mistakes.iter().any(|mistake| mistake.starts_with(TOO_LONG)), "{}: {mistakes:?}", case.name);
        if case.name.starts_with("recursive tagged enum") {
            assert!(steps < 20_000, "{}: {steps} steps", case.name);
        }
    }
}

/// Long texts are matched against patterns whose states repeat.
#[test]
fn long_texts_are_matched_within_the_steps() {
    for case in
        hard(100_000).into_iter().filter(|case| case.name.starts_with("pattern") && case.name.ends_with("64 KiB"))
    {
        let (mistakes, steps) = check(&case);
        assert!(!mistakes.iter().any(|mistake| mistake.starts_with(TOO_LONG)), "{}: {steps} steps", case.name);
    }
}
