//! The wire: what a message of the protocol is, and nothing of what is done with it.
//!
//! | module | what it holds |
//! |---|---|
//! | [`message`] | JSON-RPC 2.0: requests, notifications, responses, ids |
//! | [`revision`] | the five revisions, and what each of them knows |
//! | [`meta`] | the keys of `_meta`, and the envelope of a 2026-07-28 request |
//! | [`log_level`] | the levels of log messages |
//! | [`error`] | error codes and errors |
//! | [`method`] | the methods, and the revisions that have them |
//! | [`capabilities`] | what a server says it can do |
//! | [`description`] | how tools, resources and the server itself are described in lists |
//! | [`content`] | what results are made of |

pub mod capabilities;
pub mod content;
pub mod description;
pub mod error;
pub mod log_level;
pub mod message;
pub mod meta;
pub mod method;
pub mod revision;
