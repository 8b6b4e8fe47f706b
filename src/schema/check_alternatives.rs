//! Which of the alternatives of `anyOf` and `oneOf` fit, without trying those that a name or a tag excludes.

use super::check::Check;
use super::program::{Alternatives, Tag};
use super::steps::{COMPARED, FIND};
use crate::json::Value;

impl<'d> Check<'_, 'd> {
    /// How many alternatives fit, counted to `most`.
    pub(super) fn count_alternatives(&mut self, alternatives: &Alternatives, value: Value<'d>, most: usize) -> usize {
        let left = self.left_by_tag(alternatives, value) & self.left_by_name(alternatives, value);
        let mut count = 0_usize;
        for (nth, rule) in alternatives.rules.iter().enumerate() {
            if is_left(left, nth) && self.would_fit(*rule, value) {
                count = count.saturating_add(1);
            }
            if count >= most || self.steps.are_exhausted() {
                break;
            }
        }
        count
    }

    /// The alternatives that can take an object whose first member has this name, as bits.
    pub(super) fn left_by_name(&mut self, alternatives: &Alternatives, value: Value<'d>) -> u64 {
        let first = alternatives.by_name.as_ref().and_then(|selection| Some((selection, value.pairs().next()?)));
        let Some((selection, (name, _))) = first else { return u64::MAX };
        let name = self.content(name);
        let takes = self.steps.take(FIND) && self.steps.take_for(name.len(), COMPARED);
        if takes { selection.left_by(&name) } else { 0 }
    }

    /// The alternatives that can take an object with this tag, as bits.
    pub(super) fn left_by_tag(&mut self, alternatives: &Alternatives, value: Value<'d>) -> u64 {
        let (Some(Tag { selection, .. }), Some(tag)) = (&alternatives.by_tag, self.tag(alternatives, value)) else {
            return u64::MAX;
        };
        match self.canonical(tag) {
            Some(tag) if self.steps.take(FIND) && self.steps.take_for(tag.len(), COMPARED) => selection.left_by(&tag),
            _ => 0,
        }
    }

    /// The value of the property by which alternatives can be told apart.
    pub(super) fn tag(&mut self, alternatives: &Alternatives, value: Value<'d>) -> Option<Value<'d>> {
        let Tag { name, .. } = alternatives.by_tag.as_ref()?;
        let mut members = value.pairs().take_while(|_| self.steps.take_for(name.len(), COMPARED));
        members.find(|(known, _)| known.is_str(name)).map(|(_, tag)| tag)
    }
}

/// Whether the alternative with that index is among those that are left.
pub(super) fn is_left(left: u64, nth: usize) -> bool {
    nth >= 64 || left >> nth & 1 == 1
}
