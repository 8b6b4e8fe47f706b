//! Serialization of long strings.
//!
//! serde_json escapes a string byte by byte. That is too slow for a document of a megabyte, of which few bytes need an escape.

use std::sync::LazyLock;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::special::at_next_special;

/// The length in bytes from which a string is long.
const LONG: usize = 512;

/// Serializes a string that may be long, for `serde(serialize_with)`.
pub(crate) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    if text.len() < LONG || !*IS_KNOWN {
        serializer.serialize_str(text)
    } else {
        Written(&quoted(text)).serialize(serializer)
    }
}

/// A text that is already JSON. It is serialized in the same way as serde_json's `RawValue`.
///
/// A `RawValue` can be made from a text only by parsing it again. For a megabyte that takes a quarter of the time of a response.
struct Written<'a>(&'a str);

/// The name by which serde_json recognizes a `RawValue`. It is a private detail of serde_json, so `IS_KNOWN` checks it before use.
const NAME: &str = "$serde_json::private::RawValue";
static IS_KNOWN: LazyLock<bool> =
    LazyLock::new(|| serde_json::to_string(&Written("0")).is_ok_and(|written| written == "0"));

impl Serialize for Written<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(NAME, 1)?;
        raw.serialize_field(NAME, self.0)?;
        raw.end()
    }
}

/// Returns `text` as a JSON string literal, with the same escapes as serde_json.
pub(super) fn quoted(text: &str) -> String {
    let mut json = String::with_capacity(text.len().saturating_add(text.len() / 8));
    json.push('"');
    let mut rest = text;
    while let Some((plain, special, after)) = at_next_special(rest) {
        json.push_str(plain);
        match special {
            b'"' => json.push_str("\\\""),
            b'\\' => json.push_str("\\\\"),
            b'\n' => json.push_str("\\n"),
            b'\r' => json.push_str("\\r"),
            b'\t' => json.push_str("\\t"),
            0x08 => json.push_str("\\b"),
            0x0c => json.push_str("\\f"),
            control => {
                json.push_str("\\u00");
                for digit in [control >> 4, control & 15] {
                    json.push(char::from_digit(digit.into(), 16).unwrap_or('0'));
                }
            }
        }
        rest = after;
    }
    json.push_str(rest);
    json.push('"');
    json
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
    }

    /// If serde_json changes the name, every string takes the slow path without another sign.
    #[test]
    fn the_private_name_is_unchanged() {
        assert!(*IS_KNOWN);
    }

    #[test]
    fn strings_of_every_length_are_serialized() {
        for length in [0, 1, LONG - 1, LONG, 10 * LONG] {
            let text = "\"\n".repeat(length).get(..length).expect("ASCII").to_owned();
            let json = serialize(&text, serde_json::value::Serializer).expect("a string");
            assert_eq!(json, text, "{length}");
            let mut written = Vec::new();
            serialize(&text, &mut serde_json::Serializer::new(&mut written)).expect("a string");
            assert_eq!(written, serde_json::to_vec(&text).expect("a string"), "{length}");
        }
    }
}
