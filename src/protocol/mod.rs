//! The messages of the protocol, without their processing.
//!
//! | module | content |
//! |---|---|
//! | [`message`] | JSON-RPC 2.0: requests, notifications, responses, ids |
//! | [`revision`] | the five revisions and their features |
//! | [`meta`] | the keys of `_meta`, and the envelope of a 2026-07-28 request |
//! | [`log_level`] | the levels of log messages |
//! | [`error`] | error codes and errors |
//! | [`method`] | the methods, and the revisions that have them |
//! | [`capabilities`] | capabilities of servers and clients |
//! | [`description`] | descriptions of tools, resources, prompts and the server |
//! | [`content`] | content of results and messages |

pub mod capabilities;
pub mod content;
pub mod description;
pub mod error;
pub mod log_level;
pub mod message;
pub mod meta;
pub mod method;
pub mod revision;
