//! Arguments that a client repeats in headers, so that proxies can route by them: `"x-mcp-header": "Region"`.
//!
//! A field is marked with `#[schemars(extend("x-mcp-header" = "Region"))]`. Clients drop a tool that marks wrongly, so that it
//! is refused here first. Browsers do not send such headers: they have no place on tools for pages, nor on secrets.
//!
//! Source: 2026-07-28, server/tools, "x-mcp-header".

use serde_json::Value;

use super::error::SchemaError;
use super::types::Type;

/// The keyword.
pub(super) const KEYWORD: &str = "x-mcp-header";

/// An argument that is repeated in a header.
#[derive(Debug)]
pub(crate) struct HeaderParam {
    /// The whole name of the header.
    pub header: String,
    /// The properties that lead to it.
    pub path: Vec<String>,
    /// String, integer or boolean.
    pub kind: Type,
}

/// The marked arguments of a schema.
pub(super) fn collect(schema: &Value) -> Result<Vec<HeaderParam>, SchemaError> {
    let mut found = Vec::new();
    walk(schema, &mut Vec::new(), true, &mut found)?;
    Ok(found)
}

/// Looks at `schema` and all that is in it. `reachable`: only `properties` have led here.
fn walk(
    schema: &Value,
    path: &mut Vec<String>,
    reachable: bool,
    found: &mut Vec<HeaderParam>,
) -> Result<(), SchemaError> {
    if let Value::Array(items) = schema {
        return items.iter().try_for_each(|item| walk(item, path, false, found));
    }
    let Value::Object(object) = schema else { return Ok(()) };
    if let Some(name) = object.get(KEYWORD) {
        let refused =
            |problem: &str| Err(SchemaError::at(&format!("/{}", path.join("/")), format!("`{KEYWORD}` {problem}")));
        let Some(name) = name.as_str().filter(|name| is_token(name)) else { return refused("must be a header's name") };
        if !reachable || path.is_empty() {
            return refused("is only for properties of objects");
        }
        let kind = match object.get("type").and_then(Value::as_str) {
            Some("string") => Type::String,
            Some("integer") => Type::Integer,
            Some("boolean") => Type::Boolean,
            _ => return refused("is only for a string, an integer or a boolean"),
        };
        let header = format!("Mcp-Param-{name}");
        if found.iter().any(|other| other.header.eq_ignore_ascii_case(&header)) {
            return refused("names a header that another property has");
        }
        found.push(HeaderParam { header, path: path.clone(), kind });
    }
    for (keyword, value) in object {
        match value {
            Value::Object(properties) if keyword == "properties" => {
                for (name, property) in properties {
                    path.push(name.clone());
                    walk(property, path, reachable, found)?;
                    path.pop();
                }
            }
            // What these hold is data, not schemas.
            _ if matches!(keyword.as_str(), "enum" | "const" | "default" | "examples") => {}
            Value::Object(members) if keyword == "$defs" => {
                members.values().try_for_each(|member| walk(member, path, false, found))?;
            }
            value => walk(value, path, false, found)?,
        }
    }
    Ok(())
}

/// RFC 9110 §5.6.2.
fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}
