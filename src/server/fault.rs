//! Failures that are the server's own: the cause goes to the log, the caller gets a fixed text.

use std::fmt::Display;
use std::rc::Rc;

use serde::Serialize;

use super::context::Context;
use crate::host::{Host, Level};
use crate::json::write;
use crate::protocol::error::{RpcError, shortened};

/// A log line about one failure.
#[derive(Serialize)]
struct Fault<'a> {
    event: &'static str,
    subject: &'a str,
    cause: &'a str,
}

/// Writes down why `subject` (a tool, a scheme, a method, the server itself) failed.
pub(crate) fn log(host: &Rc<dyn Host>, subject: &str, cause: &str) {
    let fault = Fault { event: "failure", subject: &shortened(subject), cause };
    // A line of three strings cannot fail to be JSON.
    let line = write::to_string(&fault).unwrap_or_default();
    host.log(Level::Error, &line);
}

/// Writes down what the developer should know of a call that asks its client.
pub(crate) fn warn(host: &Rc<dyn Host>, problem: &str) {
    let line = serde_json::json!({ "event": "rounds", "problem": problem }).to_string();
    host.log(Level::Warning, &line);
}

/// Writes down why `subject` failed, and gives the error that says nothing of it.
pub(crate) fn internal(cx: &Context, subject: &str, cause: &impl Display) -> RpcError {
    log(cx.host(), subject, &cause.to_string());
    RpcError::internal()
}
