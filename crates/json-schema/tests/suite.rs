//! Runs the official tests of JSON Schema 2020-12, 2019-09 and draft-07 with [`Validator`]. `scripts/setup --schema-suite` fetches them.
//!
//! Each file has groups. A group has a schema, and values with the expected verdicts. Every schema must compile, and every verdict must be
//! correct, except for the entries of `excluded`. An excluded group that passes fails the run, so the list stays accurate.

// A test may panic.
#![allow(clippy::expect_used, clippy::panic)]

mod excluded;
mod report;

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use edge_json::{Document, JsonLimits, Value};
use edge_json_schema::{CheckSteps, Options, Validator};

use excluded::{Excluded, IN_2019_09, IN_2020_12, IN_ALL, IN_DRAFT_07, SINCE_2019_09};
use report::{Group, Report, Verdict};

const SUITE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../.tools/json-schema-test-suite");

/// The formats of forms. Only these are enforced, and only in forms.
const FORMATS: [&str; 4] = ["date", "date-time", "email", "uri"];

#[test]
fn verdicts_equal_those_of_the_official_suite() {
    run_dialect("draft2020-12", &[IN_ALL, SINCE_2019_09, IN_2020_12]);
}

#[test]
fn verdicts_of_2019_09_equal_those_of_the_official_suite() {
    run_dialect("draft2019-09", &[IN_ALL, SINCE_2019_09, IN_2019_09]);
}

#[test]
fn verdicts_of_draft_07_equal_those_of_the_official_suite() {
    run_dialect("draft7", &[IN_ALL, IN_DRAFT_07]);
}

fn run_dialect(folder: &str, excluded: &[&[Excluded]]) {
    let suite = Path::new(SUITE).join(folder);
    let mut report = Report::new(excluded.concat());
    for path in json_files(&suite).into_iter().chain(json_files(&suite.join("optional"))) {
        run(&suite, &path, Validator::validate, &mut report);
    }
    for format in FORMATS {
        let path = suite.join("optional/format").join(format).with_extension("json");
        run(&suite, &path, WITH_FORMATS, &mut report);
    }
    println!("  {folder}: {}", report.summary());
    let problems = report.problems();
    assert!(problems.is_empty(), "{} problems\n{}", problems.len(), problems.join("\n"));
}

fn json_files(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder)
        .unwrap_or_else(|error| panic!("{}: {error}; scripts/setup --schema-suite fetches it", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    assert!(!files.is_empty(), "{} does not contain tests", folder.display());
    files.sort();
    files
}

/// Checks a value against a schema, and returns the mistakes.
type Validate = fn(&Validator, Value<'_>) -> Vec<String>;

/// The check for the answers to forms.
const WITH_FORMATS: Validate = |validator, value| {
    let options = Options { checks_formats: true, ..Options::default() };
    validator.check(value, options, &CheckSteps::default())
};

fn run(suite: &Path, path: &Path, validate: Validate, report: &mut Report) {
    let name = path.strip_prefix(suite).expect("a file of the suite").to_string_lossy();
    let is_draft_07 = suite.ends_with("draft7");
    let bytes = fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    // The reader of the library keeps the text of numbers, such as `1.0`, with all digits.
    let document = Document::parse(&bytes, JsonLimits::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
    for group in document.root().items() {
        report.add(&result(&name, group, is_draft_07, validate));
    }
}

fn result(file: &str, group: Value<'_>, is_draft_07: bool, validate: Validate) -> Group {
    let schema = member(group, "schema");
    let tests: Vec<_> = member(group, "tests").items().collect();
    let verdicts =
        compile(schema, is_draft_07).map(|schema| tests.iter().map(|test| verdict(&schema, *test, validate)).collect());
    Group {
        file: file.to_owned(),
        name: description(group),
        schema: schema.text().to_owned(),
        size: tests.len(),
        verdicts,
    }
}

// A panic of the library is also a failure. The report has the name of its test.

fn compile(schema: Value<'_>, is_draft_07: bool) -> Result<Validator, String> {
    let mut schema: serde_json::Value = serde_json::from_str(schema.text()).map_err(|error| error.to_string())?;
    // The schemas of this part of the suite do not name their dialect.
    if let Some(members) = schema.as_object_mut().filter(|_| is_draft_07) {
        members.entry("$schema").or_insert_with(|| "http://json-schema.org/draft-07/schema#".into());
    }
    match catch_unwind(AssertUnwindSafe(|| Validator::new(schema))) {
        Ok(compiled) => compiled.map_err(|error| error.to_string()),
        Err(_) => Err("a panic".to_owned()),
    }
}

fn verdict(schema: &Validator, test: Value<'_>, validate: Validate) -> Verdict {
    let data = member(test, "data");
    let mistakes = catch_unwind(AssertUnwindSafe(|| validate(schema, data))).map_err(|_| "a panic".to_owned());
    let expects_valid = member(test, "valid").text() == "true";
    Verdict { test: description(test), data: data.text().to_owned(), expects_valid, mistakes }
}

fn member<'d>(value: Value<'d>, name: &str) -> Value<'d> {
    value.get(name).unwrap_or_else(|| panic!("no `{name}` in {value:?}"))
}

fn description(value: Value<'_>) -> String {
    member(value, "description").as_str().expect("a string").into_owned()
}
