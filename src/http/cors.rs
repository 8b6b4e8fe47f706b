//! What a browser is told, so that a page that may call also can.
//!
//! Source: the Fetch standard, "CORS protocol". The protocol itself says nothing of it.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, HeaderValue, VARY,
};
use http::{HeaderMap, Response, StatusCode};

use super::guard::allow_header;
use super::stream::Body;
use crate::host::RequestHead;

/// The headers that clients of any revision send.
const REQUEST_HEADERS: &str = "Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, \
                               Mcp-Name, Mcp-Session-Id, baggage, traceparent, tracestate";
/// The headers of an answer that a page may read.
const RESPONSE_HEADERS: &str = "WWW-Authenticate, MCP-Protocol-Version, Retry-After";
/// Seconds for which a browser need not ask again.
const MAX_AGE: &str = "86400";

/// The answer to OPTIONS: what may be sent. The origin, if there is one, is an allowed one.
pub(super) fn preflight(head: &dyn RequestHead) -> Response<Body> {
    let mut response = Response::new(Body::Bytes(Vec::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    allow_header(headers);
    if head.header("origin").is_some() {
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, OPTIONS"));
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, request_headers(head));
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
    }
    response
}

/// The headers that clients send, and those of them that repeat an argument, which the tools name.
fn request_headers(head: &dyn RequestHead) -> HeaderValue {
    let asked = head.header(ACCESS_CONTROL_REQUEST_HEADERS.as_str()).unwrap_or_default();
    let params = asked.split(',').map(str::trim).filter(|name| name.to_ascii_lowercase().starts_with("mcp-param-"));
    let names = [REQUEST_HEADERS].into_iter().chain(params).collect::<Vec<_>>().join(", ");
    HeaderValue::from_str(&names).unwrap_or(HeaderValue::from_static(REQUEST_HEADERS))
}

/// Lets a page of `origin`, which is an allowed one, read the answer: also when it is an error.
pub(super) fn allow(origin: &str, headers: &mut HeaderMap) {
    // An origin that is allowed has no character that a header cannot hold.
    let Ok(origin) = HeaderValue::from_str(origin) else { return };
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(RESPONSE_HEADERS));
    headers.append(VARY, HeaderValue::from_static("Origin"));
}
