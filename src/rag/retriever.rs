//! From a question to passages.
//!
//! A [`Retriever`] asks the store for candidates. Then they go through the stages that it is configured for.

use std::collections::BTreeMap;
use std::fmt;
use std::rc::Rc;

use futures::FutureExt;

use super::by_meaning::{self, MeaningSettings, SearchByMeaning};
use super::filter::Filter;
use super::graph::GraphOptions;
use super::passage::Space;
use super::rerank::Rerank;
use super::search::Search;
use super::search_result::{FoundPassage, SearchResult};
use super::stages::context::SectionNeighbours;
use super::stages::diverse::Diverse;
use super::stages::{INVALID, SearchStage, StageInput, invalid_scope};
use super::store::{SearchStore, StoreSource};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::limits::{RAG_CANDIDATES, RAG_PASSAGES};
use crate::models::embedding::Embedder;
use crate::protocol::description::is_blank;
use crate::text::Text;

/// Finds the passages that answer a question. A [`SearchTool`](super::SearchTool) uses it, and so can your own handlers.
///
/// A retriever without an embedding model finds passages by their words. Forms of an English word are equal, and a misspelled word is
/// corrected if the documents contain a similar one.
///
/// ```
/// use edge_mcp::rag::{MemoryStore, Retriever};
/// use edge_mcp::{Context, HandlerError};
///
/// async fn documents_about(subject: String, cx: Context) -> Result<Vec<String>, HandlerError> {
///     let store = cx.state::<MemoryStore>()?;
///     let found = Retriever::new("docs", store).per_document(1).retrieve(subject, &cx).await?;
///     Ok(found.passages.into_iter().map(|found| found.passage.document).collect())
/// }
/// ```
#[derive(Clone)]
#[must_use]
pub struct Retriever {
    pub(super) index: Text,
    source: Rc<dyn StoreSource>,
    within: Filter,
    containing: Option<String>,
    pub(super) most: usize,
    per_document: Option<usize>,
    spaces_required: bool,
    meaning: Option<Rc<dyn SearchByMeaning>>,
    settings: MeaningSettings,
    rerank: Option<Rc<dyn SearchStage>>,
    diverse: Option<Rc<dyn SearchStage>>,
    pub(super) graph: Option<Rc<dyn SearchStage>>,
    context: Option<Rc<dyn SearchStage>>,
}

impl Retriever {
    /// Creates a retriever for the index with this name. `store` is an `Rc` of a store, or an async function that chooses one.
    pub fn new(index: impl Into<Text>, store: impl StoreSource + 'static) -> Self {
        Self {
            index: index.into(),
            source: Rc::new(store),
            within: Filter::default(),
            containing: None,
            most: RAG_PASSAGES,
            per_document: None,
            spaces_required: false,
            meaning: None,
            settings: MeaningSettings::default(),
            rerank: None,
            diverse: None,
            graph: None,
            context: None,
        }
    }

    /// Sets the index.
    pub fn index(mut self, name: impl Into<Text>) -> Self {
        self.index = name.into();
        self
    }

    /// Adds a filter. A passage must match it and all other filters. A model does not see it.
    pub fn within(mut self, filter: Filter) -> Self {
        self.within = self.within.narrowed_by(filter);
        self
    }

    /// Finds only passages that contain this text, letter by letter.
    pub fn containing(mut self, text: impl Into<String>) -> Self {
        self.containing = Some(text.into());
        self
    }

    /// Sets the most passages of a result, from 1 to 50. It is the maximum of the argument `topK` of a tool. The default is 50.
    pub fn most(mut self, passages: usize) -> Self {
        self.most = passages;
        self
    }

    /// Sets the most passages of one document. By default, there is no such limit.
    pub fn per_document(mut self, passages: usize) -> Self {
        self.per_document = Some(passages);
        self
    }

    /// Adds the neighbours of each passage in its section to its text: `passages` before it and after it, from 0 to 3. If the neighbours of
    /// two passages overlap, the better passage contains both.
    pub fn context(mut self, passages: usize) -> Self {
        self.context = Some(Rc::new(SectionNeighbours(passages)));
        self
    }

    /// Requires that the server function sets a space with [`SearchScope::space`]. Without one, a search fails before it reads anything.
    pub fn spaces_required(mut self) -> Self {
        self.spaces_required = true;
        self
    }

    /// Finds passages also by their meaning, with the vectors of an embedding model. The store must have vectors of this model, such as
    /// [`SqliteVectors`](super::SqliteVectors).
    ///
    /// If the model or the vectors fail, the passages are found by their words alone, and the result says so.
    pub fn embedder(mut self, embedder: impl Embedder + 'static) -> Self {
        self.meaning = Some(by_meaning::with(embedder));
        self
    }

