//! Whether the headers of a 2026-07-28 request say what its body says.
//!
//! Proxies route by the headers and servers act on the body: a request in which they differ is refused.
//! Source: 2026-07-28, basic/transports/streamable-http, "Request Metadata".

use super::header_value::decode;
use crate::host::RequestHead;
use crate::json::decimal::Decimal;
use crate::json::{Document, JsonLimits, Kind, Value};
use crate::protocol::error::{ErrorCode, RpcError, shortened};
use crate::protocol::message::Request;
use crate::protocol::method::Method;
use crate::schema::{HeaderParam, Type};
use crate::server::tool::Tool;

/// The revision.
pub(super) const VERSION: &str = "MCP-Protocol-Version";
/// The method.
const METHOD: &str = "Mcp-Method";
/// What the method is applied to: a name or a URI.
const NAME: &str = "Mcp-Name";

/// The value of the version header, without the space around it.
pub(super) fn version(head: &dyn RequestHead) -> Option<String> {
    head.header(VERSION).map(|value| value.trim_matches([' ', '\t']).to_owned())
}

/// The headers that a request has say what its body says. Comes before the question whether the version is served.
pub(super) fn agrees(
    head: &dyn RequestHead,
    version_header: Option<&str>,
    claim: &str,
    request: &Request<'_>,
) -> Result<(), RpcError> {
    if let Some(version) = version_header {
        same(VERSION, version, claim)?;
    }
    match head.header(METHOD) {
        Some(method) => same(METHOD, method.trim_matches([' ', '\t']), &request.method),
        None => Ok(()),
    }
}

/// All headers that the method needs are there. Comes after the question whether the version is served.
pub(super) fn is_complete(
    head: &dyn RequestHead,
    version_header: Option<&str>,
    request: &Request<'_>,
) -> Result<(), RpcError> {
    version_header.ok_or_else(|| missing(VERSION))?;
    head.header(METHOD).ok_or_else(|| missing(METHOD))?;
    let Some(param) = request.known_method.and_then(Method::target_param) else { return Ok(()) };
    let header = head.header(NAME).ok_or_else(|| missing(NAME))?;
    // A parameter that is no string is answered as such, by the method.
    let Some(named) = request.param(param).and_then(Value::as_str) else { return Ok(()) };
    let header = decode(&header).map_err(|_| badly_encoded(NAME))?;
    same(NAME, &header, &named)
}

/// The headers that a tool's marked arguments are repeated in say what the arguments say. An argument that is null or left
/// out is not expected in one.
pub(super) fn params_agree(head: &dyn RequestHead, tool: &Tool, request: &Request<'_>) -> Result<(), RpcError> {
    // A schema that could not be compiled has been refused with the server.
    let Ok(schema) = tool.input_schema() else { return Ok(()) };
    for HeaderParam { header: name, path, kind } in schema.header_params() {
        let argument = path.iter().try_fold(request.param("arguments"), |value, step| Some(value?.get(step)));
        let Some(argument) = argument.flatten().filter(|argument| argument.kind() != Kind::Null) else { continue };
        let header = head.header(name).ok_or_else(|| {
            let message = format!("The header {name} is missing; it repeats the argument `{}`.", path.join("."));
            RpcError::new(ErrorCode::HeaderMismatch, message)
        })?;
        let header = decode(&header).map_err(|_| badly_encoded(name))?;
        let agrees = match kind {
            Type::Integer => number(&header).is_some_and(|number| Some(number) == Decimal::of(argument.text())),
            Type::Boolean => header == argument.text(),
            _ => argument.as_str().is_some_and(|text| text == header),
        };
        if !agrees {
            let message = format!("The header {name} does not say what the argument `{}` says.", path.join("."));
            return Err(RpcError::new(ErrorCode::HeaderMismatch, message));
        }
    }
    Ok(())
}

/// A decimal number, and nothing else that Rust would take for one.
fn number(text: &str) -> Option<Decimal> {
    let document = Document::parse(text.as_bytes(), JsonLimits::default()).ok()?;
    (document.root().kind() == Kind::Number && document.root().text() == text).then(|| Decimal::of(text))?
}

fn badly_encoded(name: &str) -> RpcError {
    RpcError::new(ErrorCode::HeaderMismatch, format!("The header {name} is marked as base64, but cannot be decoded."))
}

fn same(name: &str, header: &str, body: &str) -> Result<(), RpcError> {
    if header == body {
        return Ok(());
    }
    let (header, body) = (shortened(header), shortened(body));
    let message = format!("The header {name} is {header:?}, but the body says {body:?}. Send the same in both.");
    Err(RpcError::new(ErrorCode::HeaderMismatch, message))
}

fn missing(name: &str) -> RpcError {
    let message = format!("The header {name} is missing; every 2026-07-28 request of this method carries it.");
    RpcError::new(ErrorCode::HeaderMismatch, message)
}
