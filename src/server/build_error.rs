//! The error of a server that cannot be built.

use std::fmt;

use crate::call::state::MissingState;
use crate::config::ConfigError;

/// The error for a server or an item whose definition is invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildError(Box<InvalidItem>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct InvalidItem {
    kind: &'static str,
    name: String,
    problem: String,
}

impl BuildError {
    /// Creates an error for your own check in the server function. `kind` and `name` identify the item, and `problem` is
    /// the reason. The text of the error is `the <kind> "<name>" <problem>`.
    pub fn new(kind: &'static str, name: impl Into<String>, problem: impl Into<String>) -> Self {
        Self(Box::new(InvalidItem { kind, name: name.into(), problem: problem.into() }))
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let InvalidItem { kind, name, problem } = &*self.0;
        write!(f, "the {kind} {name:?} {problem}")
    }
}

impl std::error::Error for BuildError {}

impl From<MissingState> for BuildError {
    fn from(error: MissingState) -> Self {
        Self::new("server function", "server", format!("cannot run: {error}"))
    }
}

/// Converts the error for `?` in an endpoint function.
impl From<BuildError> for ConfigError {
    fn from(BuildError(error): BuildError) -> Self {
        let InvalidItem { kind, name, problem } = *error;
        Self::new(format!("the {kind} {name:?}"), problem)
    }
}
