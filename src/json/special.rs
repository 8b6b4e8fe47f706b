//! A fast search for the bytes that must be escaped in a JSON string: quotes, backslashes and control characters.
//!
//! Strings may be long and few of their bytes are special, so the search looks at words of eight bytes.

/// The number of bytes in a word.
pub(super) const WORD: usize = 8;

/// Returns the next bytes of `rest` as a word, and how many of them there are. A short word is padded with spaces, which are not special.
#[inline(always)]
pub(super) fn next_word(rest: &[u8]) -> ([u8; WORD], usize) {
    if let Some(word) = rest.first_chunk() {
        return (*word, WORD);
    }
    let mut word = [b' '; WORD];
    word.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
    (word, rest.len())
}

/// Writes `word` at `at`, if there is room for all of it.
#[inline(always)]
pub(super) fn put(out: &mut [u8], at: usize, word: [u8; WORD]) {
    if let Some(place) = out.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *place = word;
    }
}

/// Returns the offset of the first special byte.
pub(super) fn next_special(bytes: &[u8]) -> Option<usize> {
    let mut at = 0_usize;
    let mut rest = bytes;
    while !rest.is_empty() {
        let (word, length) = next_word(rest);
        if let Some(nth) = first_special(word) {
            return at.checked_add(nth);
        }
        at = at.saturating_add(length);
        rest = rest.get(length..).unwrap_or_default();
    }
    None
}

/// Whether `bytes` contain a control character, such as a line break. JSON allows these only between tokens.
pub(crate) fn has_control(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks();
    let is_marked = |word: &[u8; 8]| below(CONTROLS, u64::from_le_bytes(*word)) & HIGH != 0;
    words.iter().any(is_marked) || rest.iter().any(|byte| u64::from(*byte) < CONTROLS)
}

const ONES: u64 = u64::MAX / 255;
const HIGH: u64 = ONES << 7;
/// Bytes below this one are control characters.
const CONTROLS: u64 = 0x20;

/// Sets the highest bit of each byte of `word` that is below `limit`. Only the first marked byte is reliable: a borrow may mark bytes
/// after it.
fn below(limit: u64, word: u64) -> u64 {
    word.wrapping_sub(ONES.wrapping_mul(limit)) & !word
}

/// Returns the index of the first special byte of a word. A subtraction borrows only from the bytes after a special byte, so the first
/// mark is correct.
#[inline(always)]
pub(super) fn first_special(word: [u8; WORD]) -> Option<usize> {
    let word = u64::from_le_bytes(word);
    let is = |byte: u8| below(1, word ^ ONES.wrapping_mul(byte.into()));
    let marked = (below(CONTROLS, word) | is(b'"') | is(b'\\')) & HIGH;
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
