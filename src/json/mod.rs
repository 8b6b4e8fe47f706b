//! JSON text, parsed once and strictly.
//!
//! One pass over the bytes rejects what most JSON parsers accept: duplicate keys, lone surrogates, deep nesting and too many
//! values. The same pass records where each value begins and ends. All later work uses these positions: the library classifies a message,
//! checks its arguments against a schema, and then deserializes them into a type. Numbers stay text, so they are not rounded.
//!
//! `serde_json::Value` keeps the last of two equal keys and rounds large numbers.

#![expect(clippy::inline_always, reason = "with opt-level \"z\" the compiler would not inline these small functions")]

pub(crate) mod canonical;
pub(crate) mod decimal;
pub(crate) mod deserialize;
mod document;
mod error;
mod escape;
mod kind;
pub(crate) mod number;
mod object;
mod quoted;
mod reader;
mod serializer;
pub(crate) mod short_decimal;
mod special;
pub(crate) mod type_error;
pub(crate) mod write;

pub use document::{Document, Value};
pub use error::{JsonError, JsonLimits};
pub use kind::Kind;
pub(crate) use object::object;
pub(crate) use special::has_control;
