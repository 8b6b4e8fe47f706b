//! Another validator says the same: of random schemas, and of random values near to them.
//!
//! They are the same in each run. A failure prints the seed of its case; `PROPERTY_SEED=<seed>` runs that case alone, and prints
//! each pair of it.

// A test may stop at the first surprise.
#![allow(clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::arithmetic_side_effects)]

#[path = "../../cases.rs"]
mod cases;
#[path = "../../../property/random.rs"]
#[allow(dead_code, unreachable_pub, reason = "the requests of another test need more of it")]
mod random;
mod schemas;
mod values;

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};

use edge_mcp::json::{Document, JsonLimits};
use edge_mcp::schema::Schema;
use jsonschema::{Draft, ValidationError};
use serde_json::Value;

use random::Random;

const SCHEMAS: u64 = 4_000;
const VALUES: usize = 8;

/// What is enforced. `if` is not among them: it refuses nothing by itself.
#[rustfmt::skip]
const KEYWORDS: [&str; 35] = [
    "$ref", "additionalProperties", "allOf", "anyOf", "const", "contains", "dependentRequired", "dependentSchemas", "else", "enum",
    "exclusiveMaximum", "exclusiveMinimum", "items", "maxContains", "maxItems", "maxLength", "maxProperties", "maximum",
    "minContains", "minItems", "minLength", "minProperties", "minimum", "multipleOf", "not", "oneOf", "pattern",
    "patternProperties", "prefixItems", "properties", "propertyNames", "required", "then", "type", "uniqueItems",
];

/// What was met, and how often.
#[derive(Debug, Default)]
struct Met {
    valid: u32,
    invalid: u32,
    /// By keyword: how many values were refused by it, or by what is in it.
    refusing: BTreeMap<String, u32>,
    /// By keyword: how many values fitted a schema that has it.
    among_valid: BTreeMap<String, u32>,
}

impl Met {
    fn note_valid(&mut self, schema: &Value) {
        self.valid += 1;
        let mut open = vec![schema];
        while let Some(schema) = open.pop() {
            match schema {
                Value::Array(items) => open.extend(items),
                Value::Object(members) => {
                    for (name, member) in members {
                        *self.among_valid.entry(name.clone()).or_default() += 1;
                        open.push(member);
                    }
                }
                _ => {}
            }
        }
    }

    fn note_invalid(&mut self, error: &ValidationError<'_>) {
        self.invalid += 1;
        for keyword in error.evaluation_path().as_str().split('/').skip(1) {
            *self.refusing.entry(keyword.to_owned()).or_default() += 1;
        }
    }
}

fn run(seed: u64, is_alone: bool, met: &mut Met) {
    let random = &mut Random::new(seed);
    let (schema, numbers) = schemas::schema(random);
    let fail = |why: &str, value: &str| -> ! { panic!("seed {seed}: {why}\nschema {schema}\nvalue {value}") };
    let other = jsonschema::options().with_draft(Draft::Draft202012).offline().build(&schema);
    let other = other.unwrap_or_else(|error| fail(&format!("not a schema: {error}"), ""));
    let compiled = Schema::of_value(&schema).unwrap_or_else(|error| fail(&format!("it is refused: {error}"), ""));
    for _ in 0..VALUES {
        let text = values::spelled(&values::near(&schema, random, numbers), random);
        let document = Document::parse(text.as_bytes(), JsonLimits::default());
        let document = document.unwrap_or_else(|error| fail(&error.to_string(), &text));
        let value: Value = serde_json::from_str(&text).unwrap_or_else(|error| fail(&error.to_string(), &text));
        let mistakes = catch_unwind(AssertUnwindSafe(|| compiled.validate(document.root())));
        let mistakes = mistakes.unwrap_or_else(|_| fail("there was a panic", &text));
        let refused = other.iter_errors(&value).next();
        if is_alone {
            println!("schema {schema}\nvalue {text}\nhere {mistakes:?}\nthere {refused:?}\n");
        }
        if mistakes.is_empty() != refused.is_none() {
            let there = refused.map_or("valid".to_owned(), |error| format!("{error} ({})", error.evaluation_path()));
            fail(&format!("here {mistakes:?}, there {there}"), &text);
        }
        match refused {
            None => met.note_valid(&schema),
            Some(error) => met.note_invalid(&error),
        }
    }
}

#[test]
fn another_validator_says_the_same() {
    let mut met = Met::default();
    if let Ok(seed) = std::env::var("PROPERTY_SEED") {
        return run(seed.parse().expect("PROPERTY_SEED is a number"), true, &mut met);
    }
    for seed in 0..SCHEMAS {
        run(seed, false, &mut met);
    }
    println!("{met:#?}");
    // Nothing was shown if nothing was tried.
    let is_rare = |counts: &BTreeMap<String, u32>, keyword: &str| counts.get(keyword).is_none_or(|count| *count < 20);
    let rare: Vec<_> = KEYWORDS
        .into_iter()
        .filter(|keyword| is_rare(&met.refusing, keyword) || is_rare(&met.among_valid, keyword))
        .collect();
    assert!(rare.is_empty(), "hardly tried: {rare:?}");
    assert!(met.valid.min(met.invalid) * 3 > met.valid.max(met.invalid), "nearly all are alike");
}

/// What is measured is judged rightly by both: each has a value that fits, and one that does not.
#[test]
fn real_schemas_are_judged_alike() {
    for case in cases::files().into_iter().flat_map(|(_, cases)| cases) {
        let compiled = Schema::of_value(&case.schema).unwrap_or_else(|error| panic!("{}: {error}", case.name));
        let other = jsonschema::options().with_draft(Draft::Draft202012).offline().build(&case.schema);
        let other = other.unwrap_or_else(|error| panic!("{}: {error}", case.name));
        for (text, fits) in [(&case.valid, true), (&case.invalid, false)] {
            let document = Document::parse(text.as_bytes(), JsonLimits::default()).expect("JSON");
            let mistakes = compiled.validate(document.root());
            assert_eq!(mistakes.is_empty(), fits, "{}: {mistakes:?}", case.name);
            assert_eq!(other.is_valid(&serde_json::from_str(text).expect("JSON")), fits, "{}", case.name);
        }
    }
}

/// What a fuzz target starts from is good: a schema that is enforced, and a value that fits.
#[test]
fn seeds_are_schemas_with_values_that_fit() {
    let seeds = fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/seeds")).expect("the folder is there");
    let mut count = 0;
    for seed in seeds {
        let path = seed.expect("an entry").path();
        let text = fs::read_to_string(&path).expect("a file");
        let (schema, value) = text.split_once('\n').expect("two lines");
        let schema: Value = serde_json::from_str(schema).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let schema = Schema::of_value(&schema).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let document = Document::parse(value.as_bytes(), JsonLimits::default()).expect("JSON");
        assert_eq!(schema.validate(document.root()), Vec::<String>::new(), "{}", path.display());
        count += 1;
    }
    assert!(count > 10, "{count} seeds");
}
