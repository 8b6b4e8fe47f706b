//! The reasons why a message reaches no method.

use std::rc::Rc;

use super::head::HeaderError;
use crate::host::{Host, Level, log};
use crate::protocol::error::{ErrorCode, RpcError};
use crate::text::Text;

/// The reason why a message reaches no method.
pub(crate) enum Refusal {
    /// A header is too long, or does not repeat what the body says.
    Header(HeaderError),
    /// The caller does not have all of these scopes.
    Scopes(Vec<Text>),
    /// The `_meta` of the request asks for notifications in a wrong way.
    Meta(RpcError),
    /// The server cannot be built. The cause is in the log.
    Unavailable(RpcError),
}

impl From<HeaderError> for Refusal {
    fn from(error: HeaderError) -> Self {
        Self::Header(error)
    }
}

/// Returns the sentence for a caller without the `scopes` of its request.
pub(crate) fn missing_scopes(scopes: &str) -> String {
    format!("The access token does not have the scopes for this request. It needs: {scopes}.")
}

/// Logs a problem with the configuration, and returns the error for the caller, who gets the problem only if it `is_public`.
pub(crate) fn misconfigured(host: &Rc<dyn Host>, problem: &str, is_public: bool) -> RpcError {
    log::line(host, Level::Error, "misconfigured", problem);
    let problem = if is_public { problem } else { "see its log" };
    let message = format!("This server is misconfigured and rejects every request: {problem}.");
    RpcError::new(ErrorCode::Internal, message)
}
