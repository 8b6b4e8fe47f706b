//! JSON Schema 2020-12: generated from Rust types, published, and enforced as published.
//!
//! [`from_type`] returns the schema of a Rust type. A [`Validator`] is a compiled schema. It rejects a schema that it cannot enforce, and
//! checks values of [`edge_json`] within a budget of steps, so that neither a schema nor a value can take much time or memory.
//!
//! ```
//! use edge_json::{Document, JsonLimits};
//! use edge_json_schema::{Validator, from_type};
//!
//! #[derive(schemars::JsonSchema)]
//! struct Order {
//!     /// From 1 to 9.
//!     #[schemars(range(min = 1, max = 9))]
//!     count: u8,
//! }
//!
//! let validator = Validator::new(from_type::<Order>())?;
//! let document = Document::parse(br#"{"count":12}"#, JsonLimits::default()).expect("JSON");
//! assert_eq!(validator.validate(document.root()), ["`count` must be at most 9 (got 12)"]);
//! # Ok::<_, edge_json_schema::SchemaError>(())
//! ```
//!
//! The compiler (`compile`, `references`, `cycles`, `pattern`) makes a `program`. The check (`check` and its parts) runs it over the
//! positions of a document, and `explain` finds the texts of mistakes. Both take steps of a `budget` before they allocate.
//!
//! # Cost
//!
//! Measured on 2026-11-20 on two shared cores, natively, in comparison with the `jsonschema` crate 0.60.2
//! (`cargo run --release -p edge-json-schema --example bench`). Times are in microseconds, medians of one run:
//!
//! | schemas | compile | `jsonschema` | check of a valid value | `jsonschema` |
//! |---|--:|--:|--:|--:|
//! | the 29 schemas of the example with every feature | 92 | 101 | 1.6 | 0.5 |
//! | calendar tool | 187 | 342 | 7.6 | 1.0 |
//! | filter query (recursive) | 161 | 151 | 21.6 | 1.5 |
//! | HTTP operation | 152 | 174 | 9.1 | 2.4 |
//! | issue tool | 38 | 67 | 2.9 | 0.2 |
//! | package manifest | 131 | 216 | 13.4 | 2.1 |
//!
//! A check takes longer than with `jsonschema`. Each schema is compiled only once.

mod alternatives;
mod budget;
mod check;
mod check_alternatives;
mod check_object;
mod check_unique;
mod compile;
mod cycles;
mod error;
mod explain;
mod format;
mod generate;
mod keyword_value;
pub mod limits;
mod memo;
mod mistake;
mod pattern;
mod portable;
mod program;
mod references;
mod sorted;
mod types;
mod validator;

pub use budget::CheckSteps;
pub use check::Options;
pub use error::SchemaError;
pub use format::is_date_time;
pub use generate::from_type;
pub use mistake::describe_type_error;
pub use portable::portable;
pub use types::Type;
pub use validator::{NotEnforceable, Validator};
