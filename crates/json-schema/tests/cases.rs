//! The schemas in `schemas/`: schemas of real tools, and of common arguments of tools. Each has a valid value and an invalid one.

use std::fs;
use std::path::Path;

use serde_json::Value;

/// A schema, a valid value and an invalid value.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) schema: Value,
    pub(crate) valid: String,
    pub(crate) invalid: String,
}

/// Returns the name and the cases of each file.
pub(crate) fn files() -> Vec<(String, Vec<Case>)> {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schemas"));
    let entries = fs::read_dir(folder).expect("the folder exists");
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    let file = |path: &Path| {
        let name = path.file_stem().expect("a file has a name").to_string_lossy().into_owned();
        let cases: Value = serde_json::from_slice(&fs::read(path).expect("a file")).expect("JSON");
        (name, cases.as_array().expect("a list").iter().map(Case::of).collect())
    };
    paths.iter().map(|path| file(path)).collect()
}

impl Case {
    fn of(value: &Value) -> Self {
        Self {
            name: value["name"].as_str().expect("a name").to_owned(),
            schema: value["schema"].clone(),
            valid: value["valid"].to_string(),
            invalid: value["invalid"].to_string(),
        }
    }
}
