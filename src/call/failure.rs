//! Log lines about failures of the server itself. The caller gets a fixed text.

use std::fmt::Display;
use std::rc::Rc;

use edge_json::write;
use serde::Serialize;

use super::result::ToolResult;
use crate::host::{Host, Level, warning};
use crate::protocol::error::RpcError;
use crate::text::shortened;

#[derive(Serialize)]
struct FailureLine<'a> {
    event: &'static str,
    subject: &'a str,
    cause: &'a str,
}

/// Logs why `subject` (a tool, a URI scheme, a method, the server) failed.
pub(crate) fn log(host: &Rc<dyn Host>, subject: &str, cause: &str) {
    let failure = FailureLine { event: "failure", subject: &shortened(subject), cause };
    // The serialization of three strings never fails, so the default is never used.
    let line = write::to_string(&failure).unwrap_or_default();
    host.log(Level::Error, &line);
}

/// Logs a warning for the developer about the rounds of a call.
pub(crate) fn warn_of_rounds(host: &Rc<dyn Host>, problem: &str) {
    warning::log(host, Level::Warning, "rounds", problem);
}

/// Logs why `subject` failed, and returns the error for the caller, which does not contain the cause.
#[cold]
#[inline(never)]
pub(crate) fn internal(host: &Rc<dyn Host>, subject: &str, cause: &impl Display) -> RpcError {
    log(host, subject, &cause.to_string());
    RpcError::internal()
}

/// Logs why a call of the tool `name` failed by a fault of the server, and returns its result. `message` is a sentence for the caller.
#[cold]
#[inline(never)]
pub(crate) fn of_tool(host: &Rc<dyn Host>, name: &str, cause: &str, message: &str) -> ToolResult {
    log(host, name, cause);
    ToolResult::failure(format!("{message} This is a fault of the server. Its log has the details."))
}
