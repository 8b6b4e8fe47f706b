//! Serialization to JSON.

use std::iter::once;

use serde::de::value::MapDeserializer;
use serde::ser::{Error, SerializeStruct};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::value::RawValue;

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

/// Serializes a value to a string. The `Display` of the value would use the serializer of serde_json, and the compiled module would
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
    fn a_raw_value_holds_the_serialized_text() {
        let value = json!({ "a": [1, "é\n", null], "b": {} });
        assert_eq!(to_raw_value(&value).expect("serializes").get(), text(&value));
    }
}
