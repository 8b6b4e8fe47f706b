//! From a question to passages.

mod connected;
mod context;

use std::collections::BTreeMap;
use std::rc::Rc;

use futures::FutureExt;

use super::filter::Filter;
use super::graph::GraphOptions;
use super::query::Query;
use super::rescore::{Candidate, Ranked, rank};
use super::retrieval::Retrieval;
use super::retrieved::{RetrievalMode, Retrieved, RetrievedPassage};
use super::store::{Passage, PassageStore, Search, Space};
use super::store_source::StoreSource;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::limits::{RAG_CANDIDATES, RAG_CONTEXT, RAG_PASSAGES, RAG_TOP_K};
use crate::protocol::description::is_blank;
use crate::text::Text;

/// The number of nodes that are read if only some passages of each document are taken, as a multiple of the passages to return.
const SPARE_NODES: usize = 3;
/// The sentence for a caller, who cannot change the setting.
const INVALID: &str = "The search failed, because a setting of this server is not valid.";

/// Finds the passages that answer a question. A [`VectorQueryTool`](super::VectorQueryTool) uses it, and so can your own handlers.
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
    most: usize,
    per_document: Option<usize>,
    context: usize,
    spaces_required: bool,
    graph: Option<GraphOptions>,
}

/// A question to a [`Retriever`]. A text converts into it.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Question {
    text: String,
    top_k: Option<usize>,
    within: Filter,
}

impl Question {
    /// Creates a question. Only the words of the text matter: no part of it is an operator.
    pub fn new(text: impl Into<String>) -> Self {
        Self { text: text.into(), ..Self::default() }
    }

    /// Sets the number of passages. The default is 10.
    pub fn top_k(mut self, passages: usize) -> Self {
        self.top_k = Some(passages);
        self
    }

    /// Adds a filter. A passage must match it and all other filters.
    pub fn within(mut self, filter: Filter) -> Self {
        self.within = self.within.narrowed_by(filter);
        self
    }
}

impl<T: Into<String>> From<T> for Question {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

impl Retriever {
    /// Creates a retriever for the index with this name. `store` is an `Rc` of a store, or an async function that chooses one.
    pub fn new(index: impl Into<Text>, store: impl StoreSource + 'static) -> Self {
        Self {
            index: index.into(),
            source: Rc::new(store),
            within: Filter::default(),
            most: RAG_PASSAGES,
            per_document: None,
            context: 0,
            spaces_required: false,
            graph: None,
        }
    }

    /// Adds a filter. A passage must match it and all other filters.
    pub fn within(mut self, filter: Filter) -> Self {
        self.within = self.within.narrowed_by(filter);
        self
    }

    /// Sets the most passages of a result, from 1 to 50. The default is 50.
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
        self.context = passages;
        self
    }

    /// Requires that the server function sets a space with [`Retrieval::space`]. Without one, a search fails before it reads anything.
    pub fn spaces_required(mut self) -> Self {
        self.spaces_required = true;
        self
    }

    /// Orders the passages by random walks over the connections between passages. The result can contain passages that are connected with
    /// those that contain the words of the question.
    pub fn graph(mut self, options: GraphOptions) -> Self {
        self.graph = Some(options);
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
        if self.context > RAG_CONTEXT {
            return Some(format!("`context` must be from 0 to {RAG_CONTEXT} (got {})", self.context));
        }
        let of_filter = || self.within.check().err().map(|error| error.to_string());
        self.graph.as_ref().and_then(GraphOptions::problem).or_else(of_filter)
    }

    /// Finds the passages that answer a question. The [`Retrieval`] of the request applies.
    ///
    /// # Errors
    /// The sentence for the caller. A failure of the store is an error, and never a result without passages.
    pub async fn retrieve(&self, question: impl Into<Question>, cx: &Context) -> Result<Retrieved, HandlerError> {
        // Each caller would contain the code of a future that is not boxed.
        self.find(question.into(), cx).boxed_local().await
    }

