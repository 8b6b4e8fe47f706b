//! The reply to an HTTP request.

use http::header::{CACHE_CONTROL, CONTENT_TYPE, HeaderValue};
use http::{Response, StatusCode};

use super::stream::Body;

/// The reply to an HTTP request.
pub(crate) enum Reply {
    /// A JSON document. No cache may store it. Most replies are of this kind, so they have no map of headers.
    Json(StatusCode, Vec<u8>),
    /// Any response.
    Other(Response<Body>),
}

impl Reply {
    pub(super) fn status(&self) -> StatusCode {
        match self {
            Self::Json(status, _) => *status,
            Self::Other(response) => response.status(),
        }
    }

    /// Returns the reply as a response with its headers.
    pub(super) fn into_response(self) -> Response<Body> {
        match self {
            Self::Json(status, body) => {
                let mut response = Response::new(Body::Bytes(body));
                *response.status_mut() = status;
                let headers = response.headers_mut();
                headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
                headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
                response
            }
            Self::Other(response) => response,
        }
    }
}

impl From<Response<Body>> for Reply {
    fn from(response: Response<Body>) -> Self {
        Self::Other(response)
    }
}
