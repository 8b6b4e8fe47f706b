//! Filters: conditions on the metadata of passages.
//!
//! A caller sends a filter as the argument `filter`, and the program adds its own filters to it. The same filter is evaluated in two ways,
//! with equal results: directly on a JSON object, and as a condition of SQLite.
//!
//! # Semantics
//!
//! A test looks at the elements of a field: a string, a number or a boolean is one element, and an array has its strings, numbers and
//! booleans as elements. An object, `null` and a missing field have no elements. A test holds if it holds for any element. `$ne`, `$nin`,
//! `$not`, `$nor`, `$exists: false` and `null` are exact negations, so they hold if the field is missing. Types never mix: the number 5
//! is not equal to the string "5".

mod expression;
pub(super) mod field;
mod fields;
mod metadata;
mod operator;
mod parse;
mod sql;

pub use expression::{Filter, FilterError, Scalar};
pub use fields::Fields;
pub use metadata::{MetadataError, check_metadata};
pub use sql::SqlCondition;
