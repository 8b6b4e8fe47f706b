//! What is refused before a method is reached, and the HTTP status of every error.

use std::borrow::Cow;

use http::{HeaderMap, StatusCode};

use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::message::RequestId;
use crate::protocol::revision::Era;

/// A request that is refused before a method is reached. Boxed, since most are not.
#[derive(Debug)]
pub(super) struct HttpError {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub id: Option<RequestId>,
    pub error: RpcError,
}

impl HttpError {
    /// A refusal by HTTP itself. The message is all that tells a client more than the status does.
    pub(super) fn http(status: StatusCode, message: impl Into<Cow<'static, str>>) -> Box<Self> {
        Self::rpc(status, None, RpcError::new(ErrorCode::InvalidRequest, message))
    }

    /// A message that is refused: 400.
    pub(super) fn message(id: Option<RequestId>, error: RpcError) -> Box<Self> {
        Self::rpc(StatusCode::BAD_REQUEST, id, error)
    }

    /// The same, of the request that has this id.
    pub(super) fn of(mut self: Box<Self>, id: RequestId) -> Box<Self> {
        self.id = Some(id);
        self
    }

    /// A refusal with all its parts.
    pub(super) fn rpc(status: StatusCode, id: Option<RequestId>, error: RpcError) -> Box<Self> {
        Box::new(Self { status, headers: HeaderMap::new(), id, error })
    }
}

/// 400.
impl From<RpcError> for Box<HttpError> {
    fn from(error: RpcError) -> Self {
        HttpError::message(None, error)
    }
}

/// The status of an error that a method gives.
///
/// Source: 2026-07-28, basic, "Error Codes", and basic/transports/streamable-http; older revisions answer every request
/// that they could read with 200.
pub(super) fn status_of(era: Era, code: ErrorCode) -> StatusCode {
    match (era, code) {
        (Era::Modern, ErrorCode::MethodNotFound) => StatusCode::NOT_FOUND,
        (Era::Modern, ErrorCode::MissingCapability) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}
