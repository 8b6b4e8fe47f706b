//! How much work a check may take.
//!
//! Work is counted in steps, so that the same input always gets the same answer, however busy the machine is. How many steps a check
//! may take is in the table of [limits](crate::limits).
//!
//! The constants below say how many steps each operation takes. One step is about 10 ns of WebAssembly, as a Worker has it: they were
//! measured on 2026-11-22 on two shared cores of an AMD EPYC, in V8 of Node 24, by `scripts/bench schema`. That prints, for each of
//! some fifty values that are large or hard to check, the time of the check divided by its steps. The values are made so that most
//! of a check's time goes to one operation.

/// Applying a schema to a value.
pub(super) const SCHEMA: u32 = 2;
/// Looking at a keyword.
pub(super) const KEYWORD: u32 = 1;
/// Going to the next item.
pub(super) const CHILD: u32 = 2;
/// Going to the next member, and finding its name.
pub(super) const MEMBER: u32 = 3;
/// Finding a text among those of a keyword.
pub(super) const FIND: u32 = 3;
/// Bytes of texts, or names of a rule, that are compared in a step.
pub(super) const COMPARED: usize = 16;
/// Looking for a remembered answer, and remembering one.
pub(super) const REMEMBER: u32 = 5;

/// Bytes of a string with escapes that are decoded in a step.
pub(super) const DECODED: usize = 1;
/// Bytes whose characters are counted in a step.
pub(super) const COUNTED: usize = 16;

/// Comparing a short number.
pub(super) const NUMBER: u32 = 2;
/// Finding out whether a short number is a multiple.
pub(super) const MULTIPLE: u32 = 8;
/// Reading a number that is long or has an exponent.
pub(super) const DECIMAL: u32 = 30;
/// Digits of such a number that are read in a step.
pub(super) const DIGITS: usize = 2;

/// Bringing each of the values that one is made of into its canonical form.
pub(super) const CANONICAL_VALUE: u32 = 16;
/// Bytes that are brought into their canonical form in a step.
pub(super) const CANONICAL: usize = 2;
/// Comparing an item with all others.
pub(super) const UNIQUE: u32 = 6;
/// Bytes of an item that are hashed for that in a step.
pub(super) const HASHED: usize = 8;
/// Bytes of a text whose format is checked in a step.
pub(super) const FORMATTED: usize = 2;

/// Beginning to match a text with a pattern.
pub(super) const MATCH: u32 = 3;
/// Bytes of a text that are matched in a step, while they lead to states that are cached.
pub(super) const MATCHED: usize = 2;
/// Visiting a state of a pattern's automaton to find out where a character leads.
pub(super) const VISITED: u32 = 2;
/// Transitions of a new cached state that are made in a step.
pub(super) const TRANSITIONS: usize = 16;

/// Writing a line about a mistake.
pub(super) const LINE: u32 = 80;
/// A part of the way to the value in such a line, beside a step for each byte of its name.
pub(super) const LINE_PART: u32 = 20;
/// Comparing an unknown name with a known one, beside a step for each pair of characters.
pub(super) const SUGGESTION: u32 = 30;

/// Work that may still be done.
#[derive(Debug)]
pub(super) struct Steps {
    left: u32,
    are_exhausted: bool,
}

impl Steps {
    pub(super) fn of(steps: u32) -> Self {
        Self { left: steps, are_exhausted: false }
    }

    /// Takes `count` steps. `false` means that they are not left: the result of the work does not count then.
    #[inline]
    pub(super) fn take(&mut self, count: u32) -> bool {
        match self.left.checked_sub(count) {
            Some(left) if !self.are_exhausted => self.left = left,
            _ => self.are_exhausted = true,
        }
        !self.are_exhausted
    }

    /// Takes the steps for `length` bytes or names, `per_step` of which are one step or a part of one.
    pub(super) fn take_for(&mut self, length: usize, per_step: usize) -> bool {
        self.take(u32::try_from(length.div_ceil(per_step.max(1))).unwrap_or(u32::MAX))
    }

    /// Ends all work.
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
