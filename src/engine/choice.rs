//! A setting that the program or the environment can set.

use std::ops::Deref;

/// A setting. The value of the program takes precedence over the value of the environment, regardless of the order of the calls.
pub(crate) struct Choice<T> {
    value: T,
    is_set_by_program: bool,
}

impl<T> Choice<T> {
    /// Creates a setting with its default.
    pub(crate) const fn new(value: T) -> Self {
        Self { value, is_set_by_program: false }
    }

    /// Sets the value of the program.
    pub(crate) fn set(&mut self, value: T) {
        *self = Self { value, is_set_by_program: true };
    }

    /// Sets the value of the environment, unless the program has set one.
    pub(crate) fn configure(&mut self, value: T) {
        if !self.is_set_by_program {
            self.value = value;
        }
    }

    /// Returns whether the program has set the value.
    pub(crate) const fn is_set_by_program(&self) -> bool {
        self.is_set_by_program
    }
}

impl<T> Deref for Choice<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}
