//! What a handler tells the client while it works: progress and log messages, on the stream of its own answer.
//!
//! Source: 2026-07-28, basic/patterns/progress and server/utilities/logging; older revisions, the same utilities. What the
//! client has not asked for is dropped.

use std::cell::Cell;

use futures::channel::mpsc::UnboundedSender;
use serde::Serialize;
use serde_json::value::RawValue;

use crate::protocol::description::Text;
use crate::protocol::json::write;
use crate::protocol::log_level::LogLevel;
use crate::protocol::meta::Wishes;

/// Where notifications go, and which of them the client wants.
pub(crate) struct Outbox {
    sender: UnboundedSender<Vec<u8>>,
    wishes: Wishes,
    /// The last progress that was told: the next must be more.
    told: Cell<f64>,
}

#[derive(Serialize)]
struct Notification<P> {
    jsonrpc: &'static str,
    method: &'static str,
    params: P,
}

#[derive(Serialize)]
struct Progress<'a> {
    #[serde(rename = "progressToken")]
    token: &'a RawValue,
    #[serde(rename = "progress")]
    done: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    total: Option<f64>,
    #[serde(skip_serializing_if = "str::is_empty")]
    message: &'a str,
}

#[derive(Serialize)]
struct LogMessage<'a, D> {
    level: LogLevel,
    logger: &'a str,
    data: D,
}

impl Outbox {
    pub(crate) fn new(sender: UnboundedSender<Vec<u8>>, wishes: Wishes) -> Self {
        Self { sender, wishes, told: Cell::new(f64::NEG_INFINITY) }
    }

    /// Tells of progress, if the client gave a token for it and this is more than it was told before.
    pub(super) fn progress(&self, progress: f64, total: Option<f64>, message: &Text) {
        let Some(token) = &self.wishes.progress_token else { return };
        if progress > self.told.get() {
            self.told.set(progress);
            self.send("notifications/progress", &Progress { token, done: progress, total, message });
        }
    }

    /// Sends a log message, if the client wants those of its level.
    pub(super) fn log(&self, level: LogLevel, logger: &str, data: impl Serialize) {
        if self.wishes.log_level.is_some_and(|wanted| level >= wanted) {
            self.send("notifications/message", &LogMessage { level, logger, data });
        }
    }

    fn send(&self, method: &'static str, params: &impl Serialize) {
        // What cannot be written as JSON, and a client that has gone away, are no reason to stop the handler.
        if let Ok(line) = write::to_vec(&Notification { jsonrpc: "2.0", method, params }) {
            let _gone = self.sender.unbounded_send(line);
        }
    }
}
