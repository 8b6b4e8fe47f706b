//! The one line per request: what was asked for and how it ended, and nothing of what was sent or who sent it.

use serde::Serialize;

use super::turned_away::TurnedAway;
use crate::host::{Host, Level};
use crate::protocol::error::{ErrorCode, shortened};
use crate::protocol::json::{Value, write};
use crate::protocol::message::Request;
use crate::protocol::revision::Era;

/// What is written of one request.
#[derive(Debug, Default, Serialize)]
pub(super) struct LogLine {
    event: &'static str,
    /// The method of the protocol; `batch` for several.
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<String>,
    /// A tool's or a prompt's name, or the scheme of a URI.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    era: Option<&'static str>,
    status: u16,
    /// The code of the error, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<ErrorCode>,
    /// Why an access token was refused.
    #[serde(skip_serializing_if = "Option::is_none")]
    refused: Option<String>,
    ms: u64,
    /// The JSON-RPC id.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// The trace that the request is part of (W3C Trace Context), as the client names it in `_meta`.
    #[serde(skip_serializing_if = "Option::is_none")]
    trace: Option<String>,
    /// The id of the request in the logs of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
}

impl LogLine {
    pub(super) fn new(request_id: Option<String>) -> Self {
        Self { event: "request", request_id, ..Self::default() }
    }

    pub(super) fn request(&mut self, request: &Request<'_>, traceparent: Option<&str>) {
        let param = |name: &str| request.param(name).and_then(Value::as_str);
        self.method = Some(shortened(&request.method).into_owned());
        self.id = Some(shortened(request.id.as_json()).into_owned());
        self.trace = traceparent.and_then(|parent| Some(parent.split('-').nth(1)?.to_owned()));
        self.target = match &*request.method {
            "tools/call" | "prompts/get" => param("name").map(|name| shortened(&name).into_owned()),
            "resources/read" => {
                param("uri").and_then(|uri| uri.split_once(':').map(|(scheme, _)| shortened(scheme).into_owned()))
            }
            _ => None,
        };
    }

    pub(super) fn batch(&mut self) {
        self.method = Some("batch".to_owned());
    }

    pub(super) fn era(&mut self, era: Era) {
        self.era = Some(era.name());
    }

    /// The last error is the one that is written.
    pub(super) fn error(&mut self, code: Option<ErrorCode>) {
        self.error = code.or(self.error);
    }

    pub(super) fn refused(&mut self, turned_away: &TurnedAway) {
        self.refused = turned_away.for_log();
    }

    /// Writes the line.
    pub(super) fn write(mut self, status: u16, started: u64, host: &Host) {
        self.status = status;
        self.ms = host.clock.now_ms().saturating_sub(started);
        let level = if status < 500 { Level::Info } else { Level::Error };
        // Strings and numbers: a line that cannot fail to be JSON.
        host.log.write(level, &write::to_string(&self).unwrap_or_default());
    }
}
