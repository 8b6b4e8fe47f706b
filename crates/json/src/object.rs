//! Objects as `serde_json` values.

use serde_json::Value;

/// Creates an object.
///
/// `json!` would convert each variable with a serializer of serde_json, and the wasm module would contain this serializer too.
pub fn object(members: Vec<(&str, Value)>) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