    /// Sets the weight of the meaning, from 0 to 1. The words have the rest. The default is 0.6. With 1, passages are found by their meaning
    /// alone, and a failure of the model is an error. With 0, they are found by their words alone, and the model is not asked.
    pub fn meaning_weight(mut self, weight: f64) -> Self {
        self.settings.weight = weight;
        self
    }

    /// Sets the least similarity (cosine) of passages that are found by their meaning, from -1 to 1. There is no default, because a good
    /// number depends on the model.
    pub fn min_score(mut self, cosine: f64) -> Self {
        self.settings.min_score = Some(cosine);
        self
    }

    /// Sets the number of vectors that are compared exactly, from 50 to 2000. By default, these are 1 % of the passages, and at least 200.
    pub fn candidates(mut self, vectors: usize) -> Self {
        self.settings.candidates = Some(vectors);
        self
    }

    /// Sets whether the passages of a result have their vectors. The default is `false`, because texts can partly be reconstructed from
    /// vectors.
    pub fn include_vectors(mut self, included: bool) -> Self {
        self.settings.include_vectors = included;
        self
    }

    /// Orders the best passages again, by the scores of a reranker. If it fails, the order stays, and the result says so.
    pub fn rerank(mut self, rerank: Rerank) -> Self {
        self.rerank = Some(Rc::new(rerank));
        self
    }

    /// Turns reranking off.
    pub fn no_rerank(mut self) -> Self {
        self.rerank = None;
        self
    }

    /// Prefers passages that differ from better ones (maximal marginal relevance). `lambda` is from 0 to 1: with 1, the order stays, and with
    /// a smaller number, the passages differ more. It needs an embedding model.
    pub fn diverse(mut self, lambda: f64) -> Self {
        self.diverse = Some(Rc::new(Diverse(lambda)));
        self
    }

    /// Adds to the score of each passage how strongly it is connected with the best passages: links and similar vectors connect passages of
    /// different documents. The best passage stays the first. The result can contain connected passages that the search did not find. Equal
    /// searches have equal results, because the random walks over the connections are calculated and not sampled.
    pub fn graph(mut self, options: GraphOptions) -> Self {
        self.graph = Some(Rc::new(options));
        self
    }

    /// Returns a sentence about the first setting that is not valid, or `None` if all are.
    pub(super) fn problem(&self) -> Option<String> {
        if is_blank(&self.index) {
            return Some("the name of the index is blank".into());
        }
        if !(1..=RAG_PASSAGES).contains(&self.most) {
            return Some(format!("`most` must be from 1 to {RAG_PASSAGES} (got {})", self.most));
        }
        if self.per_document == Some(0) {
            return Some("`per_document` must be at least 1 (got 0)".into());
        }
        let of_filter = || self.within.check().err().map(|error| error.to_string());
        let mut stages = [&self.rerank, &self.graph, &self.diverse, &self.context].into_iter().flatten();
        stages.find_map(|stage| stage.problem()).or_else(|| self.settings.problem()).or_else(of_filter)
    }

    /// Finds the passages that answer a question. The [`SearchScope`] of the request applies.
    ///
    /// # Errors
    /// The sentence for the caller. A failure of the store is an error, and never a result without passages.
    pub async fn retrieve(&self, search: impl Into<Search>, cx: &Context) -> Result<SearchResult, HandlerError> {
        // Each caller would contain the code of a future that is not boxed.
        self.find(search.into(), cx).boxed_local().await
    }

    async fn find(&self, asked: Search, cx: &Context) -> Result<SearchResult, HandlerError> {
        let scope = cx.extension::<SearchScope>().unwrap_or_default();
        let changed = scope.retriever.as_ref().map(|change| change(self.clone()));
        if let Some(problem) = self.problem() {
            return Err(HandlerError::new(INVALID).because(problem));
        }
        if let Some(problem) = changed.as_ref().and_then(Self::problem) {
            return Err(invalid_scope(&problem));
        }
        changed.as_ref().unwrap_or(self).find_in(&scope, asked, cx).await
    }

