//! The bytes that do not stand for themselves within a string: quotes, backslashes, and controls, which must be escaped.
//!
//! A string may be long, and few of its bytes are such: they are looked for eight at a time.

/// Where the first of them is.
pub(super) fn next_special(bytes: &[u8]) -> Option<usize> {
    let (words, rest) = bytes.as_chunks();
    // Made whole by what is not special.
    let mut last = [b' '; 8];
    last.iter_mut().zip(rest).for_each(|(place, byte)| *place = *byte);
    let mut words = words.iter().chain([&last]).zip((0_usize..).step_by(8));
    words.find_map(|(word, at)| at.checked_add(first_special(*word)?))
}

/// What is before the first of them, that byte, and what is after it.
pub(super) fn at_next_special(text: &str) -> Option<(&str, u8, &str)> {
    let (plain, rest) = text.split_at_checked(next_special(text.as_bytes())?)?;
    // Those are all ASCII.
    let (special, after) = rest.split_at_checked(1)?;
    Some((plain, *special.as_bytes().first()?, after))
}

/// Whether a control character is among `bytes`, such as a line break: one that JSON takes only between its tokens.
pub(crate) fn has_control(bytes: &[u8]) -> bool {
    let (words, rest) = bytes.as_chunks();
    let is_marked = |word: &[u8; 8]| below(CONTROLS, u64::from_le_bytes(*word)) & HIGH != 0;
    words.iter().any(is_marked) || rest.iter().any(|byte| u64::from(*byte) < CONTROLS)
}

const ONES: u64 = u64::MAX / 255;
const HIGH: u64 = ONES << 7;
/// Bytes below this one are control characters.
const CONTROLS: u64 = 0x20;

/// Marks, by its highest bit, each of eight bytes that is below `limit`; the first that is marked is rightly marked.
fn below(limit: u64, word: u64) -> u64 {
    word.wrapping_sub(ONES.wrapping_mul(limit)) & !word
}

/// Where the first special one of eight bytes is. Each is subtracted from in its own place, and borrows from the next only where it
/// is special itself: what is marked first is rightly marked.
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
    fn a_control_character_is_found_wherever_it_stands() {
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
