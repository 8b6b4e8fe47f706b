//! The check of `anyOf` and `oneOf`. A key or a tag excludes alternatives without a check.

use super::budget::{COMPARED, FIND};
use super::check::Check;
use super::program::{Alternatives, Tag};
use edge_json::Value;

impl<'d> Check<'_, 'd> {
    /// Counts the matching alternatives, up to `most`.
    #[inline(never)]
    pub(super) fn count_alternatives(&mut self, alternatives: &Alternatives, value: Value<'d>, most: usize) -> usize {
        let bits = self.candidates_by_tag(alternatives, value) & self.candidates_by_key(alternatives, value);
        let mut count = 0_usize;
        for (nth, rule) in alternatives.rules.iter().enumerate() {
            if is_candidate(bits, nth) && self.would_fit(*rule, value) {
                count = count.saturating_add(1);
            }
            if count >= most || self.steps.are_exhausted() {
                break;
            }
        }
        count
    }

    /// Returns the alternatives that allow the key of the object's first member, as bits.
    pub(super) fn candidates_by_key(&mut self, alternatives: &Alternatives, value: Value<'d>) -> u64 {
        let first = alternatives.by_key.as_ref().and_then(|selection| Some((selection, value.pairs().next()?)));
        let Some((selection, (name, _))) = first else { return u64::MAX };
        let name = self.content(name);
        let takes = self.steps.take(FIND) && self.steps.take_for(name.len(), COMPARED);
        if takes { selection.candidates(&name) } else { 0 }
    }

    /// Returns the alternatives that allow the object's tag, as bits.
    pub(super) fn candidates_by_tag(&mut self, alternatives: &Alternatives, value: Value<'d>) -> u64 {
        let (Some(Tag { selection, .. }), Some(tag)) = (&alternatives.by_tag, self.tag(alternatives, value)) else {
            return u64::MAX;
        };
        match self.canonical(tag) {
            Some(tag) if self.steps.take(FIND) && self.steps.take_for(tag.len(), COMPARED) => {
                selection.candidates(&tag)
            }
            _ => 0,
        }
    }

    /// Returns the value of the tag property.
    pub(super) fn tag(&mut self, alternatives: &Alternatives, value: Value<'d>) -> Option<Value<'d>> {
        let Tag { name, .. } = alternatives.by_tag.as_ref()?;
        let mut members = value.pairs().take_while(|_| self.steps.take_for(name.len(), COMPARED));
        members.find(|(known, _)| known.is_str(name)).map(|(_, tag)| tag)
    }
}

/// Returns whether the alternative with index `nth` is a candidate.
pub(crate) fn is_candidate(bits: u64, nth: usize) -> bool {
    nth >= 64 || bits >> nth & 1 == 1
}
