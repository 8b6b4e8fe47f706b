//! The error for a schema that cannot be enforced.

use std::error::Error;
use std::fmt;
use std::ptr;

use serde_json::Value;

use super::budget::TOO_COSTLY;

/// The reason why a schema is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// The position in the schema as a JSON pointer. Empty for the whole schema.
    pub pointer: String,
    /// The problem at this position.
    pub problem: String,
    /// Whether the schema is valid, and only this library does not support a part of it.
    pub(super) is_unsupported: bool,
}

impl SchemaError {
    /// Creates a boxed error. It is boxed because most functions of the compiler return it in a `Result`.
    pub fn at(pointer: &str, problem: impl Into<String>) -> Box<Self> {
        Box::new(Self { pointer: pointer.to_owned(), problem: problem.into(), is_unsupported: false })
    }

    /// Creates the error for the value of a keyword.
    pub(super) fn of_keyword(keyword: &str, problem: impl Into<String>) -> Box<Self> {
        Self::at(&format!("/{}", escaped(keyword)), problem)
    }

    /// Creates the error for a schema whose compilation takes too many steps.
    pub(super) fn too_costly() -> Box<Self> {
        Self::at("", format!("the schema {TOO_COSTLY}"))
    }

    /// Converts the position from a position in `schema` to a position in `root`, which contains `schema`.
    #[cold]
    pub(super) fn within(mut self: Box<Self>, root: &Value, schema: &Value) -> Box<Self> {
        self.pointer.insert_str(0, &pointer_to(schema, root).unwrap_or_default());
        self
    }
}

/// Returns the JSON pointer from `root` to `schema`, or `None` if `root` does not contain `schema`.
///
/// A subschema is found by its address. The search is slow, but only an error needs it, so the compiler does not have to keep pointers.
fn pointer_to(schema: &Value, root: &Value) -> Option<String> {
    if ptr::eq(schema, root) {
        return Some(String::new());
    }
    let below = |token: &str, value: &Value| Some(format!("/{token}{}", pointer_to(schema, value)?));
    match root {
        Value::Array(items) => (0_usize..).zip(items).find_map(|(nth, item)| below(&nth.to_string(), item)),
        Value::Object(members) => members.iter().find_map(|(name, member)| below(&escaped(name), member)),
        _ => None,
    }
}

/// Escapes a name as a reference token of a JSON pointer (RFC 6901 §3).
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

impl fmt::Display for SchemaError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pointer.as_str() {
            "" => write!(f, "{}", self.problem),
            pointer => write!(f, "{} at {pointer}", self.problem),
        }
    }
}

impl Error for SchemaError {}
