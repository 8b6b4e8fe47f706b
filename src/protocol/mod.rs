//! The messages of the protocol as types. The server's behavior is in other modules.
//!
//! | module | content |
//! |---|---|
//! | `message` | JSON-RPC 2.0: requests, notifications, responses, ids |
//! | `revision` | the five revisions, and the features of each |
//! | `meta` | the keys of `_meta`, and the `_meta` of a 2026-07-28 request |
//! | `log_level` | the levels of log messages |
//! | `error` | error codes, and the error object of a response |
//! | `method` | the methods, and the revisions that have them |
//! | `capabilities` | the capabilities of servers and clients |
//! | `description` | the description of the server, its tools and its resources in lists |
//! | `content`, `resource_contents` | the content of results and messages, and of resources |
//! | `foreign`, `received` | content that another server sent: its parts, and its JSON text |
//! | `header_value` | the encoding of header values that are not ASCII |
//! | `reply` | the messages from a server to its client |

pub(crate) mod capabilities;
pub(crate) mod content;
pub(crate) mod description;
pub(crate) mod error;
#[cfg(feature = "client")]
pub(crate) mod foreign;
pub(crate) mod header_value;
pub(crate) mod log_level;
pub(crate) mod message;
pub(crate) mod meta;
pub(crate) mod method;
#[cfg(feature = "client")]
mod received;
#[cfg(feature = "client")]
pub(crate) mod reply;
pub(crate) mod resource_contents;
pub(crate) mod revision;
