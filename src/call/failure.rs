//! Failures of the server itself: the log gets the cause, and the caller gets a fixed text.

use std::fmt::Display;
use std::rc::Rc;

use super::result::ToolResult;
use crate::host::{Host, log};
use crate::protocol::error::RpcError;

/// Logs why `subject` failed, and returns the error for the caller, which does not contain the cause.
#[cold]
#[inline(never)]
pub(crate) fn internal(host: &Rc<dyn Host>, subject: &str, cause: &impl Display) -> RpcError {
    log::failure(host, subject, &cause.to_string());
    RpcError::internal()
}

/// Logs why a call of the tool `name` failed by a fault of the server, and returns its result. `message` is a sentence for the caller.
#[cold]
#[inline(never)]
pub(crate) fn of_tool(host: &Rc<dyn Host>, name: &str, cause: &str, message: &str) -> ToolResult {
    log::failure(host, name, cause);
    ToolResult::failure(format!("{message} This is a fault of the server. Its log has the details."))
}
