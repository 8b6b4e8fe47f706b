//! The errors of the HTTP layer, and the HTTP status of every JSON-RPC error.

use std::borrow::Cow;

use http::{HeaderMap, StatusCode};

use super::reply::{Reply, json_response};
use crate::engine::head::HeaderError;
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::message::{RequestId, error_response};
use crate::protocol::revision::Era;

/// An error response to a request that is rejected before its method runs.
///
/// Results contain it in a box, because it is large and rare.
#[derive(Debug)]
pub(super) struct HttpError {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub id: Option<RequestId>,
    pub error: RpcError,
}

impl HttpError {
    /// Creates an error of HTTP, such as a wrong path or media type. Its JSON-RPC code is `-32600`.
    #[cold]
    #[inline(never)]
    pub(super) fn http(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Box<Self> {
        Self::rpc(status, None, RpcError::new(ErrorCode::InvalidRequest, message))
    }

    /// Creates the 400 for a message that is rejected.
    pub(super) fn message(id: Option<RequestId>, error: RpcError) -> Box<Self> {
        Self::rpc(StatusCode::BAD_REQUEST, id, error)
    }

    /// Converts the error into the reply to the request.
    #[cold]
    #[inline(never)]
    pub(super) fn into_reply(self) -> Reply {
        let document = error_response(self.id.as_ref(), &self.error);
        if self.headers.is_empty() {
            return Reply::Json(self.status, document);
        }
        json_response(self.status, document, self.headers).into()
    }

    /// Sets the id of the request.
    pub(super) fn with_id(mut self: Box<Self>, id: Option<RequestId>) -> Box<Self> {
        self.id = id;
        self
    }

    /// Creates an error from its parts.
    #[cold]
    #[inline(never)]
    pub(super) fn rpc(status: StatusCode, id: Option<RequestId>, error: RpcError) -> Box<Self> {
        Box::new(Self { status, headers: HeaderMap::new(), id, error })
    }
}

/// Converts the error into a 400 without an id.
impl From<RpcError> for Box<HttpError> {
    fn from(error: RpcError) -> Self {
        HttpError::message(None, error)
    }
}

impl From<HeaderError> for Box<HttpError> {
    fn from(error: HeaderError) -> Self {
        match error {
            HeaderError::TooLong(message) => HttpError::http(StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE, message),
            HeaderError::Mismatch(message) => RpcError::new(ErrorCode::HeaderMismatch, message).into(),
        }
    }
}

/// Returns the HTTP status of an answer with this error, or with a result.
///
/// Older revisions answer every well-formed request with 200. Source: 2026-07-28, basic, "Error Codes", and
/// basic/transports/streamable-http.
pub(super) fn status_of(era: Era, error: Option<ErrorCode>) -> StatusCode {
    match (era, error) {
        (Era::Modern, Some(ErrorCode::MethodNotFound)) => StatusCode::NOT_FOUND,
        (Era::Modern, Some(ErrorCode::MissingCapability)) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}
