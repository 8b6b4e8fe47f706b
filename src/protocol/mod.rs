//! The messages of the protocol as types. The server's behavior is in other modules.
//!
//! A `message` is a request, a notification or a response of JSON-RPC. The tables in `revision` and `method` say which features and methods
//! each revision has, so the other rooms do not compare revisions. The other files have what messages contain: `capabilities` and the keys
//! of `meta`, the `description` of items in lists, the `content` of results, error codes (`error`), and the levels of log messages.
//! `header_value` encodes values of headers that are not ASCII. `reply` reads the messages of another server, `received` keeps the text of
//! content that another server sent, `foreign` reads its parts, and `accepted` has the values that strict clients accept. `trace_context` is the place of a
//! request in a trace, and `ui` has the names of MCP Apps.

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
