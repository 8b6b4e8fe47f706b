//! The tool that finds passages.

use super::search_tool::{SearchTool, search_tool_methods};
use crate::rag::retriever::Retriever;
use crate::rag::store_source::StoreSource;
use crate::text::Text;

const DESCRIPTION: &str = "Finds passages that answer a question, with their sources.";

/// A tool that finds the passages that answer a question.
///
/// Without an embedding model, it finds passages by the words of the question, and its results have `"retrieval": "lexical"`.
///
/// ```
/// use edge_mcp::rag::{Fields, MemoryStore, VectorQueryTool};
/// use edge_mcp::{BuildError, McpServer, RequestInfo};
///
/// fn server(request: &RequestInfo) -> Result<McpServer, BuildError> {
///     let store = request.state::<MemoryStore>()?;
///     let search = VectorQueryTool::new("docs", store)
///         .name("search-passages")
///         .filter(Fields::new().text("category", "Subject of the document").number("version", "Release, such as 2.1"));
///     McpServer::builder("docs", "1.0.0").tool(search.tool().scopes(["docs:read"])).build()
/// }
/// ```
#[must_use]
pub struct VectorQueryTool(SearchTool);

impl VectorQueryTool {
    /// Creates the tool `vector-query-<index>`, which searches the index with this name. `store` is an `Rc` of a store, or an async
    /// function that chooses one.
    pub fn new(index: impl Into<Text>, store: impl StoreSource + 'static) -> Self {
        Self(SearchTool::new("vector-query", DESCRIPTION, Retriever::new(index, store)))
    }

    search_tool_methods!();
}
