//! Tools that search.
//!
//! `vector_query` is the tool that finds passages, and `graph` is the tool that finds connected passages. `search_tool` has the settings
//! and the handler of both, `schema` has the schema of their arguments, and `answer` writes their results.

mod answer;
pub(super) mod graph;
mod schema;
mod search_tool;
pub(super) mod vector_query;
