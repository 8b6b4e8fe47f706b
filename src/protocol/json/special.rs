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

/// Where the first special one of eight bytes is. Each is subtracted from in its own place, and borrows from the next only where it
/// is special itself: what is marked first is rightly marked.
fn first_special(word: [u8; 8]) -> Option<usize> {
    const ONES: u64 = u64::MAX / 255;
    const HIGH: u64 = ONES << 7;
    let word = u64::from_le_bytes(word);
    let below = |limit: u64, word: u64| word.wrapping_sub(ONES.wrapping_mul(limit)) & !word;
    let is = |byte: u8| below(1, word ^ ONES.wrapping_mul(byte.into()));
    let marked = (below(0x20, word) | is(b'"') | is(b'\\')) & HIGH;
    (marked != 0).then_some(marked.trailing_zeros() as usize / 8)
}
