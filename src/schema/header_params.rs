//! Arguments that a client repeats in headers, so that proxies can route by them: `"x-mcp-header": "Region"`.
//!
//! A field is marked with `#[schemars(extend("x-mcp-header" = "Region"))]`. Clients ignore a tool with an invalid mark, so this module
//! rejects an invalid mark. Browsers do not send such headers, so do not use them on tools for web pages. Do not use them for secrets
//! either.
//!
//! Source: 2026-07-28, server/tools, "x-mcp-header".

use std::rc::Rc;

use serde_json::Value;

use edge_json_schema::{SchemaError, Type};

/// The keyword that marks an argument.
pub(super) const KEYWORD: &str = "x-mcp-header";

/// An argument that a client repeats in a header.
#[derive(Debug)]
pub(crate) struct HeaderParam {
    /// The full name of the header.
    pub header: String,
    /// The path of the argument. Arguments of one object share its names.
    pub path: Vec<Rc<str>>,
    /// The type: string, integer or boolean.
    pub kind: Type,
}

/// The marked arguments that were found, and the largest number of them.
struct Marks {
    params: Vec<HeaderParam>,
    most: usize,
}

/// Collects the marked arguments of a schema, of which it may have `most`.
///
/// # Errors
/// A mark is not allowed or not valid, or there are too many.
pub(crate) fn collect(schema: &Value, most: usize) -> Result<Vec<HeaderParam>, Box<SchemaError>> {
    let mut found = Marks { params: Vec::new(), most };
    walk(schema, &mut Vec::new(), true, &mut found)?;
    let found = found.params;
    let is_twice = |(nth, param): &(usize, &HeaderParam)| {
        found.iter().take(*nth).any(|other| other.header.eq_ignore_ascii_case(&param.header))
    };
    match found.iter().enumerate().find(is_twice) {
        Some((_, twice)) => Err(rejected(&twice.path, "has the same header as another property")),
        None => Ok(found),
    }
}

fn rejected(path: &[Rc<str>], problem: &str) -> Box<SchemaError> {
    SchemaError::at(&format!("/{}", path.join("/")), format!("`{KEYWORD}` {problem}"))
}

/// Collects the marked arguments in `schema` and in everything nested in it. `reachable` is `true` if all keywords on the way from the root
/// are `properties`.
fn walk(schema: &Value, path: &mut Vec<Rc<str>>, reachable: bool, found: &mut Marks) -> Result<(), Box<SchemaError>> {
    if let Value::Array(items) = schema {
        return items.iter().try_for_each(|item| walk(item, path, false, found));
    }
    let Value::Object(object) = schema else { return Ok(()) };
    if let Some(name) = object.get(KEYWORD) {
        let rejected = |problem: &str| Err(rejected(path, problem));
        let Some(name) = name.as_str().filter(|name| is_header_name(name)) else {
            return rejected("must be the name of a header");
        };
        if !reachable || path.is_empty() {
            return rejected("is only allowed on properties of objects");
        }
        let kind = match object.get("type").and_then(Value::as_str) {
            Some("string") => Type::String,
            Some("integer") => Type::Integer,
            Some("boolean") => Type::Boolean,
            _ => return rejected("is only allowed on a string, an integer or a boolean"),
        };
        let header = format!("Mcp-Param-{name}");
        if found.params.len() >= found.most {
            return rejected(&format!("is on more than {} arguments", found.most));
        }
        found.params.push(HeaderParam { header, path: path.clone(), kind });
    }
    for (keyword, value) in object {
        match value {
            Value::Object(properties) if keyword == "properties" => {
                for (name, property) in properties {
                    path.push(name.as_str().into());
                    walk(property, path, reachable, found)?;
                    path.pop();
                }
            }
            // The values of these keywords are data, not schemas.
            _ if matches!(keyword.as_str(), "enum" | "const" | "default" | "examples") => {}
            Value::Object(members) if keyword == "$defs" => {
                members.values().try_for_each(|member| walk(member, path, false, found))?;
            }
            value => walk(value, path, false, found)?,
        }
    }
    Ok(())
}

/// Returns whether `name` can be the name of a header: a token (RFC 9110 §5.6.2). The parser of the `http` crate would add 15 KB to the
/// Worker.
pub(crate) fn is_header_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}
