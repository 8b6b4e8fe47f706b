//! A fast search for the bytes that must be escaped in a JSON string: quotes, backslashes and control characters.
//!
//! Strings may be long and few of their bytes are special, so the search looks at eight bytes at a time.

/// Returns the offset of the first special byte.
pub(super) fn next_special(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks();
    // Pad the last word with spaces, which are not special.
    let mut last = [b' '; 8];
    last.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
    let mut words = words.iter().chain([&last]).zip((0_usize..).step_by(8));
    words.find_map(|(word, at)| at.checked_add(first_special(*word)?))
}

/// Splits `text` at the first special byte: the text before it, the byte, and the text after it.
pub(super) fn at_next_special(text: &str) -> Option<(&str, u8, &str)> {
    let (plain, rest) = text.split_at_checked(next_special(text.as_bytes())?)?;
    // All special bytes are ASCII.
    let (special, after) = rest.split_at_checked(1)?;
    Some((plain, *special.as_bytes().first()?, after))
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
fn first_special(word: [u8; 8]) -> Option<usize> {
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
