//! The standard request headers of 2026-07-28, which must agree with the body.
//!
//! Proxies route by the headers, and servers act on the body. So the endpoint rejects a request whose headers and body differ. Older
//! revisions do not have these headers, but a proxy cannot know the revision of the body. So the headers that are present must agree in
//! every revision, and only 2026-07-28 requires them.
//! Source: 2026-07-28, basic/transports/streamable-http, "Request Metadata".

use edge_json::decimal::Decimal;
use edge_json::{Document, JsonLimits, Kind, Value};

use super::bounded_request::BoundedRequest;
use super::http_error::HttpError;
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::header_value::decode;
use crate::protocol::message::Request;
use crate::protocol::method::Method;
use crate::protocol::revision::Era;
use crate::schema::{HeaderParam, Type};
use crate::server::tool::Tool;
use crate::text::shortened;

/// The header with the revision.
pub(super) const VERSION: &str = "MCP-Protocol-Version";
/// The header with the method.
const METHOD: &str = "Mcp-Method";
/// The header with the target of the method: a name or a URI.
const NAME: &str = "Mcp-Name";

/// Returns the value of the version header, without surrounding spaces and tabs.
pub(super) fn version(head: &BoundedRequest) -> Result<Option<String>, Box<HttpError>> {
    Ok(head.standard_header(VERSION)?.map(|value| value.trim_matches([' ', '\t']).to_owned()))
}

/// Checks that the version and method headers, if present, agree with the body. This check runs before the check that the version is
/// supported.
pub(super) fn check_version_and_method(
    head: &BoundedRequest,
    version_header: Option<&str>,
    claim: &str,
    request: &Request<'_>,
) -> Result<(), Box<HttpError>> {
    if let Some(version) = version_header {
        check_equal(VERSION, version, claim)?;
    }
    check_method(head, request)
}

/// Checks that the method header, if present, agrees with the body.
pub(super) fn check_method(head: &BoundedRequest, request: &Request<'_>) -> Result<(), Box<HttpError>> {
    if let Some(method) = head.standard_header(METHOD)? {
        check_equal(METHOD, method.trim_matches([' ', '\t']), &request.method)?;
    }
    Ok(())
}

/// Checks that the headers for one message are absent. A batch has several messages, so they cannot agree with all of them.
pub(super) fn check_batch(head: &BoundedRequest) -> Result<(), Box<HttpError>> {
    for name in [METHOD, NAME] {
        if head.standard_header(name)?.is_some() {
            let message =
                format!("A batch must not have the header {name}, because it has several messages. Remove the header.");
            return Err(RpcError::new(ErrorCode::HeaderMismatch, message).into());
        }
    }
    Ok(())
}

/// Checks that all headers of the method are present, and that `Mcp-Name` agrees with the body. This check runs after the check that the
/// version is supported.
pub(super) fn check_presence_and_name(
    head: &BoundedRequest,
    version_header: Option<&str>,
    request: &Request<'_>,
) -> Result<(), Box<HttpError>> {
    version_header.ok_or_else(|| missing(VERSION))?;
    head.standard_header(METHOD)?.ok_or_else(|| missing(METHOD))?;
    match request.known_method.and_then(Method::target_param) {
        Some(param) => check_name(head, param, request, Era::Modern),
        None => Ok(()),
    }
}

/// Checks that `Mcp-Name` repeats the parameter `param`.
pub(super) fn check_name(
    head: &BoundedRequest,
    param: &str,
    request: &Request<'_>,
    era: Era,
) -> Result<(), Box<HttpError>> {
    let Some(header) = head.standard_header(NAME)? else {
        return if era == Era::Modern { Err(missing(NAME).into()) } else { Ok(()) };
    };
    // The method rejects a parameter that is not a string.
    let Some(named) = request.param(param).and_then(Value::as_str) else { return Ok(()) };
    let header = decode(&header).map_err(|_| badly_encoded(NAME))?;
    Ok(check_equal(NAME, &header, &named)?)
}

/// Checks that the `Mcp-Param-*` headers of a tool agree with its arguments. An argument that is null or absent must not have a header.
#[inline(never)]
pub(super) fn check_params(
    head: &BoundedRequest,
    tool: &Tool,
    request: &Request<'_>,
    era: Era,
) -> Result<(), Box<HttpError>> {
    // The builder of the server rejects schemas that do not compile.
    let Ok(schema) = tool.input_schema() else { return Ok(()) };
    for HeaderParam { header: name, path, kind } in schema.header_params() {
        let argument = path.iter().try_fold(request.param("arguments"), |value, step| Some(value?.get(step)));
        let argument = argument.flatten().filter(|argument| argument.kind() != Kind::Null);
        let (header, argument) = match (head.standard_header(name)?, argument) {
            (Some(header), Some(argument)) => (header, argument),
            (None, Some(_)) if era == Era::Modern => {
                let path = path.join(".");
                let message = format!("The header {name} is missing. It must repeat the argument `{path}`.");
                return Err(RpcError::new(ErrorCode::HeaderMismatch, message).into());
            }
            (None, _) => continue,
            (Some(_), None) => {
                let path = path.join(".");
                let message = format!(
                    "The header {name} repeats the argument `{path}`, which is missing. Send both, or neither."
                );
                return Err(RpcError::new(ErrorCode::HeaderMismatch, message).into());
            }
        };
        let header = decode(&header).map_err(|_| badly_encoded(name))?;
        let agrees = match kind {
            Type::Integer => number(&header).is_some_and(|number| number == Decimal::of(argument.text())),
            Type::Boolean => header == argument.text(),
            _ => argument.as_str().is_some_and(|text| text == header),
        };
        if !agrees {
            let message = format!("The header {name} and the argument `{}` must have the same value.", path.join("."));
            return Err(RpcError::new(ErrorCode::HeaderMismatch, message).into());
        }
    }
    Ok(())
}

/// Parses a number in the syntax of JSON. The parser of the standard library also accepts other forms.
fn number(text: &str) -> Option<Decimal> {
    let document = Document::parse(text.as_bytes(), JsonLimits::default()).ok()?;
    (document.root().kind() == Kind::Number && document.root().text() == text).then(|| Decimal::of(text))
}

fn badly_encoded(name: &str) -> RpcError {
    RpcError::new(ErrorCode::HeaderMismatch, format!("The header {name} is marked as base64, but cannot be decoded."))
}

fn check_equal(name: &str, header: &str, body: &str) -> Result<(), RpcError> {
    if header == body {
        return Ok(());
    }
    let (header, body) = (shortened(header), shortened(body));
    let message = format!("The header {name} is {header:?}, but the body has {body:?}. Send the same value in both.");
    Err(RpcError::new(ErrorCode::HeaderMismatch, message))
}

fn missing(name: &str) -> RpcError {
    let message = format!("The header {name} is missing. Every 2026-07-28 request of this method must have it.");
    RpcError::new(ErrorCode::HeaderMismatch, message)
}
