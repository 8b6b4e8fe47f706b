//! CORS headers. With them, browsers let pages of allowed origins call the endpoint.
//!
//! Source: the Fetch standard, "CORS protocol". MCP does not specify CORS.

use std::rc::Rc;

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN,
    ACCESS_CONTROL_EXPOSE_HEADERS, ACCESS_CONTROL_MAX_AGE, ACCESS_CONTROL_REQUEST_HEADERS, HeaderValue, VARY,
};
use http::{HeaderMap, Response, StatusCode};

use super::constant_header::{allow_header, set};
use super::http_error::HttpError;
use super::reply::Reply;
use super::stream::Body;
use crate::engine::head::BoundedRequest;
use crate::host::Host;

/// The headers that clients of all revisions send.
const REQUEST_HEADERS: &str = "Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, \
                               Mcp-Name, Mcp-Session-Id, baggage, traceparent, tracestate";
/// The response headers that a page may read.
const RESPONSE_HEADERS: &str = "WWW-Authenticate, MCP-Protocol-Version, Retry-After";
/// The time in seconds for which a browser may cache the answer.
const MAX_AGE: &str = "86400";

/// Returns the answer to OPTIONS. The caller has checked that the origin, if there is one, is allowed.
#[cold]
#[inline(never)]
pub(super) fn preflight(head: &BoundedRequest) -> Result<Response<Body>, Box<HttpError>> {
    let mut response = Response::new(Body::Bytes(Vec::new()));
    *response.status_mut() = StatusCode::NO_CONTENT;
    let headers = response.headers_mut();
    allow_header(headers);
    if head.standard_header("origin")?.is_some() {
        set(headers, ACCESS_CONTROL_ALLOW_METHODS, "POST, OPTIONS");
        headers.insert(ACCESS_CONTROL_ALLOW_HEADERS, request_headers(head)?);
        set(headers, ACCESS_CONTROL_MAX_AGE, MAX_AGE);
    }
    Ok(response)
}

/// Returns the headers that clients of all revisions send, and the `Mcp-Param-*` headers in `Access-Control-Request-Headers`. The schemas
/// of tools define the names of the `Mcp-Param-*` headers.
fn request_headers(head: &BoundedRequest) -> Result<HeaderValue, Box<HttpError>> {
    let requested = head.standard_header(ACCESS_CONTROL_REQUEST_HEADERS.as_str())?.unwrap_or_default();
    let params = requested.split(',').map(str::trim).filter(|name| name.to_ascii_lowercase().starts_with("mcp-param-"));
    let mut names = REQUEST_HEADERS.to_owned();
    for name in params {
        names.push_str(", ");
        names.push_str(name);
    }
    Ok(HeaderValue::from_str(&names).unwrap_or(HeaderValue::from_static(REQUEST_HEADERS)))
}

/// Adds the headers that permit pages of `origin` to read the reply, which may be an error. The origin must be allowed.
#[cold]
#[inline(never)]
pub(super) fn with_headers(origin: &str, reply: Reply) -> Reply {
    let mut response = reply.into_response();
    insert_headers(origin, response.headers_mut());
    response.into()
}

/// Passes the CORS headers for `origin` to the host. If the program crashes, the host adds them to its answer.
#[cold]
#[inline(never)]
pub(super) fn keep_for_crash(origin: &str, host: &Rc<dyn Host>) {
    let mut headers = HeaderMap::new();
    insert_headers(origin, &mut headers);
    host.keep_crash_headers(&headers);
}

fn insert_headers(origin: &str, headers: &mut HeaderMap) {
    // An allowed origin contains only characters that are valid in a header.
    let Ok(origin) = HeaderValue::from_str(origin) else { return };
    headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    set(headers, ACCESS_CONTROL_EXPOSE_HEADERS, RESPONSE_HEADERS);
    headers.append(VARY, HeaderValue::from_static("Origin"));
}
