//! Long strings, as JSON.
//!
//! What is small is written by serde_json, a byte at a time. A document may be a megabyte, of which few bytes are written as another
//! than itself.

use std::sync::LazyLock;

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::special::at_next_special;

/// Bytes from which on a string is long.
const LONG: usize = 512;

/// Serializes a string that may be long: for `serde(serialize_with)`.
pub(crate) fn serialize<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    if text.len() < LONG || !*IS_KNOWN {
        serializer.serialize_str(text)
    } else {
        Written(&quoted(text)).serialize(serializer)
    }
}

/// What is JSON already, in the way in which serde_json's own `RawValue` says so. That one cannot be made of a text without being read
/// once more, which for a megabyte takes a quarter of the time of a whole answer.
struct Written<'a>(&'a str);

/// The name is serde_json's own business: whether it is this one is tried before it is relied upon.
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

/// `text` as a string of JSON, as serde_json writes it.
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

    /// It is what serde_json writes, whatever stands where.
    #[test]
    fn a_long_string_is_written_as_a_short_one() {
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

    /// Otherwise no string would be written the fast way, and nobody would see it.
    #[test]
    fn the_name_is_still_that() {
        assert!(*IS_KNOWN);
    }

    #[test]
    fn either_way_it_is_a_string() {
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
