//! A setting that the program or the environment makes.

use std::ops::Deref;

/// A setting. The choice of the program wins over the environment's, whichever comes first.
pub(super) struct Choice<T> {
    value: T,
    is_the_programs: bool,
}

impl<T> Choice<T> {
    /// Creates a setting with its default.
    pub(super) const fn new(value: T) -> Self {
        Self { value, is_the_programs: false }
    }

    /// Makes the choice of the program.
    pub(super) fn set(&mut self, value: T) {
        *self = Self { value, is_the_programs: true };
    }

    /// Makes the choice of the environment.
    pub(super) fn configure(&mut self, value: T) {
        if !self.is_the_programs {
            self.value = value;
        }
    }

    /// Returns whether the program has chosen.
    pub(super) const fn is_the_programs(&self) -> bool {
        self.is_the_programs
    }
}

impl<T> Deref for Choice<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}
