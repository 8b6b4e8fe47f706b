//! A compiled schema.

use std::cell::Cell;

use edge_json::{Value, write};
use serde_json::value::RawValue;

use super::budget::{CheckSteps, Steps};
use super::check::{self, Options};
use super::compile;
use super::error::SchemaError;
use super::limits::{CHECK_STEPS, EXPLANATION_STEPS};
use super::program::Program;

/// A compiled JSON Schema: the schema as it is published, and the program that enforces it.
pub struct Validator {
    schema: serde_json::Value,
    json: Box<RawValue>,
    program: Program,
    is_of_objects: bool,
}

/// The reason why a foreign schema is not enforced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NotEnforceable {
    /// The schema is valid, and has a part that is not supported: a keyword, or a pattern with lookaround.
    Unsupported(Box<SchemaError>),
    /// The schema is not valid, or only a reader that fetches other documents can tell.
    Invalid(Box<SchemaError>),
    /// The compilation takes too many steps.
    TooCostly,
}

impl Validator {
    /// Compiles a schema of this program, without a limit on steps.
    ///
    /// # Errors
    /// [`SchemaError`] if the value is not a valid schema or uses a keyword that cannot be enforced.
    pub fn new(schema: serde_json::Value) -> Result<Self, SchemaError> {
        Self::compile(schema, &mut Steps::unlimited()).map_err(|error| *error)
    }

    /// Compiles a schema of someone else in at most `left` steps, of about 10 ns and 4 bytes each, and subtracts the steps that it took.
    ///
    /// # Errors
    /// The schema cannot be enforced.
    pub fn within(schema: serde_json::Value, left: &Cell<u32>) -> Result<Self, NotEnforceable> {
        let mut steps = Steps::of(left.get());
        let compiled = Self::compile(schema, &mut steps);
        left.set(steps.left());
        compiled.map_err(|error| match error {
            _ if steps.are_exhausted() => NotEnforceable::TooCostly,
            error if error.is_unsupported => NotEnforceable::Unsupported(error),
            error => NotEnforceable::Invalid(error),
        })
    }

    fn compile(schema: serde_json::Value, steps: &mut Steps) -> Result<Self, Box<SchemaError>> {
        let program = compile::compile(&schema, steps)?;
        let json = write::to_raw_value(&schema)
            .map_err(|error| SchemaError::at("", format!("the schema cannot be serialized: {error}")))?;
        let is_of_objects = schema.get("type").and_then(serde_json::Value::as_str) == Some("object");
        Ok(Self { schema, json, program, is_of_objects })
    }

    /// Returns the schema as JSON text.
    pub fn json(&self) -> &RawValue {
        &self.json
    }

    /// Returns the schema as a JSON value.
    pub fn schema(&self) -> &serde_json::Value {
        &self.schema
    }

    /// Returns whether `type` is `"object"`.
    pub fn is_of_objects(&self) -> bool {
        self.is_of_objects
    }

    /// Checks `value` and returns one line for each of the first ten mistakes, or nothing if the value is valid.
    ///
    /// A line has the path of the value and the problem, such as `` `limit` must be at most 50 (got 99) ``. Values are shortened. Values of
    /// properties that are named like a secret are not shown.
    ///
    /// The number of steps is [limited](crate::limits). A value that takes more steps is rejected, with one line.
    pub fn validate(&self, value: Value<'_>) -> Vec<String> {
        self.check(value, Options::default(), &CheckSteps::default())
    }

    /// Checks `value` like [`validate`](Self::validate), with options, and with the steps that are left for several checks.
    pub fn check(&self, value: Value<'_>, options: Options, steps: &CheckSteps) -> Vec<String> {
        check::check(&self.program, value, options, steps)
    }

    /// Returns the steps that a check of `value` takes, and the limit for every check. For tests and benchmarks.
    #[doc(hidden)]
    pub fn steps(&self, value: Value<'_>) -> (u32, u32) {
        let steps = CheckSteps::default();
        self.check(value, Options::default(), &steps);
        (steps.taken(), CHECK_STEPS.saturating_add(EXPLANATION_STEPS))
    }
}

#[cfg(test)]
mod tests {
    use edge_json::{Document, JsonLimits};
    use serde_json::json;

    use super::*;

    /// The search takes most of the steps, so the explanation must not repeat the search.
    #[test]
    fn two_equal_items_are_found_among_hundreds_of_thousands() {
        let schema = Validator::new(json!({ "uniqueItems": true })).expect("a schema");
        for (last, ending) in [("1", "([0] and [1] are equal)"), ("7,7", "([400000] and [400001] are equal)")] {
            let unique: Vec<_> = (10..400_010).map(|n| n.to_string()).collect();
            let items = if last == "1" { vec!["1".to_owned(); 400_000] } else { unique };
            let text = format!("[{},{last}]", items.join(","));
            let document = Document::parse(text.as_bytes(), JsonLimits::default()).expect("within the limits");
            assert!(schema.validate(document.root()).concat().ends_with(ending), "{ending}");
        }
    }
}
