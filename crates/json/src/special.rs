//! A fast search for the bytes that must be escaped in a JSON string: quotes, backslashes and control characters.
//!
//! Strings may be long and few of their bytes are special, so the search looks at words of eight bytes.

/// The number of bytes in a word.
pub(super) const WORD: usize = 8;

/// Writes `bytes` at `at`, if there is room for all of them.
#[inline(always)]
pub(super) fn put<const N: usize>(out: &mut [u8], at: usize, bytes: [u8; N]) {
    if let Some(place) = out.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *place = bytes;
    }
}

/// Returns whether `bytes` contain a control character, such as a line break. JSON allows these only between tokens.
pub fn has_control(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks();
    let is_marked = |word: &[u8; WORD]| controls(u64::from_le_bytes(*word)) != 0;
    words.iter().any(is_marked) || rest.iter().any(|byte| u64::from(*byte) < CONTROLS)
}

/// The number 1 in each byte of a word.
const ONES: u64 = u64::MAX / 255;
/// The highest bit of each byte of a word.
const HIGH: u64 = ONES << 7;
/// Bytes below this one are control characters.
const CONTROLS: u64 = 0x20;

/// Marks the control characters of `word`: a byte below `CONTROLS` borrows, which sets its highest bit. Only the first mark is reliable,
/// because the borrow may mark later bytes. Bytes whose highest bit was already set are not ASCII, and are not marked.
#[inline(always)]
fn controls(word: u64) -> u64 {
    word.wrapping_sub(ONES.wrapping_mul(CONTROLS)) & !word & HIGH
}

/// Returns whether a byte must be escaped.
pub(super) fn is_special(byte: u8) -> bool {
    u64::from(byte) < CONTROLS || byte == b'"' || byte == b'\\'
}

/// Returns the index of the first special byte of a word. A borrow changes only the bytes after a special byte, so the first mark is
/// correct.
#[inline(always)]
pub(super) fn first_special(word: [u8; WORD]) -> Option<usize> {
    let word = u64::from_le_bytes(word);
    // XOR turns the wanted byte into 0, which then borrows.
    let marks = |byte: u8| (word ^ ONES.wrapping_mul(byte.into())).wrapping_sub(ONES);
    let marked = controls(word) | ((marks(b'"') | marks(b'\\')) & !word & HIGH);
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
