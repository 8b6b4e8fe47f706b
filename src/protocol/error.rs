//! Error codes, and the error object of a JSON-RPC response.
//!
//! Codes are few, because a caller can do few different things. What was wrong, and what to do about it, is in the
//! message, in one sentence that a model can act on. What only the operator can use goes to the log and never into a
//! message.

use std::borrow::Cow;

use serde::Serialize;
use serde_json::Value;

/// What kind of mistake it was. The numbers are the specification's (2026-07-28, basic, "Error Codes").
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ErrorCode {
    /// The body is not JSON.
    Parse,
    /// The body is JSON, but no message of the protocol; also what HTTP itself refuses.
    InvalidRequest,
    /// No such method, or not offered here.
    MethodNotFound,
    /// The parameters are wrong: an unknown tool, a missing field, a resource that is not there.
    InvalidParams,
    /// The server's fault.
    Internal,
    /// A resource is not there; revisions up to 2025-11-25 only.
    ResourceNotFound,
    /// A header contradicts the body, or is missing; 2026-07-28.
    HeaderMismatch,
    /// The request does not declare a capability that it needs; 2026-07-28.
    MissingCapability,
    /// The request claims a revision that is not spoken here; 2026-07-28.
    UnsupportedVersion,
}

impl ErrorCode {
    /// The number on the wire.
    pub(crate) const fn number(self) -> i32 {
        match self {
            Self::Parse => -32_700,
            Self::InvalidRequest => -32_600,
            Self::MethodNotFound => -32_601,
            Self::InvalidParams => -32_602,
            Self::Internal => -32_603,
            Self::ResourceNotFound => -32_002,
            Self::HeaderMismatch => -32_020,
            Self::MissingCapability => -32_021,
            Self::UnsupportedVersion => -32_022,
        }
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_i32(self.number())
    }
}

/// The `error` member of a response.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct RpcError {
    /// What kind of mistake it was.
    pub(crate) code: ErrorCode,
    /// What happened, why, and what to do instead.
    pub(crate) message: Cow<'static, str>,
    /// What a program can use, where the specification defines it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) data: Option<Value>,
}

impl RpcError {
    /// An error without `data`.
    pub(crate) fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The same error with `data`.
    #[must_use]
    pub(crate) fn with_data(mut self, data: Value) -> Self {
        self.data = Some(data);
        self
    }

    /// Wrong parameters: `message` names the field.
    pub(crate) fn invalid_params(message: impl Into<Cow<'static, str>>) -> Self {
        Self::new(ErrorCode::InvalidParams, message)
    }

    /// Creates the error for a failure of the server. Its text reveals nothing. The cause belongs in the log.
    pub(crate) fn internal() -> Self {
        Self::new(ErrorCode::Internal, INTERNAL)
    }
}

/// The sentence for a failure of the server.
pub(crate) const INTERNAL: &str = "The server failed to answer this request. Its log says why.";

/// `text` shortened to 64 characters, for a message that repeats what a caller sent.
pub(crate) fn shortened(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(64) {
        Some((end, _)) => Cow::Owned(format!("{}…", text.get(..end).unwrap_or_default())),
        None => Cow::Borrowed(text),
    }
}
