//! Error codes, and the error object of a JSON-RPC response.
//!
//! There are few codes, because a caller can react in few ways. The message states in one sentence what is wrong and what
//! to do, so that a model can act on it. Information that only the operator can use is logged. It is never part of a
//! message.

use std::borrow::Cow;
use std::ops::Deref;

use serde::Serialize;
use serde_json::Value;

/// An error code. The specification defines the numbers (2026-07-28, basic, "Error Codes").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub(crate) enum ErrorCode {
    /// The body is not JSON.
    Parse = -32_700,
    /// The body is JSON but not a message of the protocol, or the HTTP layer rejects the request.
    InvalidRequest = -32_600,
    /// The method does not exist or is not available.
    MethodNotFound = -32_601,
    /// The parameters are invalid: an unknown tool, a missing field, or a resource that does not exist.
    InvalidParams = -32_602,
    /// The server failed.
    Internal = -32_603,
    /// A resource does not exist. Revisions up to 2025-11-25 only.
    ResourceNotFound = -32_002,
    /// A header is missing or contradicts the body. 2026-07-28 only.
    HeaderMismatch = -32_020,
    /// The request does not declare a required capability. 2026-07-28 only.
    MissingCapability = -32_021,
    /// The request names an unsupported revision. 2026-07-28 only.
    UnsupportedVersion = -32_022,
}

impl ErrorCode {
    pub(crate) fn of_number(number: i32) -> Option<Self> {
        CODES.into_iter().find(|code| code.number() == number)
    }

    pub(crate) const fn number(self) -> i32 {
        self as i32
    }
}

const CODES: [ErrorCode; 9] = [
    ErrorCode::Parse,
    ErrorCode::InvalidRequest,
    ErrorCode::MethodNotFound,
    ErrorCode::InvalidParams,
    ErrorCode::Internal,
    ErrorCode::ResourceNotFound,
    ErrorCode::HeaderMismatch,
    ErrorCode::MissingCapability,
    ErrorCode::UnsupportedVersion,
];

impl Serialize for ErrorCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i32(self.number())
    }
}

/// The `error` member of a response.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RpcError(Box<ErrorObject>);

/// The error object of JSON-RPC.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ErrorObject {
    pub(crate) code: ErrorCode,
    /// The error text: what is wrong, and what to do instead.
    pub(crate) message: Cow<'static, str>,
    /// Machine-readable data, if the specification defines it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Value>,
}

impl RpcError {
    /// Creates an error without `data`.
    #[cold]
    #[inline(never)]
    pub(crate) fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self(Box::new(ErrorObject { code, message: message.into(), data: None }))
    }

    /// Sets `data`.
    #[cold]
    #[inline(never)]
    pub(crate) fn with_data(mut self, data: Value) -> Self {
        self.0.data = Some(data);
        self
    }

    /// Creates the error for invalid parameters. `message` names the field.
    #[cold]
    #[inline(never)]
    pub(crate) fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::InvalidParams, message)
    }

    /// Creates the error for a failure of the server. The text does not reveal the cause, which belongs in the log.
    pub(crate) fn internal() -> Self {
        Self::new(ErrorCode::Internal, INTERNAL)
    }
}

impl Deref for RpcError {
    type Target = ErrorObject;

    fn deref(&self) -> &ErrorObject {
        &self.0
    }
}

/// The error text for a failure of the server.
pub(crate) const INTERNAL: &str = "The server failed to answer this request. Its log says why.";
