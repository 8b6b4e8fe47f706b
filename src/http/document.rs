//! Public documents. Everybody may read them, including pages of every origin.

use http::header::{
    ACCESS_CONTROL_ALLOW_HEADERS, ACCESS_CONTROL_ALLOW_METHODS, ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_MAX_AGE,
    ALLOW, CACHE_CONTROL, CONTENT_TYPE, HeaderName, HeaderValue,
};
use http::{Response, StatusCode};
use serde::Serialize;

use super::http_error::HttpError;
use super::stream::Body;
use crate::json::write;

const METHODS: HeaderValue = HeaderValue::from_static("GET, HEAD, OPTIONS");

/// The answer to methods other than GET and HEAD.
pub(super) fn answer_unread(method: &str) -> Option<Result<Response<Body>, Box<HttpError>>> {
    match method {
        "GET" | "HEAD" => None,
        "OPTIONS" => Some(Ok(respond(
            StatusCode::NO_CONTENT,
            [
                (ACCESS_CONTROL_ALLOW_METHODS, METHODS),
                // Clients send the protocol version with these requests too.
                (ACCESS_CONTROL_ALLOW_HEADERS, HeaderValue::from_static("*")),
                (ACCESS_CONTROL_MAX_AGE, HeaderValue::from_static("86400")),
            ],
        ))),
        _ => {
            let message = "This document is read-only. Send GET, HEAD or OPTIONS.";
            let mut refusal = HttpError::http(StatusCode::METHOD_NOT_ALLOWED, message);
            refusal.headers.insert(ALLOW, METHODS);
            Some(Err(refusal))
        }
    }
}

/// A document with `caching` as its `Cache-Control`. The answer to HEAD has no body.
pub(super) fn json(document: &impl Serialize, method: &str, caching: &'static str) -> Response<Body> {
    let mut response = respond(
        StatusCode::OK,
        [
            (CONTENT_TYPE, HeaderValue::from_static("application/json")),
            (CACHE_CONTROL, HeaderValue::from_static(caching)),
        ],
    );
    if method != "HEAD" {
        // Strings, numbers and lists of them always serialize.
        *response.body_mut() = Body::Bytes(write::to_vec(document).unwrap_or_default());
    }
    response
}

/// A response that pages of any origin may read.
pub(super) fn respond<const N: usize>(status: StatusCode, headers: [(HeaderName, HeaderValue); N]) -> Response<Body> {
    let mut response = Response::new(Body::Bytes(Vec::new()));
    *response.status_mut() = status;
    response.headers_mut().extend(headers);
    response.headers_mut().insert(ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
    response
}
