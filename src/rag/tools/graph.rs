//! The tool that finds connected passages.

use super::search_tool::{SearchTool, search_tool_methods};
use crate::rag::graph::GraphOptions;
use crate::rag::retriever::Retriever;
use crate::rag::store_source::StoreSource;
use crate::text::Text;

const DESCRIPTION: &str =
    "Finds passages about relations between documents. For one fact, use the search tool instead.";

/// A tool that finds passages by random walks over the connections between passages.
///
/// The walks start at the passages that a [`VectorQueryTool`](crate::rag::VectorQueryTool) would find, and follow sections and links. Equal
/// calls have equal results, because the tool calculates the expectation of the walks. Its results have `"retrieval": "graph"`.
///
/// ```
/// use std::rc::Rc;
///
/// use edge_mcp::rag::{GraphOptions, GraphRagTool, MemoryStore};
///
/// let store = Rc::new(MemoryStore::new());
/// let related = GraphRagTool::new("docs", store)
///     .name("related-passages")
///     .graph(GraphOptions { threshold: 0.8, ..GraphOptions::default() })
///     .tool();
/// ```
#[must_use]
pub struct GraphRagTool(SearchTool);

impl GraphRagTool {
    /// Creates the tool `graph-rag-<index>`, which searches the index with this name. `store` is an `Rc` of a store, or an async function
    /// that chooses one.
    pub fn new(index: impl Into<Text>, store: impl StoreSource + 'static) -> Self {
        let retriever = Retriever::new(index, store).graph(GraphOptions::default());
        Self(SearchTool::new("graph-rag", DESCRIPTION, retriever))
    }

    /// Sets the parameters of the walks. The server cannot be built if one of them is out of range.
    pub fn graph(mut self, options: GraphOptions) -> Self {
        self.0.retriever = self.0.retriever.graph(options);
        self
    }

    search_tool_methods!();
}
