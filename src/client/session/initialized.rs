//! The result of `initialize`: the session of a legacy server, or its absence.

use http::HeaderValue;

use crate::protocol::log_level::LogLevel;
use crate::protocol::revision::Revision;

/// The session of a legacy server, or its absence.
pub(super) struct Initialized {
    pub revision: Revision,
    /// The id of the session. `None` if the server has no sessions.
    pub id: Option<HeaderValue>,
    /// Whether the server sends log messages.
    pub logs: bool,
    /// The lowest level of log messages that the client has requested.
    pub log_level: Option<LogLevel>,
}

impl Initialized {
    /// Returns whether a request must lower the level of the log messages of the session, and records the level.
    pub(super) fn lowers_log_level(&mut self, level: LogLevel) -> bool {
        let is_lower = self.id.is_some() && self.logs && self.log_level.is_none_or(|known| level < known);
        if is_lower {
            self.log_level = Some(level);
        }
        is_lower
    }
}
