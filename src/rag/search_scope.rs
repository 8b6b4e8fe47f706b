//! The settings of a request for its searches.

use std::fmt;
use std::rc::Rc;

use super::by_meaning::{self, Overrides, SearchByMeaning};
use super::filter::Filter;
use super::graph::WalkOverrides;
use super::rerank::Rerank;
use super::steps::Stage;
use super::store::SearchStore;
use crate::models::embedding::Embedder;
use crate::text::Text;

/// The settings of one request. The server function puts them into the request, and every search of the request uses them.
///
/// They take precedence over the settings of a tool and over the arguments of a call. A filter is the exception: filters only narrow the
/// search, so all of them must match. Headers, `_meta` and arguments never change these settings, unless the server function reads them.
///
/// ```
/// use edge_mcp::rag::{Filter, MemoryStore, Retriever, SearchScope, SearchTool};
/// use edge_mcp::{BuildError, McpServer, RequestInfo};
///
/// fn server(request: &RequestInfo) -> Result<McpServer, BuildError> {
///     if let Some(caller) = request.caller() {
///         request.extend(SearchScope::new().space(&caller.subject).within(Filter::eq("status", "published")).top_k(5));
///     }
///     let store = request.state::<MemoryStore>()?;
///     let search = SearchTool::new(Retriever::new("docs", store).spaces_required());
///     McpServer::builder("docs", "1.0.0").tool(search.tool()).build()
/// }
/// ```
#[derive(Clone, Default)]
#[must_use]
pub struct SearchScope {
    pub(super) store: Option<Rc<dyn SearchStore>>,
    pub(super) index: Option<Text>,
    pub(super) space: Option<String>,
    pub(super) within: Filter,
    pub(super) top_k: Option<usize>,
    pub(super) include_sources: Option<bool>,
    pub(super) walks: WalkOverrides,
    pub(super) meaning: Option<Rc<dyn SearchByMeaning>>,
    pub(super) settings: Overrides,
    pub(super) containing: Option<String>,
    pub(super) rerank: Option<Rc<dyn Stage>>,
    pub(super) is_without_rerank: bool,
}

impl SearchScope {
    /// Creates settings that change nothing.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets the store.
    pub fn store(mut self, store: Rc<dyn SearchStore>) -> Self {
        self.store = Some(store);
        self
    }

    /// Sets the index.
    pub fn index(mut self, name: impl Into<Text>) -> Self {
        self.index = Some(name.into());
        self
    }

    /// Sets the space, such as the name of a tenant. Nothing else sets it. Without it, a search uses the empty space.
    pub fn space(mut self, name: impl Into<String>) -> Self {
        self.space = Some(name.into());
        self
    }

    /// Adds a filter. A passage must match it and all other filters.
    pub fn within(mut self, filter: Filter) -> Self {
        self.within = self.within.narrowed_by(filter);
        self
    }

    /// Sets the number of passages, at most the number that the tool allows.
    pub fn top_k(mut self, passages: usize) -> Self {
        self.top_k = Some(passages);
        self
    }

    /// Sets whether an answer has the list of sources.
    pub fn include_sources(mut self, included: bool) -> Self {
        self.include_sources = Some(included);
        self
    }

    /// Sets the number of steps of a walk: see [`GraphOptions`](super::GraphOptions). A call fails if it is out of range.
    pub fn random_walk_steps(mut self, steps: u32) -> Self {
        self.walks.steps = Some(steps);
        self
    }

    /// Sets the probability that a step returns to the seed: see [`GraphOptions`](super::GraphOptions). A call fails if it is out of range.
    pub fn restart_prob(mut self, probability: f64) -> Self {
        self.walks.restart_prob = Some(probability);
        self
    }

    /// Sets the embedding model. It must be the model whose vectors the index has.
    pub fn embedder(mut self, embedder: impl Embedder + 'static) -> Self {
        self.meaning = Some(by_meaning::with(embedder));
        self
    }

    /// Sets the weight of the meaning: see [`Retriever::meaning_weight`](super::Retriever::meaning_weight). A call fails if it is out of range.
    pub fn meaning_weight(mut self, weight: f64) -> Self {
        self.settings.weight = Some(weight);
        self
    }

    /// Sets the least similarity: see [`Retriever::min_score`](super::Retriever::min_score). A call fails if it is out of range.
    pub fn min_score(mut self, cosine: f64) -> Self {
        self.settings.min_score = Some(cosine);
        self
    }

    /// Sets the number of vectors that are compared exactly: see [`Retriever::candidates`](super::Retriever::candidates). A call fails if it
    /// is out of range.
    pub fn candidates(mut self, vectors: usize) -> Self {
        self.settings.candidates = Some(vectors);
        self
    }

    /// Sets whether passages have their vectors.
    pub fn include_vectors(mut self, included: bool) -> Self {
        self.settings.include_vectors = Some(included);
        self
    }

    /// Finds only passages that contain this text, letter by letter.
    pub fn containing(mut self, text: impl Into<String>) -> Self {
        self.containing = Some(text.into());
        self
    }

    /// Sets the reranker.
    pub fn rerank(mut self, rerank: Rerank) -> Self {
        self.rerank = Some(Rc::new(rerank));
        self
    }

    /// Turns reranking off.
    pub fn no_rerank(mut self) -> Self {
        self.is_without_rerank = true;
        self
    }
}

impl fmt::Debug for SearchScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { index, space, within, top_k, include_sources, walks, settings, .. } = self;
        f.debug_struct("SearchScope")
            .field("index", index)
            .field("space", space)
            .field("within", within)
            .field("top_k", top_k)
            .field("include_sources", include_sources)
            .field("walks", walks)
            .field("settings", settings)
            .finish_non_exhaustive()
    }
}