    async fn find_in(&self, scope: &SearchScope, asked: Search, cx: &Context) -> Result<SearchResult, HandlerError> {
        let top_k = scope.top_k.unwrap_or(asked.most).clamp(1, self.most.max(1));
        let mut search = self.narrowed(asked, scope, top_k)?;
        let store = match &scope.store {
            Some(store) => store.clone(),
            None => self.source.store(cx).await?,
        };
        // Without a weight, the vectors have no effect, so the model is not asked.
        let by_meaning = self.meaning.as_ref().filter(|_| self.settings.weight > 0.0);
        if let Some(by_meaning) = by_meaning {
            let include_vectors = self.settings.include_vectors || self.diverse.is_some();
            let needed = MeaningSettings { include_vectors, ..self.settings };
            search.meaning = Some(by_meaning.begin(&search.text, &needed, cx));
        }
        let mut found = store.search(search.clone()).await?;
        if let (Some(by_meaning), Some(meaning)) = (by_meaning, &search.meaning) {
            found = by_meaning.tell(found, meaning, cx).await?;
        }
        let searched = StageInput {
            store: &*store,
            search: &search,
            top_k,
            is_per_document: self.per_document.is_some(),
            includes_vectors: self.settings.include_vectors,
            graph: scope.graph.as_deref(),
            cx,
        };
        for stage in [&self.rerank, &self.graph, &self.diverse].into_iter().flatten() {
            found = stage.apply(found, &searched).await?;
        }
        self.keep_some_of_each_document(&mut found.passages);
        found.passages.truncate(top_k);
        if let Some(context) = &self.context {
            found = context.apply(found, &searched).await?;
        }
        Ok(found)
    }

    /// Returns the search for candidates, in the part of the store that the call can see.
    fn narrowed(&self, asked: Search, scope: &SearchScope, top_k: usize) -> Result<Search, HandlerError> {
        let name = match &scope.space {
            Some(name) => name.clone(),
            None if self.spaces_required => {
                let message =
                    "This server did not set a search space for this caller. Its operator has to configure one.";
                return Err(HandlerError::new(message)
                    .because("a search needs a space: put `SearchScope::new().space(…)` into the request"));
            }
            None => String::new(),
        };
        let of_server = self.within.clone().narrowed_by(scope.within.clone());
        if let Err(error) = of_server.check() {
            return Err(HandlerError::new(INVALID).because(error));
        }
        let filter = of_server.narrowed_by(asked.filter);
        if filter.check().is_err() {
            let message =
                "Argument `filter` has too many tests together with the filters of this server. Use fewer tests.";
            return Err(HandlerError::invalid(message));
        }
        // The best candidates may belong to few documents.
        let candidates = if self.per_document.is_some() { RAG_CANDIDATES.saturating_mul(2) } else { RAG_CANDIDATES };
        Ok(Search {
            space: Space { index: self.index.clone(), name },
            filter,
            containing: self.containing.clone().or(asked.containing),
            most: candidates.max(top_k),
            ..asked
        })
    }

    fn keep_some_of_each_document(&self, passages: &mut Vec<FoundPassage>) {
        let Some(most) = self.per_document else { return };
        let mut kept: BTreeMap<String, usize> = BTreeMap::new();
        passages.retain(|found| {
            let of_document = kept.entry(found.passage.document.clone()).or_default();
            *of_document = of_document.saturating_add(1);
            *of_document <= most
        });
    }
}

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
    store: Option<Rc<dyn SearchStore>>,
    space: Option<String>,
    within: Filter,
    top_k: Option<usize>,
    pub(super) include_sources: Option<bool>,
    retriever: Option<Rc<dyn Fn(Retriever) -> Retriever>>,
    graph: Option<Rc<dyn Fn(GraphOptions) -> GraphOptions>>,
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

    /// Changes the retriever of each search, such as its index, its embedding model or its reranker. A call fails if a setting is out of range.
    ///
    /// ```
    /// use edge_mcp::rag::SearchScope;
    ///
    /// let scope = SearchScope::new().retriever(|retriever| retriever.index("drafts").min_score(0.4).no_rerank());
    /// ```
    pub fn retriever(mut self, change: impl Fn(Retriever) -> Retriever + 'static) -> Self {
        self.retriever = Some(Rc::new(change));
        self
    }

    /// Changes the [options](Retriever::graph) of each search that follows connections. A call fails if one is out of range.
    pub fn graph(mut self, change: impl Fn(GraphOptions) -> GraphOptions + 'static) -> Self {
        self.graph = Some(Rc::new(change));
        self
    }
}

impl fmt::Debug for SearchScope {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { space, within, top_k, include_sources, .. } = self;
        f.debug_struct("SearchScope")
            .field("space", space)
            .field("within", within)
            .field("top_k", top_k)
            .field("include_sources", include_sources)
            .finish_non_exhaustive()
    }
}
