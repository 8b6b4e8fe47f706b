//! The error of [`deserialize`](super::deserialize): why a type rejects a value, and the path of that value.

use std::fmt::{self, Display};

use serde::de::{Error, Expected, Unexpected};

/// The reason why a type rejects a value.
#[derive(Debug)]
pub struct TypeError(Box<Details>);

#[derive(Debug)]
struct Details {
    /// The path of the rejected value, in reverse order.
    reversed_path: Vec<PathSegment>,
    message: String,
}

/// A segment of the path from a value to a nested one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PathSegment {
    /// The member of this name of an object.
    Member(String),
    /// The item at this index of an array.
    Item(usize),
}

impl TypeError {
    pub(super) fn new(message: impl Into<String>) -> Self {
        Self(Box::new(Details { reversed_path: Vec::new(), message: message.into() }))
    }

    #[inline(never)]
    pub(super) fn expected(expected: &dyn Expected) -> Self {
        Self::new(format!("expected {expected}"))
    }

    /// Prepends `segment` to the path.
    #[inline(never)]
    #[must_use]
    pub fn inside(mut self, segment: PathSegment) -> Self {
        self.0.reversed_path.push(segment);
        self
    }

    /// Returns the path of the rejected value, from the root.
    pub fn path(&self) -> impl Iterator<Item = &PathSegment> {
        self.0.reversed_path.iter().rev()
    }

    /// Returns the problem with the value. The message of a user-defined type may quote the value.
    pub fn message(&self) -> &str {
        &self.0.message
    }
}

impl Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)
    }
}

impl std::error::Error for TypeError {}

/// The messages do not contain the rejected value: the caller has sent it, and the code that formats it would be large.
impl Error for TypeError {
    fn custom<T: Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::expected(expected)
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::expected(expected)
    }
}
