//! Escapes in string literals. The reader has validated every literal before these functions see it.

use std::borrow::Cow;
use std::str::Chars;

use super::special::at_next_special;

/// Returns the content of a string literal: without its quotes, and unescaped if `has_escapes`.
pub(super) fn content(literal: &str, has_escapes: bool) -> Cow<'_, str> {
    let inner = literal.get(1..literal.len().saturating_sub(1)).unwrap_or_default();
    if !has_escapes {
        return Cow::Borrowed(inner);
    }
    let mut content = String::with_capacity(inner.len());
    let mut rest = inner;
    // In a valid literal the only special byte is the backslash.
    while let Some((plain, _, escape)) = at_next_special(rest) {
        content.push_str(plain);
        let mut escape = escape.chars();
        content.push(match escape.next() {
            Some('b') => '\u{8}',
            Some('f') => '\u{c}',
            Some('n') => '\n',
            Some('r') => '\r',
            Some('t') => '\t',
            Some('u') => unicode(&mut escape),
            Some(itself) => itself,
            None => break,
        });
        rest = escape.as_str();
    }
    content.push_str(rest);
    Cow::Owned(content)
}

/// Counts the characters of the content of a literal with escapes. `inner` is the literal without its quotes.
pub(super) fn count_characters(inner: &str) -> usize {
    let mut characters = inner.chars();
    let mut count = 0_usize;
    while let Some(character) = characters.next() {
        count = count.saturating_add(1);
        if character == '\\' && characters.next() == Some('u') {
            unicode(&mut characters);
        }
    }
    count
}

/// Reads the rest of an escape after `\u`: four digits, or a surrogate pair.
fn unicode(escape: &mut Chars<'_>) -> char {
    let mut units = [unit(escape), 0];
    if matches!(units, [0xd800..0xdc00, _]) {
        escape.nth(1);
        units = [units[0], unit(escape)];
    }
    let mut chars = char::decode_utf16(units);
    chars.next().and_then(Result::ok).unwrap_or(char::REPLACEMENT_CHARACTER)
}

fn unit(escape: &mut Chars<'_>) -> u16 {
    let digits = escape.by_ref().take(4).filter_map(|digit| digit.to_digit(16));
    digits.fold(0, |sum, digit| (sum << 4) | u16::try_from(digit).unwrap_or_default())
}
