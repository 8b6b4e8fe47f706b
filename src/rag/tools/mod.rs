//! Tools that search.
//!
//! | module | content |
//! |---|---|
//! | `vector_query` | the tool that finds passages |
//! | `graph` | the tool that finds connected passages |
//! | `search_tool` | the settings and the handler of both |
//! | `schema` | the schema of the arguments |
//! | `answer` | the results |

mod answer;
pub(super) mod graph;
mod schema;
mod search_tool;
pub(super) mod vector_query;
