//! The tool that searches.
//!
//! `search_tool` has its settings and its handler, `schema` has the schema of its arguments, and `answer` writes its results.

mod answer;
mod schema;
pub(super) mod search_tool;
