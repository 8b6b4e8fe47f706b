//! The bytes that do not stand for themselves within a string: quotes, backslashes, and controls, which must be escaped.
//!
//! A string may be long, and few of its bytes are such: they are looked for eight at a time.

/// Where the first of them is.
pub(super) fn next_special(bytes: &[u8]) -> Option<usize> {
    let is_special = |byte: &u8| *byte < 0x20 || matches!(byte, b'"' | b'\\');
    let (words, last) = bytes.as_chunks::<8>();
    let word = words.iter().position(|word| has_special(u64::from_le_bytes(*word)));
    let from = word.unwrap_or(words.len()).saturating_mul(8);
    let rest = if word.is_some() { bytes.get(from..)? } else { last };
    from.checked_add(rest.iter().position(is_special)?)
}

/// Whether one of eight bytes is special: each is subtracted from in its own place, and borrows from the next only where it is.
fn has_special(word: u64) -> bool {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let below = |limit: u64, word: u64| word.wrapping_sub(ONES.wrapping_mul(limit)) & !word;
    let is = |byte: u8, word: u64| below(1, word ^ ONES.wrapping_mul(byte.into()));
    (below(0x20, word) | is(b'"', word) | is(b'\\', word)) & HIGH != 0
}
