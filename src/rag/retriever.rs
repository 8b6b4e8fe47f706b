//! From a question to passages.
//!
//! A [`Retriever`] asks the store for candidates. Then it takes the steps that it is configured for, in this order.

mod connected;
mod context;

use std::collections::BTreeMap;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::filter::Filter;
use super::graph::GraphOptions;
use super::search::Search;
use super::search_result::{FoundPassage, SearchResult};
use super::search_scope::SearchScope;
use super::store::{SearchStore, Space};
use super::store_source::StoreSource;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::limits::{RAG_CANDIDATES, RAG_CONTEXT, RAG_PASSAGES};
use crate::protocol::description::is_blank;
use crate::text::Text;

/// The number of nodes that are read if only some passages of each document are taken, as a multiple of the passages to return.
const SPARE_NODES: usize = 3;
/// The sentence for a caller, who cannot change the setting.
const INVALID: &str = "The search failed, because a setting of this server is not valid.";

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
    index: Text,
    source: Rc<dyn StoreSource>,
    within: Filter,
    containing: Option<String>,
    most: usize,
    per_document: Option<usize>,
    spaces_required: bool,
    graph: Option<Rc<dyn Step>>,
    context: Option<Rc<dyn Step>>,
}

/// A step after the search. A method of [`Retriever`] sets the pointer to it, so a Worker does not contain the code of steps that it does
/// not use.
trait Step {
    /// Returns a sentence about the first setting that is not valid.
    fn problem(&self) -> Option<String>;

    /// Changes the passages and their order.
    fn apply<'a>(
        &'a self,
        found: SearchResult,
        of: &'a Searched<'a>,
    ) -> LocalBoxFuture<'a, Result<SearchResult, HandlerError>>;
}

/// A search whose candidates were found.
struct Searched<'a> {
    store: &'a dyn SearchStore,
    search: &'a Search,
    /// The most passages of the result.
    top_k: usize,
    /// Whether only some passages of each document are taken.
    is_per_document: bool,
    chosen: &'a SearchScope,
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
            graph: None,
            context: None,
        }
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
        self.context = Some(Rc::new(Neighbours(passages)));
        self
    }

    /// Requires that the server function sets a space with [`SearchScope::space`]. Without one, a search fails before it reads anything.
    pub fn spaces_required(mut self) -> Self {
        self.spaces_required = true;
        self
    }

    /// Orders the passages by random walks over the connections between passages. The result can contain passages that are connected with
    /// those that the search found. Equal searches have equal results, because the walks are calculated and not sampled.
    pub fn graph(mut self, options: GraphOptions) -> Self {
        self.graph = Some(Rc::new(options));
        self
    }

    /// Returns the name of the index.
    pub(super) fn index(&self) -> &Text {
        &self.index
    }

    /// Returns the most passages of a result.
    pub(super) fn limit(&self) -> usize {
        self.most
    }

    /// Returns whether the result has connected passages.
    pub(super) fn has_graph(&self) -> bool {
        self.graph.is_some()
    }

    /// Returns the steps in their order.
    fn steps(&self) -> impl Iterator<Item = &Rc<dyn Step>> {
        [&self.graph, &self.context].into_iter().flatten()
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
        self.steps().find_map(|step| step.problem()).or_else(of_filter)
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
        let chosen = cx.extension::<SearchScope>().unwrap_or_default();
        let top_k = chosen.top_k.unwrap_or(asked.most).clamp(1, self.most.max(1));
        let search = self.narrowed(asked, &chosen, top_k)?;
        let store = match &chosen.store {
            Some(store) => store.clone(),
            None => self.source.store(cx).await?,
        };
        let mut found = store.search(search.clone()).await?;
        let is_per_document = self.per_document.is_some();
        let of = Searched { store: &*store, search: &search, top_k, is_per_document, chosen: &chosen };
        if let Some(graph) = &self.graph {
            found = graph.apply(found, &of).await?;
        }
        self.keep_some_of_each_document(&mut found.passages);
        found.passages.truncate(top_k);
        if let Some(context) = &self.context {
            found = context.apply(found, &of).await?;
        }
        Ok(found)
    }

    /// Returns the search for candidates, in the part of the store that the call can see.
    fn narrowed(&self, asked: Search, chosen: &SearchScope, top_k: usize) -> Result<Search, HandlerError> {
        if let Some(problem) = self.problem() {
            return Err(HandlerError::new(INVALID).because(problem));
        }
        let name = match &chosen.space {
            Some(name) => name.clone(),
            None if self.spaces_required => {
                let message =
                    "This server did not set a search space for this caller. Its operator has to configure one.";
                return Err(HandlerError::new(message)
                    .because("a search needs a space: put `SearchScope::new().space(…)` into the request"));
            }
            None => String::new(),
        };
        let of_server = self.within.clone().narrowed_by(chosen.within.clone());
        if let Err(error) = of_server.check() {
            return Err(HandlerError::new(INVALID).because(error));
        }
        let filter = of_server.narrowed_by(asked.filter);
        if filter.check().is_err() {
            let message =
                "Argument `filter` has too many tests together with the filters of this server. Use fewer tests.";
            return Err(HandlerError::invalid(message));
        }
        let index = chosen.index.clone().unwrap_or_else(|| self.index.clone());
        // The best candidates may belong to few documents.
        let candidates = if self.per_document.is_some() { RAG_CANDIDATES.saturating_mul(2) } else { RAG_CANDIDATES };
        Ok(Search {
            space: Space { index, name },
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

impl Step for GraphOptions {
    fn problem(&self) -> Option<String> {
        self.problem()
    }

    fn apply<'a>(
        &'a self,
        mut found: SearchResult,
        of: &'a Searched<'a>,
    ) -> LocalBoxFuture<'a, Result<SearchResult, HandlerError>> {
        async move {
            let options = with_overrides(*self, of.chosen)?;
            found.passages.truncate(of.top_k);
            // Only some nodes of each document are taken, so more are read.
            let nodes = if of.is_per_document { of.top_k.saturating_mul(SPARE_NODES) } else { of.top_k };
            connected::add(found, of.store, of.search, nodes, &options).await
        }
        .boxed_local()
    }
}

/// The number of neighbours that are added to a passage on each side.
struct Neighbours(usize);

impl Step for Neighbours {
    fn problem(&self) -> Option<String> {
        (self.0 > RAG_CONTEXT).then(|| format!("`context` must be from 0 to {RAG_CONTEXT} (got {})", self.0))
    }

    fn apply<'a>(
        &'a self,
        mut found: SearchResult,
        of: &'a Searched<'a>,
    ) -> LocalBoxFuture<'a, Result<SearchResult, HandlerError>> {
        async move {
            found.passages = context::add(of.store, of.search, found.passages, self.0).await?;
            Ok(found)
        }
        .boxed_local()
    }
}

/// Returns the options of the walks of a request.
fn with_overrides(options: GraphOptions, chosen: &SearchScope) -> Result<GraphOptions, HandlerError> {
    let options = GraphOptions {
        random_walk_steps: chosen.random_walk_steps.unwrap_or(options.random_walk_steps),
        restart_prob: chosen.restart_prob.unwrap_or(options.restart_prob),
        ..options
    };
    match options.problem() {
        Some(problem) => {
            let problem = format!("a setting of `SearchScope` is not valid: {problem}");
            Err(HandlerError::new(INVALID).because(problem))
        }
        None => Ok(options),
    }
}
