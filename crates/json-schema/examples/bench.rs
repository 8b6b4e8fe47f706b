//! Measures the compilation of schemas and the validation of values, in comparison with another validator. It prints a Markdown table of
//! nanoseconds.
//!
//! `cargo run --release -p edge-mcp-schema-tests --example bench`. Each number is the median of several runs, in which both validators
//! take turns. If a file has several schemas, the number is the sum for all of them.
//!
//! - *compile*: from a JSON value to a validator. This library also writes the published text. The other validator first checks that the
//!   schema is valid.
//! - *read*: from the text of the valid value to the input of the validator.
//! - *valid*: the check of the valid value.
//! - *invalid*: the messages about the invalid value, at most ten.

// A benchmark may panic.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

#[path = "../tests/cases.rs"]
mod cases;

use std::hint::black_box;
use std::time::{Duration, Instant};

use edge_json::{Document, JsonLimits};
use jsonschema::{Draft, Validator};
use serde_json::Value;

use cases::Case;

/// The number of runs. The result is their median.
const RUNS: usize = 15;
/// The smallest duration of a run that the clock measures precisely enough.
const RUN: Duration = Duration::from_millis(10);
/// The limit of this library, also used for the other validator.
const MOST_MESSAGES: usize = 10;

fn main() {
    println!(
        "| schemas | bytes | compile here | there | read here | there | valid here | there | invalid here | there |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (name, cases) in cases::files() {
        let bytes: usize = cases.iter().map(|case| case.schema.to_string().len()).sum();
        let name = match cases.as_slice() {
            [case] => case.name.clone(),
            cases => format!("{name} ({} schemas)", cases.len()),
        };
        let pairs = [compiling(&cases), reading(&cases), validating(&cases), rejecting(&cases)];
        let times: Vec<_> = pairs.iter().flat_map(|(here, there)| [here.to_string(), there.to_string()]).collect();
        println!("| {name} | {bytes} | {} |", times.join(" | "));
    }
}

fn here(schema: &Value) -> edge_json_schema::Validator {
    edge_json_schema::Validator::new(schema.clone()).expect("a schema that is enforced")
}

fn there(schema: &Value) -> Validator {
    jsonschema::options().with_draft(Draft::Draft202012).offline().build(schema).expect("a schema")
}

fn document(text: &str) -> Document<'_> {
    Document::parse(text.as_bytes(), JsonLimits::default()).expect("JSON")
}

fn value(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

fn messages(validator: &Validator, value: &Value) -> Vec<String> {
    validator.iter_errors(value).take(MOST_MESSAGES).map(|error| error.to_string()).collect()
}

/// Runs two functions in turns, and returns the median time of each in nanoseconds.
fn medians(mut here: impl FnMut(), mut there: impl FnMut()) -> (u128, u128) {
    let (here_times, there_times) = (times(&mut here), times(&mut there));
    let runs = (0..RUNS).map(|_| (run(&mut here, here_times), run(&mut there, there_times)));
    let (mut ours, mut theirs): (Vec<_>, Vec<_>) = runs.unzip();
    (median(&mut ours), median(&mut theirs))
}

fn median(times: &mut [u128]) -> u128 {
    times.sort_unstable();
    times[times.len() / 2]
}

/// Returns how many calls of `work` take at least [`RUN`]. Afterwards the code and the data of `work` are warm.
fn times(work: &mut impl FnMut()) -> u32 {
    let mut times = 1;
    while Duration::from_nanos(u64::try_from(run(work, times)).expect("a short time")) * times < RUN {
        times *= 2;
    }
    times
}

/// Calls `work` the given number of times, and returns the time per call in nanoseconds.
fn run(work: &mut impl FnMut(), times: u32) -> u128 {
    let begun = Instant::now();
    for _ in 0..times {
        work();
    }
    begun.elapsed().as_nanos() / u128::from(times)
}

fn compiling(cases: &[Case]) -> (u128, u128) {
    let runs =
        (0..RUNS * 20).map(|run| (time_of_all(&variants(cases, run), here), time_of_all(&variants(cases, run), there)));
    let (mut ours, mut theirs): (Vec<_>, Vec<_>) = runs.unzip();
    (median(&mut ours), median(&mut theirs))
}

/// Returns the schemas with a different comment in each run. This library would compile equal schemas only once.
fn variants(cases: &[Case], run: usize) -> Vec<Value> {
    let mut schemas: Vec<_> = cases.iter().map(|case| case.schema.clone()).collect();
    for (nth, schema) in schemas.iter_mut().enumerate() {
        schema["$comment"] = format!("{run}.{nth}").into();
    }
    schemas
}

/// Returns the time to compile all schemas, without the time to drop them.
fn time_of_all<T>(schemas: &[Value], compile: impl Fn(&Value) -> T) -> u128 {
    let begun = Instant::now();
    let compiled: Vec<T> = schemas.iter().map(compile).collect();
    let time = begun.elapsed().as_nanos();
    drop(black_box(compiled));
    time
}

fn reading(cases: &[Case]) -> (u128, u128) {
    medians(
        || cases.iter().for_each(|case| drop(black_box(document(&case.valid)))),
        || cases.iter().for_each(|case| drop(black_box(value(&case.valid)))),
    )
}

fn validating(cases: &[Case]) -> (u128, u128) {
    let ours: Vec<_> = cases.iter().map(|case| (here(&case.schema), document(&case.valid))).collect();
    let theirs: Vec<_> = cases.iter().map(|case| (there(&case.schema), value(&case.valid))).collect();
    medians(
        || {
            for (schema, document) in &ours {
                assert!(black_box(schema).validate(document.root()).is_empty(), "the value is valid");
            }
        },
        || {
            for (validator, value) in &theirs {
                assert!(black_box(validator).is_valid(value), "the value is valid");
            }
        },
    )
}

fn rejecting(cases: &[Case]) -> (u128, u128) {
    let ours: Vec<_> = cases.iter().map(|case| (here(&case.schema), document(&case.invalid))).collect();
    let theirs: Vec<_> = cases.iter().map(|case| (there(&case.schema), value(&case.invalid))).collect();
    medians(
        || {
            for (schema, document) in &ours {
                assert!(!black_box(schema).validate(document.root()).is_empty(), "the value is invalid");
            }
        },
        || {
            for (validator, value) in &theirs {
                assert!(!messages(black_box(validator), value).is_empty(), "the value is invalid");
            }
        },
    )
}
