//! The tool that searches.

mod answer;
mod schema;
pub(super) mod search_tool;
