//! What a type does not take of a value, and where it is.

use std::fmt::{self, Display};

use serde::de::{Error, Expected, Unexpected};

/// Why a type does not take a value.
#[derive(Debug)]
pub(crate) struct TypeError(Box<Told>);

#[derive(Debug)]
struct Told {
    /// The way to the value, from its end to its beginning.
    way: Vec<Step>,
    what: String,
}

/// From a value to one that is in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Member(String),
    Item(usize),
}

impl TypeError {
    /// The way to the value, from the whole.
    pub(crate) fn way(&self) -> impl Iterator<Item = &Step> {
        self.0.way.iter().rev()
    }

    /// What is said of the value. A type of its own may quote it.
    pub(crate) fn what(&self) -> &str {
        &self.0.what
    }

    pub(super) fn of(what: String) -> Self {
        Self(Box::new(Told { way: Vec::new(), what }))
    }

    #[inline(never)]
    pub(super) fn expected(expected: &dyn Expected) -> Self {
        Self::of(format!("expected {expected}"))
    }

    #[inline(never)]
    pub(super) fn at(mut self, step: Step) -> Self {
        self.0.way.push(step);
        self
    }
}

impl Display for TypeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.what)
    }
}

impl std::error::Error for TypeError {}

/// What was found instead is in the text that the caller has sent. To write it would be most of the code.
impl Error for TypeError {
    fn custom<T: Display>(what: T) -> Self {
        Self::of(what.to_string())
    }

    fn invalid_type(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::expected(expected)
    }

    fn invalid_value(_: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::expected(expected)
    }
}
