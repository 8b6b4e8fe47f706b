//! The check of `uniqueItems`.

use std::hash::{DefaultHasher, Hasher};

use super::budget::{HASHED, UNIQUE};
use super::check::Check;
use super::sorted::sorted;
use edge_json::Value;

impl<'d> Check<'_, 'd> {
    #[inline(never)]
    pub(super) fn items_are_unique(&mut self, value: Value<'d>) -> bool {
        let repeated = self.repeated(value);
        let Some((one, other)) = repeated else { return !self.steps.are_exhausted() };
        self.fail(|_| {
            let index = |position| value.items().take_while(|item| item.position() < position).count();
            format!("must have unique items ([{}] and [{}] are equal)", index(one), index(other))
        })
    }

    /// Returns the positions of two equal items, or `None` if all items differ or the steps run out.
    fn repeated(&mut self, value: Value<'d>) -> Option<(u32, u32)> {
        // The low bits are the position of the item, and the high bits are from its hash, so sorting places equal items next to each
        // other. The hashes of FxHasher have only 32 bits in WebAssembly, and would collide too often.
        let positions = u64::from(value.position().saturating_add(value.count())).next_power_of_two().wrapping_sub(1);
        let mut hashes = Vec::new();
        for item in value.items() {
            if !self.steps.take(UNIQUE) {
                return None;
            }
            let canonical = self.canonical(item)?;
            if !self.steps.take_for(canonical.len(), HASHED) {
                return None;
            }
            let mut state = DefaultHasher::new();
            state.write(canonical.as_bytes());
            hashes.push((state.finish() & !positions) | u64::from(item.position()));
        }
        for alike in
            sorted(hashes).chunk_by(|one, other| one | positions == other | positions).filter(|alike| alike.len() > 1)
        {
            let position = |hash: &u64| u32::try_from(hash & positions).unwrap_or(u32::MAX);
            // Items with the same hash are equal, unless the hashes collide.
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
