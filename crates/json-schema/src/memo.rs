//! A cache of results within a check, in bounded memory.
//!
//! Recursive alternatives check the same value against the same rule many times. Without a cache, the time grows exponentially with the
//! depth of the value. The cache is a table of fixed size, in which a new result overwrites an older one in the same slot. An overwritten
//! result is computed again, and its steps are counted again.

use super::budget::Steps;
use super::program::RuleId;
use crate::limits::{CACHED_RESULTS, CHECK_STEPS};

/// The number of steps after which the cache is used. A shorter check is faster without it.
const WARM_UP: u32 = 20_000;

/// The results, by rule and value.
#[derive(Debug, Default)]
pub(crate) struct Memo(Vec<u64>);

impl Memo {
    /// Returns whether the check has done enough work to use the cache.
    pub(super) fn is_worth_it(steps: &Steps) -> bool {
        steps.left() < CHECK_STEPS.saturating_sub(WARM_UP)
    }

    /// Returns whether the value at `position` matches the rule, if this is cached.
    pub(super) fn get(&self, rule: RuleId, position: u32) -> Option<bool> {
        let key = key(rule, position)?;
        self.0.get(slot(key)).filter(|entry| **entry | 1 == key | 1).map(|entry| entry & 1 == 1)
    }

    pub(super) fn set(&mut self, rule: RuleId, position: u32, fits: bool) {
        if self.0.is_empty() {
            self.0.resize(CACHED_RESULTS, 0);
        }
        if let Some(key) = key(rule, position)
            && let Some(entry) = self.0.get_mut(slot(key))
        {
            *entry = key | u64::from(fits);
        }
    }
}

/// Encodes rule and position as a number that is not zero. Its lowest bit is free for the result. Returns `None` if the rule's index is
/// too large.
fn key(rule: RuleId, position: u32) -> Option<u64> {
    let rule = u32::try_from(rule).ok()?.checked_add(1).filter(|rule| *rule < 1 << 31)?;
    Some((u64::from(rule) << 33) | (u64::from(position) << 1))
}

fn slot(key: u64) -> usize {
    // Fibonacci hashing: the high bits of the product depend on all bits of the key.
    let hash = key.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    usize::try_from(hash >> 49).unwrap_or_default() % CACHED_RESULTS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_cached_until_overwritten() {
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
        assert_eq!(memo.0.len(), CACHED_RESULTS);
        assert_eq!(memo.get(3, 999_999), Some(true));
    }
}
