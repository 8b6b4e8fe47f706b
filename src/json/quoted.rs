//! JSON string literals.

use super::special::{WORD, copy_plain, put};

/// The room beyond the bytes that are left: for an escape, for the last word, and for the two quotes.
const MARGIN: usize = 3 * WORD;

/// A quote. The next word overwrites the bytes after it.
const QUOTE: [u8; WORD] = *b"\"       ";

/// Appends `text` as a string literal, with the escapes of `serde_json`.
pub(super) fn append(out: &mut Vec<u8>, text: &str) {
    let mut rest = text.as_bytes();
    let mut at = out.len();
    out.resize(at.saturating_add(rest.len()).saturating_add(MARGIN), 0);
    put(out, at, QUOTE);
    at = at.saturating_add(1);
    while let Some(nth) = copy_plain(rest, out.get_mut(at..).unwrap_or_default()) {
        let (escape, length) = escape(rest.get(nth).copied().unwrap_or_default());
        put(out, at.saturating_add(nth), escape);
        at = at.saturating_add(nth).saturating_add(length);
        rest = rest.get(nth.saturating_add(1)..).unwrap_or_default();
        let needed = at.saturating_add(rest.len()).saturating_add(MARGIN);
        if out.len() < needed {
            // By an eighth more than is needed, so that few escapes get here.
            out.resize(needed.saturating_add(needed / 8), 0);
        }
    }
    at = at.saturating_add(rest.len());
    put(out, at, QUOTE);
    out.truncate(at.saturating_add(1));
}

/// Returns the escape of a special byte, and its length.
#[inline(always)]
fn escape(special: u8) -> ([u8; WORD], usize) {
    let letter = match special {
        b'"' | b'\\' => special,
        b'\n' => b'n',
        b'\r' => b'r',
        b'\t' => b't',
        0x08 => b'b',
        0x0c => b'f',
        control => {
            let [high, low] = [control >> 4, control & 15]
                .map(|digit| char::from_digit(digit.into(), 16).map_or(b'0', |digit| digit as u8));
            return ([b'\\', b'u', b'0', b'0', high, low, 0, 0], 6);
        }
    };
    ([b'\\', letter, 0, 0, 0, 0, 0, 0], 2)
}

/// Returns `text` as a string literal.
pub(super) fn quoted(text: &str) -> String {
    let mut json = Vec::new();
    append(&mut json, text);
    // Escapes of UTF-8 are UTF-8.
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
            assert_eq!(json, format!("before{}", serde_json::to_string(&many).expect("a string")).into_bytes());
        }
    }
}
