//! JSON string literals.

use super::special::{WORD, first_special, put};

/// The number of spare bytes in the output, beyond the bytes that are left to write: a word in which each byte becomes an escape of six
/// bytes, and the two quotes.
const MARGIN: usize = 6 * WORD + 2;

/// Appends `text` as a string literal, with the escapes of `serde_json`.
///
/// Each word is copied whole. If a word has a special byte, later writes overwrite the output from that byte on. The length of each copy is
/// known at compile time; otherwise the compiler would call `memcpy`.
pub(super) fn append(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    let mut at = out.len();
    grow(out, rest);
    put(out, at, [b'"']);
    at = at.saturating_add(1);
    while let Some((word, after)) = rest.split_first_chunk::<WORD>() {
        put(out, at, *word);
        match first_special(*word) {
            None => {
                at = at.saturating_add(WORD);
                rest = after;
            }
            Some(nth) => {
                let special = word.get(nth).copied().unwrap_or_default();
                at = escape(out, at.saturating_add(nth), special);
                rest = rest.get(nth.saturating_add(1)..).unwrap_or_default();
                let needed = at.saturating_add(rest.len()).saturating_add(MARGIN);
                if out.len() < needed {
                    // Growing by an eighth of the rest makes further growth rare.
                    grow(out, rest.get(..rest.len() / 8).unwrap_or_default());
                }
            }
        }
    }
    for &byte in rest {
        if letter(byte) != 0 {
            at = escape(out, at, byte);
        } else {
            put(out, at, [byte]);
            at = at.saturating_add(1);
        }
    }
    put(out, at, [b'"']);
    out.truncate(at.saturating_add(1));
}

/// Makes room for the length of `filler` and the margin. At opt-level "z" `Vec::resize` would write the new bytes one by one.
fn grow(out: &mut Vec<u8>, filler: &[u8]) {
    out.extend_from_slice(filler);
    out.extend_from_slice(&[0; MARGIN]);
}

/// Writes the escape of a special byte at `at`, and returns the offset after it.
#[inline(always)]
fn escape(out: &mut [u8], at: usize, special: u8) -> usize {
    let letter = letter(special);
    if letter == b'u' {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let digit = |value: u8| DIGITS.get(usize::from(value & 15)).copied().unwrap_or_default();
        put(out, at, [b'\\', b'u', b'0', b'0', digit(special >> 4), digit(special)]);
        return at.saturating_add(6);
    }
    put(out, at, [b'\\', letter]);
    at.saturating_add(2)
}

/// Returns the character after the backslash of an escape, or 0 if `byte` is not escaped.
#[inline(always)]
fn letter(byte: u8) -> u8 {
    LETTERS.get(usize::from(byte)).copied().unwrap_or_default()
}

/// The results of [`letter`]. It is a table because a processor cannot predict branches on the kind of an escape.
#[expect(clippy::indexing_slicing, reason = "evaluated at compile time")]
const LETTERS: [u8; 1 << 8] = {
    let mut letters = [0; 1 << 8];
    let (controls, _) = letters.split_at_mut(0x20);
    controls.copy_from_slice(b"uuuuuuuubtnufruuuuuuuuuuuuuuuuuu");
    letters[b'"' as usize] = b'"';
    letters[b'\\' as usize] = b'\\';
    letters
};

/// Returns `text` as a string literal.
pub(super) fn quoted(text: &str) -> String {
    let mut json = Vec::new();
    append(&mut json, text);
    // `text` is UTF-8 and the escapes are ASCII, so the literal is UTF-8.
    String::from_utf8(json).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The result is the same as that of serde_json, for every special character at every offset.
    #[test]
    fn quoted_equals_serde_json() {
        let characters: Vec<char> =
            (0..0x180).chain([0x7ff, 0x800, 0xffff, 0x1_0000, 0x10_ffff]).filter_map(char::from_u32).collect();
        for &character in &characters {
            for before in 0..9 {
                for after in 0..9 {
                    let text = format!("{}{character}{}", "é".repeat(before), "a".repeat(after));
                    assert_eq!(quoted(&text), serde_json::to_string(&text).expect("a string"), "{text:?}");
                }
            }
        }
        let all: String = characters.iter().collect::<String>().repeat(3);
        assert_eq!(quoted(&all), serde_json::to_string(&all).expect("a string"));
        for control in ["\0", "\u{1f}", "\"", "\n", "\"a"] {
            let many = control.repeat(5000);
            let mut json = b"before".to_vec();
            append(&mut json, &many);
            let expected = format!("before{}", serde_json::to_string(&many).expect("a string"));
            assert!(json == expected.into_bytes(), "{control:?}");
        }
    }
}
