//! Objects as `serde_json` values.

use serde_json::Value;

/// Creates an object.
///
/// `json!` converts each variable with a serializer of serde_json, which the module would then contain too.
pub(crate) fn object(members: Vec<(&str, Value)>) -> Value {
    Value::Object(members.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}
