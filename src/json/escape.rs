//! Escapes in string literals. The reader has validated every literal before these functions see it.

use std::borrow::Cow;

use super::special::{WORD, copy_plain, put};

/// Returns the content of a string literal: without its quotes, and unescaped if `has_escapes`.
///
/// An escape is never shorter than its character, so the room for the literal is enough.
pub(super) fn content(literal: &str, has_escapes: bool) -> Cow<'_, str> {
    let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    if !has_escapes {
        return Cow::Borrowed(inner);
    }
    let mut content = vec![0; inner.len().saturating_add(WORD)];
    let mut at = 0_usize;
    let mut rest = inner.as_bytes();
    // In a valid literal the only special byte is the backslash.
    while let Some(nth) = copy_plain(rest, content.get_mut(at..).unwrap_or_default()) {
        let escape = rest.get(nth.saturating_add(1)..).unwrap_or_default();
        let (character, length) = character(escape);
        let mut word = [0; WORD];
        let written = character.encode_utf8(&mut word).len();
        at = at.saturating_add(nth);
        put(&mut content, at, word);
        at = at.saturating_add(written);
        rest = escape.get(length..).unwrap_or_default();
    }
    at = at.saturating_add(rest.len());
    content.truncate(at);
    // A valid literal is UTF-8, and so are its characters.
    Cow::Owned(String::from_utf8(content).unwrap_or_default())
}

/// Returns the character of an escape, and the length of the escape. `escape` begins after the backslash.
fn character(escape: &[u8]) -> (char, usize) {
    let character = match escape.first() {
        Some(b'b') => '\u{8}',
        Some(b'f') => '\u{c}',
        Some(b'n') => '\n',
        Some(b'r') => '\r',
        Some(b't') => '\t',
        Some(b'u') => return unicode(escape),
        Some(itself) => char::from(*itself),
        None => char::REPLACEMENT_CHARACTER,
    };
    (character, 1)
}

/// Counts the characters of the content of a literal with escapes. `inner` is the literal without its quotes.
pub(super) fn count_characters(inner: &str) -> usize {
    let mut count = 0_usize;
    let mut rest = inner;
    while let Some((plain, escape)) = rest.split_once('\\') {
        count = count.saturating_add(plain.chars().count()).saturating_add(1);
        rest = escape.get(character(escape.as_bytes()).1..).unwrap_or_default();
    }
    count.saturating_add(rest.chars().count())
}

/// Reads `uXXXX`, or a surrogate pair: `uXXXX\uXXXX`.
fn unicode(escape: &[u8]) -> (char, usize) {
    const LENGTH: usize = 5;
    let first = unit(escape);
    let is_pair = matches!(first, 0xd800..0xdc00) && escape.get(LENGTH..).is_some_and(|rest| rest.starts_with(b"\\u"));
    let second = if is_pair { unit(escape.get(LENGTH.saturating_add(1)..).unwrap_or_default()) } else { 0 };
    let character =
        char::decode_utf16([first, second]).next().and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER);
    (character, if is_pair { 11 } else { LENGTH })
}

/// Reads the four digits of `uXXXX`.
fn unit(escape: &[u8]) -> u16 {
    let digits = escape.get(1..5).unwrap_or_default().iter().filter_map(|digit| char::from(*digit).to_digit(16));
    digits.fold(0, |sum, digit| (sum << 4) | u16::try_from(digit).unwrap_or_default())
}
