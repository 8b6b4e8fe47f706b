//! A fast search for the bytes that must be escaped in a JSON string: quotes, backslashes and control characters.
//!
//! Strings may be long and few of their bytes are special, so the search looks at words of eight bytes.

/// The number of bytes in a word.
pub(super) const WORD: usize = 8;

/// Returns the offset of the first special byte.
pub(super) fn next_special(bytes: &[u8]) -> Option<usize> {
    let (words, tail) = bytes.as_chunks();
    let mut at = 0_usize;
    for word in words {
        if let Some(nth) = first_special(*word) {
            return at.checked_add(nth);
        }
        at = at.saturating_add(WORD);
    }
    at.checked_add(first_special(padded(tail))?)
}

/// Copies `from` to the beginning of `to`, up to the first special byte, and returns its offset. Whole words are copied, so `to` must have
/// room for one more.
///
/// The length of a copy is known at compile time. Otherwise each copy would be a call of `memcpy`.
pub(super) fn copy_plain(from: &[u8], to: &mut [u8]) -> Option<usize> {
    let (words, tail) = from.as_chunks();
    let mut at = 0_usize;
    for (word, place) in words.iter().zip(to.as_chunks_mut().0) {
        *place = *word;
        if let Some(nth) = first_special(*word) {
            return at.checked_add(nth);
        }
        at = at.saturating_add(WORD);
    }
    let tail = padded(tail);
    put(to, at, tail);
    at.checked_add(first_special(tail)?)
}

/// Returns the last bytes of a text as a word. It is padded with spaces, which are not special.
#[inline(always)]
fn padded(tail: &[u8]) -> [u8; WORD] {
    let mut word = [b' '; WORD];
    word.iter_mut().zip(tail).for_each(|(place, byte)| *place = *byte);
    word
}

/// Writes `word` at `at`, if there is room for all of it.
#[inline(always)]
pub(super) fn put(out: &mut [u8], at: usize, word: [u8; WORD]) {
    if let Some(place) = out.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *place = word;
    }
}

/// Whether `bytes` contain a control character, such as a line break. JSON allows these only between tokens.
pub(crate) fn has_control(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks();
    let is_marked = |word: &[u8; WORD]| controls(u64::from_le_bytes(*word)) != 0;
    words.iter().any(is_marked) || rest.iter().any(|byte| u64::from(*byte) < CONTROLS)
}

const ONES: u64 = u64::MAX / 255;
const HIGH: u64 = ONES << 7;
/// Bytes below this one are control characters.
const CONTROLS: u64 = 0x20;

/// Marks the control characters of `word`: a byte below `CONTROLS` borrows, which sets its highest bit. Only the first mark is reliable,
/// since the borrow may mark bytes after it. Bytes whose highest bit is set already are no ASCII.
#[inline(always)]
fn controls(word: u64) -> u64 {
    word.wrapping_sub(ONES.wrapping_mul(CONTROLS)) & !word & HIGH
}

/// Returns the index of the first special byte of a word. A subtraction borrows only from the bytes after a special byte, so the first
/// mark is correct.
#[inline(always)]
pub(super) fn first_special(word: [u8; WORD]) -> Option<usize> {
    let word = u64::from_le_bytes(word);
    // The byte that is looked for becomes 0, and borrows.
    let is = |byte: u8| (word ^ ONES.wrapping_mul(byte.into())).wrapping_sub(ONES);
    let marked = controls(word) | ((is(b'"') | is(b'\\')) & !word & HIGH);
    (marked != 0).then_some(marked.trailing_zeros() as usize / 8)
}

#[cfg(test)]
mod tests {
    use super::has_control;

    #[test]
    fn control_characters_are_found_at_every_offset() {
        let plain = "{\"é\":\"\u{7f}\u{10ffff} \\n\"}".repeat(3);
        for length in (0..plain.len()).filter(|length| plain.is_char_boundary(*length)) {
            let text = plain.get(..length).unwrap_or_default();
            assert!(!has_control(text.as_bytes()), "{text:?}");
            for control in ["\0", "\n", "\r", "\u{1f}"] {
                for at in (0..=length).filter(|at| text.is_char_boundary(*at)) {
                    let mut text = text.to_owned();
                    text.insert_str(at, control);
                    assert!(has_control(text.as_bytes()), "{text:?}");
                }
            }
        }
    }
}
