//! The budget of a check, and of the compilation of a schema.
//!
//! Work is counted in steps instead of time, so the same input always has the same result, on a busy machine too. The table of
//! [limits](crate::limits) has the number of steps that a check may take.
//!
//! Each constant below is the number of steps of an operation, or the number of bytes or items per step. One step is about 10 ns of
//! WebAssembly in a Worker. The constants were measured on 2026-11-22 on two shared cores of an AMD EPYC, in V8 of Node 24, by
//! `scripts/bench schema`. This script prints the time per step for about fifty values that are large or hard to check. For each value, one
//! operation takes most of the time.

use std::cell::Cell;

use crate::limits::{CHECK_STEPS, EXPLANATION_STEPS};

/// Applying a schema to a value.
pub(crate) const SCHEMA: u32 = 2;
/// Reading a keyword.
pub(crate) const KEYWORD: u32 = 1;
/// Advancing to the next item.
pub(crate) const CHILD: u32 = 2;
/// Advancing to the next member, and looking up its name.
pub(crate) const MEMBER: u32 = 3;
/// Looking up a text in the list of a keyword.
pub(crate) const FIND: u32 = 3;
/// Bytes of texts, or names of a rule, that are compared in one step.
pub(crate) const COMPARED: usize = 16;
/// Reading a cached result, and writing one.
pub(crate) const MEMO: u32 = 5;

/// Bytes of a string with escapes that are unescaped in one step.
pub(crate) const DECODED: usize = 1;
/// Bytes whose characters are counted in one step.
pub(crate) const COUNTED: usize = 16;

/// Comparing a short number.
pub(crate) const NUMBER: u32 = 2;
/// Checking whether a short number is a multiple.
pub(crate) const MULTIPLE: u32 = 8;
/// Parsing a number that is long or has an exponent.
pub(crate) const DECIMAL: u32 = 30;
/// Digits of such a number that are parsed in one step.
pub(crate) const DIGITS: usize = 2;
/// Words of long integers that the conversion to a float visits in one step.
pub(crate) const WORDS: usize = 4;

/// Writing the canonical form of each nested value.
pub(crate) const CANONICAL_VALUE: u32 = 16;
/// Bytes that are converted to the canonical form in one step.
pub(crate) const CANONICAL: usize = 2;
/// Comparing an item with all other items.
pub(crate) const UNIQUE: u32 = 6;
/// Bytes of an item that are hashed in one step.
pub(crate) const HASHED: usize = 8;

/// Starting to match a text against a pattern.
pub(crate) const MATCH: u32 = 3;
/// Bytes of a text that are matched in one step, if the states are cached.
pub(crate) const MATCHED: usize = 2;
/// Visiting a state of a pattern's automaton to compute a transition.
pub(crate) const VISITED: u32 = 2;
/// Transitions of a new cached state that are allocated in one step.
pub(crate) const TRANSITIONS: usize = 16;

/// Writing the line of a mistake.
pub(crate) const LINE: u32 = 80;
/// Writing a segment of the path, in addition to one step per byte of its name.
pub(crate) const LINE_PART: u32 = 20;
/// Comparing an unknown name with a known one, in addition to one step per pair of characters.
pub(crate) const SUGGESTION: u32 = 30;

/// Reading a value of a schema that is compiled, in addition to [`TEXT`] for its strings.
pub(crate) const READ: u32 = 20;
/// Compiling a subschema.
pub(crate) const SUBSCHEMA: u32 = 50;
/// Copying or comparing a text of a schema, in addition to one step for each [`COPIED`] bytes.
pub(crate) const TEXT: u32 = 20;
/// Bytes of a text that are copied in one step.
pub(crate) const COPIED: usize = 4;
/// The problem with a schema or a pattern for which the steps run out, as a predicate.
pub(crate) const TOO_COSTLY: &str = "takes too long to compile";
/// Creating the alphabet of a pattern.
pub(crate) const ALPHABET: u32 = 600;
/// Parsing a character of a pattern.
pub(crate) const PARSED: u32 = 10;
/// Visiting a part of a pattern to add its states.
pub(crate) const PART: u32 = 5;

/// The steps that are left for several checks, such as all checks of one request.
#[derive(Debug)]
pub struct CheckSteps {
    pub(super) check: Cell<u32>,
    pub(super) explanation: Cell<u32>,
}

impl Default for CheckSteps {
    fn default() -> Self {
        Self { check: Cell::new(CHECK_STEPS), explanation: Cell::new(EXPLANATION_STEPS) }
    }
}

impl CheckSteps {
    /// Returns how many steps the checks have taken.
    pub(super) fn taken(&self) -> u32 {
        let left = self.check.get().saturating_add(self.explanation.get());
        CHECK_STEPS.saturating_add(EXPLANATION_STEPS).saturating_sub(left)
    }
}

/// The remaining budget of a check, or of the compilation of a schema.
#[derive(Debug)]
pub(crate) struct Steps {
    left: u32,
    are_exhausted: bool,
}

impl Steps {
    pub(super) fn of(steps: u32) -> Self {
        Self { left: steps, are_exhausted: false }
    }

    /// Creates a budget for the compilation of a schema of this program, which no other party chooses.
    pub(super) fn unlimited() -> Self {
        Self::of(u32::MAX)
    }

    /// Takes `count` steps. Returns `false` if fewer are left. The result of the work must not be used then.
    #[inline]
    pub(super) fn take(&mut self, count: u32) -> bool {
        match self.left.checked_sub(count) {
            Some(left) if !self.are_exhausted => self.left = left,
            _ => self.are_exhausted = true,
        }
        !self.are_exhausted
    }

    /// Takes the steps for `length` bytes or items: one for each `per_step` of them, rounded up. Returns `false` if fewer are left.
    pub(super) fn take_for(&mut self, length: usize, per_step: usize) -> bool {
        self.take(u32::try_from(length.div_ceil(per_step.max(1))).unwrap_or(u32::MAX))
    }

    /// Takes the steps for reading and copying texts of a schema. Returns `false` if fewer are left.
    pub(super) fn take_for_texts<'t>(&mut self, mut texts: impl Iterator<Item = &'t str>) -> bool {
        texts.all(|text| self.take(TEXT) && self.take_for(text.len(), COPIED))
    }

    /// Uses up all steps, which ends the check.
    pub(super) fn exhaust(&mut self) {
        self.are_exhausted = true;
    }

    pub(super) fn left(&self) -> u32 {
        if self.are_exhausted { 0 } else { self.left }
    }

    pub(super) fn are_exhausted(&self) -> bool {
        self.are_exhausted
    }
}
