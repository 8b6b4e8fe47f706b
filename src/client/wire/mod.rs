//! The wire format: from bytes to messages, and back. Nothing here sends a request or knows a connection. `absent` removes null members.
//!
//! `message` and `headers` write a request. `exchange` reads its response, from JSON or from an event stream (`sse`), into a `response`. It
//! passes the other messages of the stream to a `Receiver`. `statuses` has the failures of statuses. `task` reads the tasks in results.

pub(super) mod challenge;
pub(super) mod exchange;
pub(super) mod headers;
pub(super) mod message;
pub(super) mod response;
pub(crate) mod sse;
mod statuses;
pub(super) mod task;
pub(super) mod visible_schema;
