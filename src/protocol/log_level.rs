//! The levels of log messages.
//!
//! Source: every revision, server/utilities/logging, after RFC 5424.

use serde::Serialize;

/// The severity of a log message. The variants are in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

/// The levels, with their names on the wire.
const NAMES: [(LogLevel, &str); 8] = [
    (LogLevel::Debug, "debug"),
    (LogLevel::Info, "info"),
    (LogLevel::Notice, "notice"),
    (LogLevel::Warning, "warning"),
    (LogLevel::Error, "error"),
    (LogLevel::Critical, "critical"),
    (LogLevel::Alert, "alert"),
    (LogLevel::Emergency, "emergency"),
];

impl LogLevel {
    #[cfg(feature = "client")]
    pub(crate) fn name(self) -> &'static str {
        NAMES.iter().find(|(level, _)| *level == self).map_or("", |(_, name)| name)
    }

    /// Returns the level with this name, or `None` if the name is unknown.
    pub fn named(name: &str) -> Option<Self> {
        NAMES.iter().find(|(_, known)| *known == name).map(|(level, _)| *level)
    }

    /// Returns all names, for an error message.
    pub(crate) fn names() -> String {
        NAMES.map(|(_, name)| name).join(", ")
    }
}
