//! Public documents. All callers may read them, including web pages of every origin.

use edge_json::write;
use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE,
    ALLOW, CACHE_CONTROL, CONTENT_TYPE,
};
use http::{Response, StatusCode};
use serde::Serialize;

use super::constant_header::set;
use super::http_error::HttpError;
use super::stream::Body;

const METHODS: &str = "GET, HEAD, OPTIONS";

/// Answers methods other than GET and HEAD. Returns `None` for these two.
pub(super) fn answer_other_method(method: &str) -> Option<Result<Response<Body>, Box<HttpError>>> {
    match method {
        "GET" | "HEAD" => None,
        "OPTIONS" => {
            let mut response = respond(StatusCode::NO_CONTENT);
            let headers = response.headers_mut();
            set(headers, ACCESS_CONTROL_ALLOW_METHODS, METHODS);
            // Clients also send the header MCP-Protocol-Version with these requests.
            set(headers, ACCESS_CONTROL_ALLOW_HEADERS, "*");
            set(headers, ACCESS_CONTROL_MAX_AGE, "86400");
            Some(Ok(response))
        }
        _ => {
            let message = "This document is read-only. Send GET, HEAD or OPTIONS.";
            let mut refusal = HttpError::http(StatusCode::METHOD_NOT_ALLOWED, message);
            set(&mut refusal.headers, ALLOW, METHODS);
            Some(Err(refusal))
        }
    }
}

/// Returns a response with a document and `caching` as its `Cache-Control`. The response to HEAD has no body.
pub(super) fn json(document: &impl Serialize, method: &str, caching: &'static str) -> Response<Body> {
    let mut response = respond(StatusCode::OK);
    set(response.headers_mut(), CONTENT_TYPE, "application/json");
    set(response.headers_mut(), CACHE_CONTROL, caching);
    if method != "HEAD" {
        // Strings, numbers and lists of them always serialize.
        *response.body_mut() = Body::Bytes(write::to_vec(document).unwrap_or_default());
    }
    response
}

/// Returns an empty response that web pages of every origin may read.
pub(super) fn respond(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(Body::Bytes(Vec::new()));
    *response.status_mut() = status;
    set(response.headers_mut(), ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    response
}
