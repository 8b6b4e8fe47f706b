//! The headers that repeat arguments: `Mcp-Param-*` of a tool, and `Mcp-Name` of a method of an extension.
//!
//! Proxies route by the headers, and servers act on the body. So a message whose headers and body differ is rejected.
//!
//! Source: 2026-07-28, basic/transports/streamable-http, "Request Metadata".

use edge_json::decimal::Decimal;
use edge_json::{Document, JsonLimits, Kind, Value};

use super::head::{BoundedRequest, HeaderError};
use super::message::Message;
use super::target::Target;
use crate::protocol::header_value::decode;
use crate::protocol::message::Request;
use crate::protocol::revision::Era;
use crate::schema::{HeaderParam, Type};
use crate::server::tool::Tool;
use crate::text::shortened;

/// The header with the target of the method: a name or a URI.
pub(crate) const NAME: &str = "Mcp-Name";

/// Checks the headers that repeat arguments of a message. Older revisions do not have these headers, but a proxy cannot know the revision of
/// the body. So headers that are present must agree in every revision, and only 2026-07-28 requires them.
pub(super) fn check(head: &BoundedRequest, target: &Target, message: &Message<'_>) -> Result<(), HeaderError> {
    let (request, era) = (&message.request, message.revision.era());
    if let Some(tool) = target.tool() {
        check_params(head, tool, request, era)?;
    }
    match target.extension_method().and_then(|method| method.target.as_deref()) {
        Some(param) => check_name(head, param, request, era),
        None => Ok(()),
    }
}

/// Checks that `Mcp-Name` repeats the parameter `param`.
pub(crate) fn check_name(
    head: &BoundedRequest,
    param: &str,
    request: &Request<'_>,
    era: Era,
) -> Result<(), HeaderError> {
    let Some(header) = head.standard_header(NAME)? else {
        return if era == Era::Modern { Err(missing(NAME)) } else { Ok(()) };
    };
    // The method rejects a parameter that is not a string.
    let Some(named) = request.param(param).and_then(Value::as_str) else { return Ok(()) };
    let header = decode(&header).map_err(|_| badly_encoded(NAME))?;
    check_equal(NAME, &header, &named)
}

/// Checks that the `Mcp-Param-*` headers of a tool agree with its arguments. An argument that is null or absent must not have a header.
#[inline(never)]
fn check_params(head: &BoundedRequest, tool: &Tool, request: &Request<'_>, era: Era) -> Result<(), HeaderError> {
    // The builder of the server rejects schemas that do not compile.
    let Ok(schema) = tool.input_schema() else { return Ok(()) };
    for HeaderParam { header: name, path, kind } in schema.header_params() {
        let argument = path.iter().try_fold(request.param("arguments"), |value, step| Some(value?.get(step)));
        let argument = argument.flatten().filter(|argument| argument.kind() != Kind::Null);
        let (header, argument) = match (head.standard_header(name)?, argument) {
            (Some(header), Some(argument)) => (header, argument),
            (None, Some(_)) if era == Era::Modern => {
                let path = path.join(".");
                return Err(mismatch(format!("The header {name} is missing. It must repeat the argument `{path}`.")));
            }
            (None, _) => continue,
            (Some(_), None) => {
                let path = path.join(".");
                return Err(mismatch(format!(
                    "The header {name} repeats the argument `{path}`, which is missing. Send both, or neither."
                )));
            }
        };
        let header = decode(&header).map_err(|_| badly_encoded(name))?;
        let agrees = match kind {
            Type::Integer => number(&header).is_some_and(|number| number == Decimal::of(argument.text())),
            Type::Boolean => header == argument.text(),
            _ => argument.as_str().is_some_and(|text| text == header),
        };
        if !agrees {
            let path = path.join(".");
            return Err(mismatch(format!("The header {name} and the argument `{path}` must have the same value.")));
        }
    }
    Ok(())
}

/// Parses a number in the syntax of JSON. The parser of the standard library also accepts other forms.
fn number(text: &str) -> Option<Decimal> {
    let document = Document::parse(text.as_bytes(), JsonLimits::default()).ok()?;
    (document.root().kind() == Kind::Number && document.root().text() == text).then(|| Decimal::of(text))
}

/// Checks that a header has the value that the body has.
pub(crate) fn check_equal(name: &str, header: &str, body: &str) -> Result<(), HeaderError> {
    if header == body {
        return Ok(());
    }
    let (header, body) = (shortened(header), shortened(body));
    Err(mismatch(format!("The header {name} is {header:?}, but the body has {body:?}. Send the same value in both.")))
}

/// Returns the error for a header that every request of the method must have.
pub(crate) fn missing(name: &str) -> HeaderError {
    mismatch(format!("The header {name} is missing. Every 2026-07-28 request of this method must have it."))
}

fn badly_encoded(name: &str) -> HeaderError {
    mismatch(format!("The header {name} is marked as base64, but cannot be decoded."))
}

/// Returns the error for headers that do not agree with the body.
pub(crate) fn mismatch(message: String) -> HeaderError {
    HeaderError::Mismatch(message)
}
