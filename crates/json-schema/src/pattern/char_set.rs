//! Sets of characters: sorted ranges of code points that do not overlap or touch.

use crate::sorted::sorted;

/// The highest code point.
pub(super) const LAST: u32 = 0x10_FFFF;

/// The characters that `\s` matches (ECMA-262, `WhiteSpace` and `LineTerminator`).
const SPACES: [(u32, u32); 10] = [
    (0x09, 0x0D),
    (0x20, 0x20),
    (0xA0, 0xA0),
    (0x1680, 0x1680),
    (0x2000, 0x200A),
    (0x2028, 0x2029),
    (0x202F, 0x202F),
    (0x205F, 0x205F),
    (0x3000, 0x3000),
    (0xFEFF, 0xFEFF),
];
/// The characters that `\d` matches.
const DIGITS: [(u32, u32); 1] = [(0x30, 0x39)];
/// The characters that `\w` matches (ECMA-262, `WordCharacters`).
const WORD: [(u32, u32); 4] = [(0x30, 0x39), (0x41, 0x5A), (0x5F, 0x5F), (0x61, 0x7A)];
/// The characters that `.` does not match (ECMA-262, `LineTerminator`).
const LINE_ENDS: [(u32, u32); 3] = [(0x0A, 0x0A), (0x0D, 0x0D), (0x2028, 0x2029)];

/// A set of characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CharSet(Vec<(u32, u32)>);

impl CharSet {
    /// Creates the set of one code point.
    pub(super) fn of(code: u32) -> Self {
        Self(vec![(code, code)])
    }

    /// Creates the set of the characters that `.` matches.
    pub(super) fn dot() -> Self {
        Self(LINE_ENDS.to_vec()).complement()
    }

    /// Creates the set of the characters that `\w` matches.
    pub(super) fn word() -> Self {
        Self(WORD.to_vec())
    }

    /// Creates the set of an escape such as `\d`. Returns `None` for other letters.
    pub(super) fn of_escape(letter: char) -> Option<Self> {
        let set = match letter {
            'd' | 'D' => Self(DIGITS.to_vec()),
            's' | 'S' => Self(SPACES.to_vec()),
            'w' | 'W' => Self::word(),
            _ => return None,
        };
        Some(if letter.is_ascii_uppercase() { set.complement() } else { set })
    }

    /// Adds the range from `first` to `last`.
    pub(super) fn add(&mut self, first: u32, last: u32) {
        self.0.push((first, last));
    }

    /// Adds all of `other`.
    pub(super) fn add_all(&mut self, other: &Self) {
        self.0.extend_from_slice(&other.0);
    }

    /// Sorts the ranges and merges those that overlap or touch.
    pub(super) fn normalized(self) -> Self {
        let mut merged: Vec<(u32, u32)> = Vec::with_capacity(self.0.len());
        for (first, last) in sorted(self.0) {
            match merged.last_mut() {
                Some((_, end)) if first <= end.saturating_add(1) => *end = last.max(*end),
                _ => merged.push((first, last)),
            }
        }
        Self(merged)
    }

    /// Returns the set of all other characters. The set must be normalized.
    pub(super) fn complement(&self) -> Self {
        let mut others = Vec::with_capacity(self.0.len().saturating_add(1));
        let mut next = 0;
        for (first, last) in &self.0 {
            if let Some(before) = first.checked_sub(1).filter(|before| *before >= next) {
                others.push((next, before));
            }
            next = last.saturating_add(1);
        }
        if next <= LAST {
            others.push((next, LAST));
        }
        Self(others)
    }

    /// Returns whether the code point is in the set. The set must be normalized.
    pub(super) fn contains(&self, code: u32) -> bool {
        let after = self.0.partition_point(|(first, _)| *first <= code);
        after.checked_sub(1).and_then(|at| self.0.get(at)).is_some_and(|(_, last)| code <= *last)
    }

    /// Iterates over the first code point of each range, and the first one after it.
    pub(super) fn boundaries(&self) -> impl Iterator<Item = u32> {
        self.0.iter().flat_map(|(first, last)| [*first, last.saturating_add(1)])
    }
}
