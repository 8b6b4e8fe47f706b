//! The headers that repeat arguments of a tool: `Mcp-Param-*`.
//!
//! The input schema marks such an argument with `x-mcp-header`.
//!
//! Source: 2026-07-28, server/tools, "x-mcp-header".

use edge_json::{Document, JsonLimits, Kind, Value, canonical};

use crate::limits::{UPSTREAM_PARAM_BYTES, UPSTREAM_PARAMS};
use crate::schema::{HeaderParam, header_params};

/// Returns the marked arguments of a tool.
///
/// # Errors
/// The problem with a mark.
pub(super) fn marked(tool: Value<'_>) -> Result<Vec<HeaderParam>, String> {
    let Some(schema) = tool.get("inputSchema") else { return Ok(Vec::new()) };
    // Few schemas have marks. A key with an escape may also be `x-mcp-header`.
    if !schema.text().contains("x-mcp-header") && !schema.text().contains("\\u") {
        return Ok(Vec::new());
    }
    let schema = schema.to_json().ok_or("a number of the input schema is too large")?;
    let params = header_params(&schema, UPSTREAM_PARAMS).map_err(|error| error.to_string())?;
    Ok(params)
}

/// Returns the headers of a call of a tool with these marks. The arguments are JSON text. An argument that is null or absent has no header.
///
/// # Errors
/// The values are too long, as a predicate whose subject is the server.
pub(in crate::client) fn of_call(
    params: &[HeaderParam],
    arguments: &str,
) -> Result<Vec<(String, String)>, &'static str> {
    if params.is_empty() {
        return Ok(Vec::new());
    }
    let document = Document::parse(arguments.as_bytes(), JsonLimits::MOST);
    let Ok(document) = document else { return Ok(Vec::new()) };
    let mut headers = Vec::new();
    let mut bytes = 0_usize;
    for HeaderParam { header, path, .. } in params {
        let argument = path.iter().try_fold(document.root(), |value, step| value.get(step));
        let Some(value) = argument.and_then(text) else { continue };
        bytes = bytes.saturating_add(value.len());
        headers.push((header.clone(), value));
    }
    if bytes > UPSTREAM_PARAM_BYTES {
        return Err("was not called: the arguments that headers must repeat are too long.");
    }
    Ok(headers)
}

/// Returns an argument as text, or `None` for an object, an array or null.
fn text(argument: Value<'_>) -> Option<String> {
    match argument.kind() {
        Kind::String => argument.as_str().map(Into::into),
        // 42.0 is the integer 42.
        Kind::Number => Some(canonical::number(argument.text()).into_owned()),
        Kind::Boolean => Some(argument.text().to_owned()),
        Kind::Null | Kind::Array | Kind::Object => None,
    }
}
