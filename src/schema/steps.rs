//! How much work a check may take.
//!
//! Work is counted in steps, so that the same input always gives the same answer, however busy the machine is. One step is about
//! 10 ns of WebAssembly. The table says how many steps each operation takes; it was measured on 2026-11-22 with
//! `node benches/schema.mjs` on two shared cores (AMD EPYC, Node 24), which prints the time per step of each case.
//!
//! | operation | steps |
//! |---|---|
//! | apply a schema to a value | [`SCHEMA`] |
//! | look at a keyword | [`KEYWORD`] |
//! | go to the next item or member | [`CHILD`] |
//! | compare a text with the names or values of a keyword | 1, and 1 for each [`COMPARED`] bytes |
//! | decode a string with escapes | 1 for each byte / [`DECODED`] |
//! | count characters, or write a value in its canonical form | see [`COUNTED`], [`CANONICAL`] |
//! | read a number that is not a short integer | 1 for each [`DIGITS`] digits |
//! | a character of a text that is matched, once the state is cached | 1 for each [`MATCHED`] |
//! | a state of a pattern's automaton that is visited for a new state | 1 |

/// Applying a schema to a value.
pub(super) const SCHEMA: u32 = 2;
/// Looking at a keyword.
pub(super) const KEYWORD: u32 = 1;
/// Going to the next item or member.
pub(super) const CHILD: u32 = 2;
/// Finding a text among those of a keyword.
pub(super) const FIND: u32 = 3;
/// Going to the next member, and finding its name.
pub(super) const MEMBER: u32 = 4;
/// Looking for a remembered answer, and remembering one.
pub(super) const REMEMBER: u32 = 4;
/// Comparing a short number, and finding out whether it is a multiple.
pub(super) const NUMBER: u32 = 2;
pub(super) const MULTIPLE: u32 = 8;
/// Beginning to match a text with a pattern.
pub(super) const MATCH: u32 = 4;
/// Bringing each of the values that one is made of into its canonical form.
pub(super) const CANONICAL_VALUE: u32 = 16;
/// Names or bytes that are compared in a step.
pub(super) const COMPARED: usize = 16;
/// Bytes of a string with escapes that are decoded in a step.
pub(super) const DECODED: usize = 1;
/// Bytes whose characters are counted in a step.
pub(super) const COUNTED: usize = 16;
/// Bytes that are brought into their canonical form in a step.
pub(super) const CANONICAL: usize = 2;
/// Reading a number that is not short, and the digits of it that are read in a step.
pub(super) const DECIMAL: u32 = 30;
pub(super) const DIGITS: usize = 2;
/// Comparing an item with all others.
pub(super) const UNIQUE: u32 = 6;

/// Writing a line about a mistake; a quarter of it for each step of the way to the value.
pub(super) const LINE: u32 = 80;

/// Steps for a check, whatever is in the value.
pub(super) const CHECK: u32 = 4_600_000;
/// Steps for saying which alternative came closest, in addition to as many as the check has taken.
pub(super) const EXPLANATION: u32 = 400_000;

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

    /// Takes the steps for `length` units of work, `per_step` of which are one step.
    pub(super) fn take_for(&mut self, length: usize, per_step: usize) -> bool {
        let count = length.checked_div(per_step).unwrap_or(length);
        self.take(u32::try_from(count).unwrap_or(u32::MAX))
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
