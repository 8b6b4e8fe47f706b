//! The error for a schema that cannot be enforced.

use std::error::Error;
use std::fmt;

/// The reason why a schema is rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SchemaError {
    /// The position in the schema as a JSON pointer. Empty for the whole schema.
    pub pointer: String,
    /// The problem at this position.
    pub problem: String,
}

impl SchemaError {
    /// Creates a boxed error. It is boxed because most functions of the compiler return it in a `Result`.
    pub(super) fn at(pointer: &str, problem: impl Into<String>) -> Box<Self> {
        Box::new(Self { pointer: pointer.to_owned(), problem: problem.into() })
    }
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
