//! The standard request headers of 2026-07-28, which must agree with the body.
//!
//! Proxies route by the headers, and servers act on the body. So the endpoint rejects a request whose headers and body differ. Older
//! revisions do not have these headers, but a proxy cannot know the revision of the body. So the headers that are present must agree in
//! every revision, and only 2026-07-28 requires them.
//! Source: 2026-07-28, basic/transports/streamable-http, "Request Metadata".

use crate::engine::head::{BoundedRequest, HeaderError};
use crate::engine::header_params::{NAME, check_equal, check_name, missing};
use crate::protocol::message::Request;
use crate::protocol::method::Method;
use crate::protocol::revision::Era;

/// The header with the revision.
pub(super) const VERSION: &str = "MCP-Protocol-Version";
/// The header with the method.
const METHOD: &str = "Mcp-Method";

/// Returns the value of the version header, without surrounding spaces and tabs.
pub(super) fn version(head: &BoundedRequest) -> Result<Option<String>, HeaderError> {
    Ok(head.standard_header(VERSION)?.map(|value| value.trim_matches([' ', '\t']).to_owned()))
}

/// Checks that the version and method headers, if present, agree with the body. This check runs before the check that the version is
/// supported.
pub(super) fn check_version_and_method(
    head: &BoundedRequest,
    version_header: Option<&str>,
    claim: &str,
    request: &Request<'_>,
) -> Result<(), HeaderError> {
    if let Some(version) = version_header {
        check_equal(VERSION, version, claim)?;
    }
    check_method(head, request)
}

/// Checks that the method header, if present, agrees with the body.
pub(super) fn check_method(head: &BoundedRequest, request: &Request<'_>) -> Result<(), HeaderError> {
    if let Some(method) = head.standard_header(METHOD)? {
        check_equal(METHOD, method.trim_matches([' ', '\t']), &request.method)?;
    }
    Ok(())
}

/// Checks that the headers for one message are absent. A batch has several messages, so they cannot agree with all of them.
pub(super) fn check_batch(head: &BoundedRequest) -> Result<(), HeaderError> {
    for name in [METHOD, NAME] {
        if head.standard_header(name)?.is_some() {
            let message =
                format!("A batch must not have the header {name}, because it has several messages. Remove the header.");
            return Err(HeaderError::Mismatch(message));
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
) -> Result<(), HeaderError> {
    version_header.ok_or_else(|| missing(VERSION))?;
    head.standard_header(METHOD)?.ok_or_else(|| missing(METHOD))?;
    match request.known_method.and_then(Method::target_param) {
        Some(param) => check_name(head, param, request, Era::Modern),
        None => Ok(()),
    }
}
