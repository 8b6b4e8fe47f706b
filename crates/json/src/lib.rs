//! JSON text, parsed once and strictly.
//!
//! One pass over the bytes rejects what most JSON parsers accept: duplicate keys, lone surrogates, deep nesting and too many
//! values. The same pass records where each value begins and ends. All later work uses these positions: a program looks at members, checks
//! a value against a schema, and then deserializes it into a type. Numbers stay text, so they are not rounded.
//! `serde_json::Value` keeps the last of two equal keys and rounds large numbers.
//!
//! ```
//! use edge_json::{Document, JsonError, JsonLimits, deserialize};
//!
//! let document = Document::parse(br#"{"name":"Zurich","size":[88.0,"km2"]}"#, JsonLimits::default())?;
//! let root = document.root();
//! assert_eq!(root.get("name").and_then(|name| name.as_str()).as_deref(), Some("Zurich"));
//! assert_eq!(root.get("size").map(|size| size.text()), Some(r#"[88.0,"km2"]"#));
//! let (size, _): (u32, String) = deserialize::read(root.get("size").expect("a member")).expect("a size");
//! assert_eq!(size, 88);
//!
//! let twice = Document::parse(br#"{"a":1,"a":2}"#, JsonLimits::default());
//! assert!(matches!(twice, Err(JsonError::DuplicateKey { .. })));
//! # Ok::<_, JsonError>(())
//! ```

#![expect(clippy::inline_always, reason = "with opt-level \"z\" the compiler would not inline these small functions")]

pub mod canonical;
pub mod decimal;
pub mod deserialize;
mod document;
mod error;
mod escape;
mod kind;
pub mod number;
mod object;
mod quoted;
mod reader;
mod serializer;
pub mod short_decimal;
mod shown;
mod special;
pub mod type_error;
pub mod write;

pub use document::{Document, Pairs, Value};
pub use error::{JsonError, JsonLimits};
pub use kind::Kind;
pub use object::object;
pub use shown::{is_deceptive, shortened};
pub use special::has_control;
