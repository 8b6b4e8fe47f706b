//! The metadata that filters can describe.

use std::error::Error;
use std::fmt;

use edge_json::write;
use serde_json::{Map, Value};

use super::field::{is_name, quoted};
use crate::call::error::{HandlerError, IntoHandlerError};
use crate::limits::{FIELD_NAMES, METADATA_BYTES};

/// The error of metadata that cannot be stored: a sentence for the caller.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MetadataError(Box<str>);

impl fmt::Display for MetadataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Error for MetadataError {}

impl IntoHandlerError for MetadataError {
    fn into_handler_error(self) -> HandlerError {
        HandlerError::invalid(String::from(self.0))
    }
}

/// Checks the metadata of a document or a passage, so that filters can describe each of its fields.
///
/// A value is a string, a number, a boolean, `null`, an array of strings, numbers and booleans, or an object with such values. A name has 1
/// to 64 ASCII letters, digits, `_` and `-`, and begins with a letter or `_`. Objects are nested at most 4 deep, including the metadata
/// itself. The whole has at most 4 096 bytes as JSON.
///
/// # Errors
/// The field, the problem and the remedy.
///
/// ```
/// use edge_mcp::rag::check_metadata;
/// use serde_json::json;
///
/// let check = |metadata: serde_json::Value| check_metadata(metadata.as_object().unwrap());
/// assert!(check(json!({ "category": "tea", "tags": ["hot", "green"], "author": { "name": "Ada" } })).is_ok());
/// assert_eq!(
///     check(json!({ "tags": [["hot"]] })).unwrap_err().to_string(),
///     "Metadata `tags[0]` must be a string, a number or a boolean, because it is in an array."
/// );
/// ```
pub fn check_metadata(metadata: &Map<String, Value>) -> Result<(), MetadataError> {
    check_object(metadata, "", 1).map_err(|problem| MetadataError(problem.into()))?;
    // Valid metadata always serializes.
    let length = write::to_vec(metadata).map_or(0, |json| json.len());
    if length > METADATA_BYTES {
        let problem = format!("The metadata must have at most {METADATA_BYTES} bytes as JSON (got {length}).");
        return Err(MetadataError(problem.into()));
    }
    Ok(())
}

fn check_object(object: &Map<String, Value>, outer: &str, depth: usize) -> Result<(), String> {
    if depth > FIELD_NAMES {
        return Err(format!(
            "Metadata {} is nested too deeply. Objects must be nested at most {FIELD_NAMES} deep.",
            quoted(outer)
        ));
    }
    for (name, value) in object {
        if !is_name(name) {
            return Err(format!(
                "Metadata cannot have the name {}. A name has 1 to 64 letters, digits, `_` and `-`, and begins with a letter or `_`.",
                quoted(name)
            ));
        }
        let path = if outer.is_empty() { name.clone() } else { [outer, ".", name].concat() };
        match value {
            Value::Object(object) => check_object(object, &path, depth.saturating_add(1))?,
            Value::Array(items) => {
                let is_scalar = |item: &Value| item.is_string() || item.is_number() || item.is_boolean();
                if let Some(nth) = items.iter().position(|item| !is_scalar(item)) {
                    return Err(format!(
                        "Metadata `{path}[{nth}]` must be a string, a number or a boolean, because it is in an array."
                    ));
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(metadata: &Value) -> Result<(), String> {
        check_metadata(metadata.as_object().expect("an object")).map_err(|error| error.to_string())
    }

    /// R19: metadata is an object of scalars, arrays of scalars and nested objects.
    #[test]
    fn metadata_that_filters_can_describe_is_accepted() {
        for metadata in [
            json!({}),
            json!({ "a": "x", "b": 1.5, "c": true, "d": null, "e": [], "f": ["x", 1, false], "g": {} }),
            json!({ "a": { "b": { "c": { "d": 1 } } } }),
            json!({ "__proto__": 1, "a-b": 2, "_": 3 }),
            json!({ "a": "\0\u{202e}" }),
            json!({ "a": "x".repeat(4096 - 8) }),
        ] {
            assert_eq!(check(&metadata), Ok(()), "{metadata}");
        }
    }

    /// R19 and R107: other metadata is rejected with the name of the field.
    #[test]
    fn other_metadata_is_rejected() {
        for (metadata, message) in [
            (json!({ "a": [null] }), "Metadata `a[0]` must be a string"),
            (json!({ "a": { "b": [1, {}] } }), "Metadata `a.b[1]` must be a string"),
            (json!({ "a b": 1 }), "Metadata cannot have the name `a b`."),
            (json!({ "$gt": 1 }), "Metadata cannot have the name `$gt`."),
            (json!({ "a.b": 1 }), "Metadata cannot have the name `a.b`."),
            (json!({ "": 1 }), "Metadata cannot have the name ``."),
            (json!({ "\n".repeat(1000): 1 }), "Metadata cannot have the name `\\n\\n"),
            (json!({ "a": { "b": { "c": { "d": { "e": 1 } } } } }), "Metadata `a.b.c.d` is nested too deeply."),
            (json!({ "a": "x".repeat(4097 - 8) }), "The metadata must have at most 4096 bytes as JSON (got 4097)."),
            (json!({ "a": "\n".repeat(4000) }), "The metadata must have at most 4096 bytes as JSON (got 8008)."),
        ] {
            let error = check(&metadata).expect_err("rejected");
            assert!(error.starts_with(message) && error.len() < 400, "{error}");
        }
    }
}
