//! A value, written as JSON.
//!
//! serde_json hands over a quote, a colon or a comma at a time. Copying calls out of a module, for however few bytes; for a list of
//! two hundred tools that was a sixth of its time.

use std::io;

use serde::Serialize;
use serde::ser::Error;

/// The bytes of `value`.
///
/// # Errors
/// The value's own, where it cannot be serialized.
pub(crate) fn to_vec(value: &impl Serialize) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(128);
    append(&mut bytes, value)?;
    Ok(bytes)
}

/// The text of `value`.
///
/// # Errors
/// The value's own, where it cannot be serialized.
pub(crate) fn to_string(value: &impl Serialize) -> serde_json::Result<String> {
    String::from_utf8(to_vec(value)?).map_err(serde_json::Error::custom)
}

/// Writes `value` after what is there.
///
/// # Errors
/// The value's own, where it cannot be serialized. Some of it may have been written then.
pub(crate) fn append(bytes: &mut Vec<u8>, value: &impl Serialize) -> serde_json::Result<()> {
    serde_json::to_writer(Bytes(bytes), value)
}

struct Bytes<'a>(&'a mut Vec<u8>);

impl io::Write for Bytes<'_> {
    fn write(&mut self, written: &[u8]) -> io::Result<usize> {
        self.write_all(written)?;
        Ok(written.len())
    }

    // Inlined where the bytes are a literal, as they mostly are, there is nothing left to decide.
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
    fn it_is_what_serde_json_writes() {
        let value = json!({ "": null, "a": [], "b": {}, "c": [1, -1.5, true], "é\n": ["", "x", "\"", "two words\\"] });
        let expected = serde_json::to_string(&value).expect("serializes");
        assert_eq!(to_string(&value).expect("serializes"), expected);
        let mut bytes = b"before".to_vec();
        append(&mut bytes, &value).expect("serializes");
        assert_eq!(bytes, [b"before", expected.as_bytes()].concat());
    }
}
