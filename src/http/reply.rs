//! The reply to an HTTP request.

use http::header::{CACHE_CONTROL, CONTENT_TYPE};
use http::{HeaderMap, Response, StatusCode};

use super::constant_header::set;
use super::stream::{self, Body};

/// The reply to an HTTP request.
pub(crate) enum Reply {
    /// A JSON document that caches must not store. Most replies are of this kind, so it has no map of headers.
    Json(StatusCode, Vec<u8>),
    /// Any response.
    Other(Response<Body>),
}

impl Reply {
    /// Creates a 202 without a body, for messages that need no response.
    pub(super) fn accepted() -> Self {
        let mut response = Response::new(Body::Bytes(Vec::new()));
        *response.status_mut() = StatusCode::ACCEPTED;
        response.into()
    }

    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Json(status, _) => *status,
            Self::Other(response) => response.status(),
        }
    }

    /// Returns a successful JSON document as an event stream with one event. Errors of HTTP stay JSON.
    #[cold]
    #[inline(never)]
    pub(super) fn into_stream(self) -> Self {
        match self {
            Self::Json(StatusCode::OK, document) => stream::complete(document).into(),
            other => other,
        }
    }

    /// Returns the reply as a response with its headers.
    pub(super) fn into_response(self) -> Response<Body> {
        match self {
            Self::Json(status, document) => json_response(status, document, HeaderMap::new()),
            Self::Other(response) => response,
        }
    }
}

/// Returns a response with a JSON document and these headers. Caches must not store it.
pub(super) fn json_response(status: StatusCode, document: Vec<u8>, mut headers: HeaderMap) -> Response<Body> {
    set(&mut headers, CONTENT_TYPE, "application/json");
    set(&mut headers, CACHE_CONTROL, "no-store");
    let mut response = Response::new(Body::Bytes(document));
    *response.status_mut() = status;
    *response.headers_mut() = headers;
    response
}

impl From<Response<Body>> for Reply {
    fn from(response: Response<Body>) -> Self {
        Self::Other(response)
    }
}
