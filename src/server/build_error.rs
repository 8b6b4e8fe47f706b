//! The error of a server that cannot be built as it is defined.

use std::fmt;

/// A definition that cannot be served.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError {
    kind: &'static str,
    name: String,
    problem: String,
}

impl BuildError {
    /// Anything else that a server function has to refuse: `kind` and `name` say what, `problem` says why.
    pub fn new(kind: &'static str, name: impl Into<String>, problem: impl Into<String>) -> Self {
        Self { kind, name: name.into(), problem: problem.into() }
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the {} {:?} {}", self.kind, self.name, self.problem)
    }
}

impl std::error::Error for BuildError {}
