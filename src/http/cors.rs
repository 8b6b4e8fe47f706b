//! What a browser is told, so that a page that may call also can.
//!
//! Source: the Fetch standard, "CORS protocol". The protocol itself says nothing of it.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, HeaderValue, VARY,
};
use http::{HeaderMap, Response, StatusCode};

use super::guard::allow_header;
use super::stream::Body;

/// The headers that clients of any revision send.
const REQUEST_HEADERS: &str = "Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, \
                               Mcp-Name, Mcp-Session-Id, baggage, traceparent, tracestate";
/// The headers of an answer that a page may read.
const RESPONSE_HEADERS: &str = "WWW-Authenticate, MCP-Protocol-Version, Retry-After";
/// Seconds for which a browser need not ask again.
const MAX_AGE: &str = "86400";

/// The answer to OPTIONS: what may be sent. `origin` is an allowed one.
pub(super) fn preflight(origin: Option<&str>) -> Response<Body> {
    let mut response = Response::new(Body::Bytes(Vec::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    allow_header(headers);
    if origin.is_some() {
        headers.insert(ACCESS_CONTROL_ALLOW_METHODS, HeaderValue::from_static("POST, OPTIONS"));
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static(REQUEST_HEADERS));
        headers.insert(ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static(MAX_AGE));
    }
    response
}

/// Lets a page of `origin`, which is an allowed one, read the answer: also when it is an error.
pub(super) fn allow(origin: &str, headers: &mut HeaderMap) {
    // An origin that is allowed has no character that a header cannot hold.
    let Ok(origin) = HeaderValue::from_str(origin) else { return };
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    headers.insert(ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(RESPONSE_HEADERS));
    headers.append(VARY, HeaderValue::from_static("Origin"));
}
