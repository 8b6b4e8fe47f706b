//! Whether the headers of a 2026-07-28 request say what its body says.
//!
//! Proxies route by the headers and servers act on the body: a request in which they differ is refused.
//! Source: 2026-07-28, basic/transports/streamable-http, "Request Metadata".

use super::header_value::decode;
use crate::host::RequestHead;
use crate::protocol::error::{ErrorCode, RpcError, shortened};
use crate::protocol::json::Value;
use crate::protocol::message::Request;
use crate::protocol::method::Method;

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
    let Some(param) = Method::mirrored_param(&request.method) else { return Ok(()) };
    let header = head.header(NAME).ok_or_else(|| missing(NAME))?;
    // A parameter that is no string is answered as such, by the method.
    let Some(named) = request.param(param).and_then(Value::as_str) else { return Ok(()) };
    let header = decode(&header).map_err(|_| {
        RpcError::new(
            ErrorCode::HeaderMismatch,
            format!("The header {NAME} is marked as base64, but cannot be decoded."),
        )
    })?;
    same(NAME, &header, &named)
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
