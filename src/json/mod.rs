//! A JSON text, read once and strictly.
//!
//! One pass over the bytes checks what JSON readers usually let through (duplicate keys, lone surrogates, any depth, any
//! number of values) and notes where each value begins and ends. Everything after works on those notes: a message is
//! classified, its arguments are checked against a schema, and only then is the one part that matters read into a type.
//! Numbers stay the text they were sent as, so that none is rounded on the way.
//!
//! `serde_json::Value` does none of this: it keeps the last of two equal keys and rounds, and a stack of derived types
//! reads the text once per layer.

#![expect(clippy::inline_always, reason = "a module that is optimized for size calls these for each value otherwise")]

pub(crate) mod canonical;
pub(crate) mod decimal;
pub(crate) mod deserialize;
pub(crate) mod long;

mod document;
mod reader;
pub(crate) mod short_decimal;
mod special;
pub(crate) mod type_error;
pub(crate) mod write;

pub(crate) use document::is_whole;
use document::{Children, Node, content};
pub use document::{Document, JsonError, JsonLimits, Kind, Value};
pub(crate) use special::has_control;
