//! The protocol: revisions, messages, capabilities and levels of the log.
//!
//! Differences between revisions are rows of tables, so the other modules do not compare revisions.

mod accepted;
pub(crate) mod capabilities;
pub(crate) mod content;
pub(crate) mod description;
pub(crate) mod error;
pub(crate) mod foreign;
pub(crate) mod header_value;
pub(crate) mod log_level;
pub(crate) mod message;
pub(crate) mod meta;
pub(crate) mod method;
mod received;
pub(crate) mod reply;
pub(crate) mod resource_contents;
pub(crate) mod revision;
pub(crate) mod task;
pub(crate) mod trace_context;
pub(crate) mod ui;

pub use capabilities::ClientCapabilities;
pub use description::Implementation;
pub use log_level::LogLevel;
pub use message::RequestId;
pub use revision::Revision;
