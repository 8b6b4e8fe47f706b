//! Answers that a check remembers, in bounded memory.
//!
//! Alternatives that contain themselves lead to the same questions again and again: without a memory, the time grows exponentially with
//! the depth of a value. The memory is a table in which a new answer takes the place of an older one with the same slot: what it
//! forgets is asked again, and counted.

use super::program::RuleId;
use super::steps::Steps;
use crate::limits::{CHECK_STEPS, REMEMBERED_ANSWERS};

/// Steps after which answers are remembered; before, it costs more than it brings.
const WARM_UP: u32 = 20_000;

/// The answers, by rule and value.
#[derive(Debug, Default)]
pub(super) struct Memo(Vec<u64>);

impl Memo {
    /// Whether so much work has been done that answers should be remembered.
    pub(super) fn is_worth_it(steps: &Steps) -> bool {
        steps.left() < CHECK_STEPS.saturating_sub(WARM_UP)
    }

    /// Whether the value at `position` fits the rule, if that is remembered.
    pub(super) fn get(&self, rule: RuleId, position: u32) -> Option<bool> {
        let question = question(rule, position)?;
        self.0.get(slot(question)).filter(|answer| **answer | 1 == question | 1).map(|answer| answer & 1 == 1)
    }

    pub(super) fn set(&mut self, rule: RuleId, position: u32, fits: bool) {
        if self.0.is_empty() {
            self.0.resize(REMEMBERED_ANSWERS, 0);
        }
        if let Some(question) = question(rule, position)
            && let Some(place) = self.0.get_mut(slot(question))
        {
            *place = question | u64::from(fits);
        }
    }
}

/// The question as a number that is not zero, whose lowest bit is free for the answer. `None`: there is no room for such a rule.
fn question(rule: RuleId, position: u32) -> Option<u64> {
    let rule = u32::try_from(rule).ok()?.checked_add(1).filter(|rule| *rule < 1 << 31)?;
    Some((u64::from(rule) << 33) | (u64::from(position) << 1))
}

fn slot(question: u64) -> usize {
    // Fibonacci hashing: the high bits of the product depend on all bits of the question.
    let hash = question.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    usize::try_from(hash >> 49).unwrap_or_default() % REMEMBERED_ANSWERS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_remembered_until_their_slot_is_taken() {
        let mut memo = Memo::default();
        assert_eq!(memo.get(0, 0), None);
        for (rule, position, fits) in [(0, 0, false), (0, 1, true), (1, 0, true), (7, 499_999, false)] {
            memo.set(rule, position, fits);
            assert_eq!(memo.get(rule, position), Some(fits), "{rule} {position}");
        }
        assert_eq!((memo.get(0, 2), memo.get(2, 0)), (None, None));
        for position in 0..1_000_000 {
            memo.set(3, position, true);
        }
        assert_eq!(memo.0.len(), REMEMBERED_ANSWERS);
        assert_eq!(memo.get(3, 999_999), Some(true));
    }
}
