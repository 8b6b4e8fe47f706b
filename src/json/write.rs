//! Serialization to JSON.
//!
//! serde_json writes each quote, colon and comma separately. `extend_from_slice` calls `memcpy` even for one byte. For a list of 200
//! tools that took a sixth of the time, so single bytes are pushed instead.

use std::io;

use serde::Serialize;
use serde::ser::Error;

/// Serializes `value` to bytes.
///
/// # Errors
/// `value` cannot be serialized.
pub(crate) fn to_vec(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(128);
    append(&mut bytes, value)?;
    Ok(bytes)
}

/// Serializes `value` to a string.
///
/// # Errors
/// `value` cannot be serialized.
pub(crate) fn to_string(value: &impl Serialize) -> serde_json::Result<String> {
    String::from_utf8(to_vec(value)?).map_err(serde_json::Error::custom)
}

/// Writes a value. The `Display` of a value uses a serializer of its own, which the module would contain as well.
pub(crate) fn text(value: &serde_json::Value) -> String {
    // A value always serializes.
    to_string(value).unwrap_or_default()
}

/// Appends the serialized `value` to `bytes`.
///
/// # Errors
/// `value` cannot be serialized. A part of it may have been appended.
pub(crate) fn append(bytes: &mut Vec<u8>, value: &impl Serialize) -> serde_json::Result<()> {
    serde_json::to_writer(Bytes(bytes), value)
}

struct Bytes<'a>(&'a mut Vec<u8>);

impl io::Write for Bytes<'_> {
    fn write(&mut self, written: &[u8]) -> io::Result<usize> {
        self.write_all(written)?;
        Ok(written.len())
    }

    // Most calls pass a literal. Inlined, the match disappears.
    #[inline]
    fn write_all(&mut self, written: &[u8]) -> io::Result<()> {
        match written {
            [byte] => self.0.push(*byte),
            _ => self.0.extend_from_slice(written),
        }
        Ok(())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_result_equals_that_of_serde_json() {
        let value = json!({ "": null, "a": [], "b": {}, "c": [1, -1.5, true], "é\n": ["", "x", "\"", "two words\\"] });
        let expected = serde_json::to_string(&value).expect("serializes");
        assert_eq!(to_string(&value).expect("serializes"), expected);
        let mut bytes = b"before".to_vec();
        append(&mut bytes, &value).expect("serializes");
        assert_eq!(bytes, [b"before", expected.as_bytes()].concat());
    }
}
