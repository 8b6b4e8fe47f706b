//! Whether all items of an array are different.

use std::hash::{DefaultHasher, Hasher};

use super::check::Check;
use super::steps::{HASHED, UNIQUE};
use crate::json::Value;

impl<'d> Check<'_, 'd> {
    pub(super) fn items_are_unique(&mut self, value: Value<'d>) -> bool {
        let repeated = self.repeated(value);
        let Some((one, other)) = repeated else { return !self.steps.are_exhausted() };
        self.fail(|_| {
            let index = |position| value.items().take_while(|item| item.position() < position).count();
            format!("has the same item twice: [{}] and [{}]", index(one), index(other))
        })
    }

    /// The positions of two items that are the same.
    fn repeated(&mut self, value: Value<'d>) -> Option<(u32, u32)> {
        // The lower bits are the item's position, and the others those of a digest: items that are the same come together. FxHasher
        // has 32 bits in WebAssembly, which are too few for this.
        let positions = u64::from(value.position().saturating_add(value.count())).next_power_of_two().wrapping_sub(1);
        let mut digests = Vec::new();
        for item in value.items() {
            if !self.steps.take(UNIQUE) {
                return None;
            }
            let canonical = self.canonical(item)?;
            if !self.steps.take_for(canonical.len(), HASHED) {
                return None;
            }
            let mut hasher = DefaultHasher::new();
            hasher.write(canonical.as_bytes());
            digests.push((hasher.finish() & !positions) | u64::from(item.position()));
        }
        digests.sort_unstable();
        for alike in digests.chunk_by(|one, other| one | positions == other | positions).filter(|alike| alike.len() > 1)
        {
            let position = |digest: &u64| u32::try_from(digest & positions).unwrap_or(u32::MAX);
            // Items with one digest are the same, except where digests collide.
            if let [one, other, ..] = alike {
                let (one, other) = (position(one), position(other));
                if self.canonical(value.at(one))? == self.canonical(value.at(other))? {
                    return Some((one, other));
                }
            }
            let texts = alike.iter().map(position).map(|at| Some((self.canonical(value.at(at))?, at)));
            let mut texts = texts.collect::<Option<Vec<_>>>()?;
            let bytes = texts.iter().fold(0_usize, |bytes, (text, _)| bytes.saturating_add(text.len()));
            if !self.steps.take_for(bytes, HASHED) {
                return None;
            }
            texts.sort_unstable();
            let same = texts.iter().zip(texts.iter().skip(1)).find(|((one, _), (other, _))| one == other);
            if let Some(((_, one), (_, other))) = same {
                return Some((*one, *other));
            }
        }
        None
    }
}
