//! Failures that a search or an indexer survives.

use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::host::{Level, warning};

/// Logs the cause of an error as a warning.
pub(super) fn warn(error: &HandlerError, cx: &Context) {
    let cause = error.0.cause.as_deref().unwrap_or(error.message());
    warning::log(cx.host(), Level::Warning, "rag", cause);
}
