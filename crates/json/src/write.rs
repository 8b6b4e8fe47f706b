//! Serialization to JSON.

use std::iter::once;

use serde::de::value::MapDeserializer;
use serde::ser::{Error, SerializeStruct};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

use super::quoted;
use super::serializer::{self, RAW_VALUE};

/// Serializes `value` to bytes.
///
/// # Errors
/// `value` cannot be serialized.
pub fn to_vec(value: &(impl Serialize + ?Sized)) -> serde_json::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(128);
    append(&mut bytes, value)?;
    Ok(bytes)
}

/// Serializes `value` to a string.
///
/// # Errors
/// `value` cannot be serialized.
pub fn to_string(value: &(impl Serialize + ?Sized)) -> serde_json::Result<String> {
    into_text(to_vec(value)?)
}

#[inline(never)]
fn into_text(json: Vec<u8>) -> serde_json::Result<String> {
    String::from_utf8(json).map_err(serde_json::Error::custom)
}

/// Serializes `value` to a [`RawValue`]: JSON text that other values can contain.
///
/// # Errors
/// `value` cannot be serialized.
pub fn to_raw_value(value: &(impl Serialize + ?Sized)) -> serde_json::Result<Box<RawValue>> {
    into_raw_value(to_string(value)?)
}

#[inline(never)]
fn into_raw_value(json: String) -> serde_json::Result<Box<RawValue>> {
    // serde_json creates a `RawValue` from parsed text in the same way. `RawValue::from_string` would parse the text again.
    Box::<RawValue>::deserialize(MapDeserializer::new(once((RAW_VALUE, json))))
}

/// Returns JSON text that this library wrote as a [`RawValue`].
pub fn raw_value(json: String) -> Box<RawValue> {
    into_raw_value(json).unwrap_or_default()
}

/// Writes a JSON object as text, member by member. It cannot fail, because the values are strings or JSON text.
pub struct ObjectWriter(Vec<u8>);

impl ObjectWriter {
    /// Begins an object without members.
    #[allow(clippy::new_without_default, reason = "an unfinished object is not a useful default")]
    pub fn new() -> Self {
        let mut json = Vec::with_capacity(256);
        json.push(b'{');
        Self(json)
    }

    /// Adds a member whose value is JSON text.
    #[must_use]
    pub fn json(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        self.0.extend_from_slice(value.as_bytes());
        self
    }

    /// Adds a member whose value is a string.
    #[must_use]
    pub fn text(mut self, name: &str, value: &str) -> Self {
        self.name(name);
        quoted::append(&mut self.0, value);
        self
    }

    fn name(&mut self, name: &str) {
        if self.0.len() > 1 {
            self.0.push(b',');
        }
        quoted::append(&mut self.0, name);
        self.0.push(b':');
    }

    /// Returns whether the object has no members.
    pub fn is_empty(&self) -> bool {
        self.0.len() == 1
    }

    /// Returns the JSON text of the object.
    pub fn finish(mut self) -> String {
        self.0.push(b'}');
        into_string(self.0)
    }

    /// Returns the object as a [`RawValue`].
    pub fn finish_raw(self) -> Box<RawValue> {
        raw_value(self.finish())
    }
}

/// Returns a string as JSON text.
pub fn literal(text: &str) -> Box<RawValue> {
    let mut json = Vec::with_capacity(text.len().saturating_add(2));
    quoted::append(&mut json, text);
    raw_value(into_string(json))
}

/// Returns JSON text as a string. All of its parts are UTF-8.
fn into_string(json: Vec<u8>) -> String {
    String::from_utf8(json).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}

/// JSON text that is serialized unchanged.
pub struct Raw<'a>(pub &'a str);

impl Serialize for Raw<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut raw = serializer.serialize_struct(RAW_VALUE, 1)?;
        raw.serialize_field(RAW_VALUE, self.0)?;
        raw.end()
    }
}

/// Serializes JSON text unchanged, for `serde(serialize_with)`.
///
/// # Errors
/// The JSON is not valid, or the serializer fails.
#[allow(clippy::ref_option, reason = "serde passes a reference to the member")]
pub fn raw<S: Serializer>(json: &Option<Box<str>>, serializer: S) -> Result<S::Ok, S::Error> {
    json.as_deref().map(Raw).serialize(serializer)
}

/// Serializes a value to a string. The `Display` of the value would use the serializer of serde_json, and the wasm module would
/// contain this serializer too.
pub fn text(value: &serde_json::Value) -> String {
    // A value always serializes.
    to_string(value).unwrap_or_default()
}

/// Appends the serialized `value` to `bytes`.
///
/// # Errors
/// `value` cannot be serialized. A part of it may have been appended.
pub fn append(bytes: &mut Vec<u8>, value: &(impl Serialize + ?Sized)) -> serde_json::Result<()> {
    value.serialize(serializer::Serializer::new(bytes))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn an_object_is_written_member_by_member() {
        let object = || ObjectWriter::new();
        assert_eq!((object().is_empty(), object().finish().as_str()), (true, "{}"));
        let object = object().text("a\"", "é\n").json("b", "[1]").text("c", "");
        assert!(!object.is_empty());
        assert_eq!(object.finish_raw().get(), r#"{"a\"":"é\n","b":[1],"c":""}"#);
        assert_eq!(literal("é\"").get(), r#""é\"""#);
    }

    #[test]
    fn a_raw_value_holds_the_serialized_text() {
        let value = json!({ "a": [1, "é\n", null], "b": {} });
        assert_eq!(to_raw_value(&value).expect("serializes").get(), text(&value));
    }
}
