//! Compares the verdicts of this library with those of another validator, for random schemas and for random values that almost match them.
//!
//! The schemas and values are the same in each run. A failure prints the seed of its case. `PROPERTY_SEED=<seed>` runs only that case, and
//! prints each schema and value.

// A test may panic.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects)]

#[path = "../cases.rs"]
mod cases;
// Other tests use the rest of it. A dependency on their crate would be one on the library.
#[allow(dead_code, unreachable_pub)]
#[path = "../../../../tests/property/random.rs"]
mod random;
mod schemas;
mod values;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use edge_json::{Document, JsonLimits};
use edge_json_schema::{Validator, portable};
use jsonschema::{Draft, ValidationError};
use random::Random;
use serde_json::Value;

const SCHEMAS: u64 = 4_000;
const VALUES: usize = 8;

/// The enforced keywords, except `if`, which does not reject values by itself.
#[rustfmt::skip]
const KEYWORDS: [&str; 35] = [
    "$ref", "additionalProperties", "allOf", "anyOf", "const", "contains", "dependentRequired", "dependentSchemas", "else", "enum",
    "exclusiveMaximum", "exclusiveMinimum", "items", "maxContains", "maxItems", "maxLength", "maxProperties", "maximum",
    "minContains", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "oneOf", "pattern",
    "patternProperties", "prefixItems", "properties", "propertyNames", "required", "then", "type", "uniqueItems",
];

/// The numbers of verdicts.
#[derive(Debug, Default)]
struct Counts {
    valid: u32,
    invalid: u32,
    /// For each keyword, the number of values that it or a schema within it rejected.
    invalid_by_keyword: BTreeMap<String, u32>,
    /// For each keyword, the number of values that matched a schema with it.
    valid_by_keyword: BTreeMap<String, u32>,
}

impl Counts {
    fn add_valid(&mut self, schema: &Value) {
        self.valid += 1;
        let mut open = vec![schema];
        while let Some(schema) = open.pop() {
            match schema {
                Value::Array(items) => open.extend(items),
                Value::Object(members) => {
                    for (name, member) in members {
                        *self.valid_by_keyword.entry(name.clone()).or_default() += 1;
                        open.push(member);
                    }
                }
                _ => {}
            }
        }
    }

    fn add_invalid(&mut self, error: &ValidationError<'_>) {
        self.invalid += 1;
        for keyword in error.evaluation_path().as_str().split('/').skip(1) {
            *self.invalid_by_keyword.entry(keyword.to_owned()).or_default() += 1;
        }
    }
}

fn run(seed: u64, is_alone: bool, counts: &mut Counts) {
    let random = &mut Random::new(seed);
    let (schema, numbers) = schemas::schema(random);
    let fail = |why: &str, value: &str| -> ! { panic!("seed {seed}: {why}\nschema {schema}\nvalue {value}") };
    let other = jsonschema::options().with_draft(Draft::Draft202012).offline().build(&schema);
    let other = other.unwrap_or_else(|error| fail(&format!("the other validator rejects the schema: {error}"), ""));
    let compiled = Validator::new(schema.clone());
    let compiled = compiled.unwrap_or_else(|error| fail(&format!("this library rejects the schema: {error}"), ""));
    let rewritten = portable(schema.clone());
    let rewritten =
        Validator::new(rewritten.clone()).unwrap_or_else(|error| fail(&error.to_string(), &rewritten.to_string()));
    for _ in 0..VALUES {
        let text = values::spelled(&values::near(&schema, random, numbers), random);
        let document = Document::parse(text.as_bytes(), JsonLimits::default());
        let document = document.unwrap_or_else(|error| fail(&error.to_string(), &text));
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| fail(&error.to_string(), &text));
        let mistakes = catch_unwind(AssertUnwindSafe(|| compiled.validate(document.root())));
        let mistakes = mistakes.unwrap_or_else(|_| fail("the check panicked", &text));
        let error = other.iter_errors(&value).next();
        if is_alone {
            println!("schema {schema}\nvalue {text}\nthis library: {mistakes:?}\nother validator: {error:?}\n");
        }
        if mistakes.is_empty() != error.is_none() {
            let error = error.map_or("valid".to_owned(), |error| format!("{error} ({})", error.evaluation_path()));
            fail(&format!("this library: {mistakes:?}, other validator: {error}"), &text);
        }
        if rewritten.validate(document.root()).is_empty() != error.is_none() {
            fail(&format!("the form for client libraries has another meaning: {}", rewritten.schema()), &text);
        }
        match error {
            None => counts.add_valid(&schema),
            Some(error) => counts.add_invalid(&error),
        }
    }
}

#[test]
fn verdicts_equal_those_of_another_validator() {
    let mut counts = Counts::default();
    if let Ok(seed) = std::env::var("PROPERTY_SEED") {
        return run(seed.parse().expect("PROPERTY_SEED is a number"), true, &mut counts);
    }
    for seed in 0..SCHEMAS {
        run(seed, false, &mut counts);
    }
    println!("{counts:#?}");
    // The test is only meaningful if every keyword often accepts and rejects values.
    let is_rare = |counts: &BTreeMap<String, u32>, keyword: &str| counts.get(keyword).is_none_or(|count| *count < 20);
    let rare: Vec<_> = KEYWORDS
        .into_iter()
        .filter(|keyword| is_rare(&counts.invalid_by_keyword, keyword) || is_rare(&counts.valid_by_keyword, keyword))
        .collect();
    assert!(rare.is_empty(), "rarely tested: {rare:?}");
    let (valid, invalid) = (counts.valid, counts.invalid);
    assert!(valid.min(invalid) * 3 > valid.max(invalid), "{valid} valid values, {invalid} invalid values");
}

/// The schemas of the benchmark: both validators accept the valid value and reject the invalid value.
#[test]
fn verdicts_on_real_schemas_are_correct() {
    for case in cases::files().into_iter().flat_map(|(_, cases)| cases) {
        let compiled = Validator::new(case.schema.clone()).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let other = jsonschema::options().with_draft(Draft::Draft202012).offline().build(&case.schema);
        let other = other.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        for (text, is_valid) in [(&case.valid, true), (&case.invalid, false)] {
            let document = Document::parse(text.as_bytes(), JsonLimits::default()).expect("JSON");
            let mistakes = compiled.validate(document.root());
            assert_eq!(mistakes.is_empty(), is_valid, "{}: {mistakes:?}", case.name);
            assert_eq!(other.is_valid(&serde_json::from_str(text).expect("JSON")), is_valid, "{}", case.name);
        }
    }
}

/// Each seed of the fuzz target is a supported schema and a valid value.
#[test]
fn seeds_have_valid_schemas_and_values() {
    let seeds = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/seeds")).expect("the folder exists");
    let mut count = 0;
    for seed in seeds {
        let path = seed.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a file");
        let (schema, value) = text.split_once('\n').expect("two lines");
        let schema: Value = serde_json::from_str(schema).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let schema = Validator::new(schema.clone()).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let document = Document::parse(value.as_bytes(), JsonLimits::default()).expect("JSON");
        assert_eq!(schema.validate(document.root()), Vec::<String>::new(), "{}", path.display());
        count += 1;
    }
    assert!(count > 10, "{count} seeds");
}
