//! Objects as `serde_json` values.

use serde_json::Value;

/// Creates an object.
///
/// `json!` serializes each value of a variable, by a serializer that the module would contain as well.
pub(crate) fn object(members: Vec<(&str, Value)>) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
