//! Escapes in string literals. The reader validates every literal before these functions are called.

use std::borrow::Cow;

use super::special::{WORD, first_special, put};

/// Returns the content of a string literal: without its quotes, and unescaped if `has_escapes`.
///
/// An escape is never shorter than its character, so a buffer of the literal's length is large enough.
pub(super) fn content(literal: &str, has_escapes: bool) -> Cow<'_, str> {
    let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    if !has_escapes {
        return Cow::Borrowed(inner);
    }
    let mut content = vec![0; inner.len().saturating_add(WORD)];
    let mut at = 0_usize;
    let mut rest = inner.as_bytes();
    while let Some(first) = rest.first() {
        // In a valid literal the only special byte is the backslash.
        let plain = if let Some((word, after)) = rest.split_first_chunk() {
            put(&mut content, at, *word);
            let Some(plain) = first_special(*word) else {
                at = at.saturating_add(WORD);
                rest = after;
                continue;
            };
            plain
        } else {
            put(&mut content, at, [*first]);
            usize::from(*first != b'\\')
        };
        at = at.saturating_add(plain);
        rest = rest.get(plain..).unwrap_or_default();
        match rest {
            [b'\\', b'u', ..] => {
                let escape = rest.get(1..).unwrap_or_default();
                let (character, length) = unicode(escape);
                let mut bytes = [0; 4];
                let written = character.encode_utf8(&mut bytes).len();
                put(&mut content, at, bytes);
                at = at.saturating_add(written);
                rest = escape.get(length..).unwrap_or_default();
            }
            [b'\\', letter, after @ ..] => {
                put(&mut content, at, [unescaped(*letter)]);
                at = at.saturating_add(1);
                rest = after;
            }
            _ => {}
        }
    }
    content.truncate(at);
    // The literal is UTF-8, and a whole character replaces each escape.
    Cow::Owned(String::from_utf8(content).unwrap_or_default())
}

/// Returns the byte for the letter of an escape such as `\n`.
#[inline(always)]
fn unescaped(letter: u8) -> u8 {
    match letter {
        b'b' => 0x08,
        b'f' => 0x0c,
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        itself => itself,
    }
}

/// Counts the characters of the content of a literal with escapes. `inner` is the literal without its quotes.
pub(super) fn count_characters(inner: &str) -> usize {
    let mut count = 0_usize;
    let mut rest = inner;
    while let Some((plain, escape)) = rest.split_once('\\') {
        count = count.saturating_add(plain.chars().count()).saturating_add(1);
        let length = if escape.starts_with('u') { unicode(escape.as_bytes()).1 } else { 1 };
        rest = escape.get(length..).unwrap_or_default();
    }
    count.saturating_add(rest.chars().count())
}

/// Reads `uXXXX`, or a surrogate pair: `uXXXX\uXXXX`. Returns the character and the number of bytes read. A lone surrogate becomes U+FFFD.
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