    async fn find(&self, question: Question, cx: &Context) -> Result<Retrieved, HandlerError> {
        let chosen = cx.extension::<Retrieval>().unwrap_or_default();
        let scope = self.scope(&chosen, question.within)?;
        let graph = self.graph.map(|options| with_overrides(options, &chosen)).transpose()?;
        let top_k = chosen.top_k.or(question.top_k).unwrap_or(RAG_TOP_K).clamp(1, self.most.max(1));
        let query = Query::new(&question.text);
        let mode = if graph.is_some() { RetrievalMode::Graph } else { RetrievalMode::Lexical };
        if query.is_empty() {
            let note = Some("The question has no words to search for.".into());
            return Ok(Retrieved { passages: Vec::new(), mode, note });
        }
        let store = match &chosen.store {
            Some(store) => store.clone(),
            None => self.source.store(cx).await?,
        };
        let store = &*store;
        let mut ranked = self.search(store, &scope, query, top_k).await?;
        let mut note = None;
        if let Some(options) = graph {
            ranked.truncate(top_k);
            // Only some nodes of each document are taken, so more are read.
            let nodes = if self.per_document.is_some() { top_k.saturating_mul(SPARE_NODES) } else { top_k };
            (ranked, note) = connected::find(store, &scope.space, &scope.filter, ranked, nodes, &options).await?;
        }
        self.keep_some_of_each_document(&mut ranked);
        ranked.truncate(top_k);
        if self.context > 0 {
            ranked = context::add(store, &scope.space, &scope.filter, ranked, self.context).await?;
        }
        Ok(Retrieved { passages: ranked, mode, note })
    }

    /// Returns the part of the store that a call can see.
    fn scope(&self, chosen: &Retrieval, asked: Filter) -> Result<Scope, HandlerError> {
        if let Some(problem) = self.problem() {
            return Err(HandlerError::new(INVALID).because(problem));
        }
        let name = match &chosen.space {
            Some(name) => name.clone(),
            None if self.spaces_required => {
                let message =
                    "This server did not set a search space for this caller. Its operator has to configure one.";
                return Err(HandlerError::new(message)
                    .because("a search needs a space: put `Retrieval::new().space(…)` into the request"));
            }
            None => String::new(),
        };
        let of_server = self.within.clone().narrowed_by(chosen.within.clone());
        if let Err(error) = of_server.check() {
            return Err(HandlerError::new(INVALID).because(error));
        }
        let filter = of_server.narrowed_by(asked);
        if filter.check().is_err() {
            let message =
                "Argument `filter` has too many tests together with the filters of this server. Use fewer tests.";
            return Err(HandlerError::invalid(message));
        }
        let index = chosen.index.clone().unwrap_or_else(|| self.index.clone());
        Ok(Scope { space: Space { index, name }, filter })
    }

    /// Returns the best passages by their words.
    async fn search(
        &self,
        store: &dyn PassageStore,
        scope: &Scope,
        query: Query,
        top_k: usize,
    ) -> Result<Vec<RetrievedPassage>, HandlerError> {
        // The best candidates may belong to few documents.
        let candidates = if self.per_document.is_some() { RAG_CANDIDATES.saturating_mul(2) } else { RAG_CANDIDATES };
        let Scope { space, filter } = scope.clone();
        let matches = store.search(Search { space, query, filter, most: candidates.max(top_k) }).await?;
        let candidates: Vec<_> = (matches.passages.iter())
            .map(|Passage { document, heading, text, .. }| Candidate { document, heading, text })
            .collect();
        let order = rank(&matches.query, matches.indexed, &candidates);
        let mut passages: Vec<_> = matches.passages.into_iter().map(Some).collect();
        let take = |ranked: Ranked| {
            let passage = passages.get_mut(ranked.candidate)?.take()?;
            Some(RetrievedPassage { passage, score: ranked.score, lexical: Some(ranked.score), graph: None })
        };
        Ok(order.into_iter().filter_map(take).collect())
    }

    fn keep_some_of_each_document(&self, passages: &mut Vec<RetrievedPassage>) {
        let Some(most) = self.per_document else { return };
        let mut kept: BTreeMap<String, usize> = BTreeMap::new();
        passages.retain(|found| {
            let of_document = kept.entry(found.passage.document.clone()).or_default();
            *of_document = of_document.saturating_add(1);
            *of_document <= most
        });
    }
}

/// The part of a store that a call can see.
#[derive(Clone)]
struct Scope {
    space: Space,
    filter: Filter,
}

/// Returns the options of the walks of a request.
fn with_overrides(options: GraphOptions, chosen: &Retrieval) -> Result<GraphOptions, HandlerError> {
    let options = GraphOptions {
        random_walk_steps: chosen.random_walk_steps.unwrap_or(options.random_walk_steps),
        restart_prob: chosen.restart_prob.unwrap_or(options.restart_prob),
        ..options
    };
    match options.problem() {
        Some(problem) => {
            let problem = format!("a setting of `Retrieval` is not valid: {problem}");
            Err(HandlerError::new(INVALID).because(problem))
        }
        None => Ok(options),
    }
}
