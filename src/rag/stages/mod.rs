//! The stages after a search, which change the passages and their order.

pub(super) mod connected;
pub(super) mod context;
pub(super) mod diverse;

use futures::future::LocalBoxFuture;

use super::graph::GraphOptions;
use super::search::Search;
use super::search_result::SearchResult;
use super::store::SearchStore;
use crate::call::context::Context;
use crate::call::error::HandlerError;

/// The sentence for a caller, who cannot change the setting.
pub(super) const INVALID: &str = "The search failed, because a setting of this server is not valid.";

pub(super) fn invalid_scope(problem: &str) -> HandlerError {
    HandlerError::new(INVALID).because(format!("a setting of `SearchScope` is not valid: {problem}"))
}

pub(super) type StageFuture<'a> = LocalBoxFuture<'a, Result<SearchResult, HandlerError>>;

/// A stage after the search. A method of [`Retriever`](super::Retriever) sets the pointer to it, so a Worker does not contain the code of
/// stages that it does not use.
pub(super) trait SearchStage {
    /// Returns a sentence about the first setting that is not valid.
    fn problem(&self) -> Option<String>;

    /// Changes the passages and their order.
    fn apply<'a>(&'a self, found: SearchResult, input: &'a StageInput<'a>) -> StageFuture<'a>;
}

/// A search whose candidates were found.
pub(super) struct StageInput<'a> {
    pub(super) store: &'a dyn SearchStore,
    pub(super) search: &'a Search,
    /// The most passages of the result.
    pub(super) top_k: usize,
    /// Whether only some passages of each document are taken.
    pub(super) is_per_document: bool,
    /// Whether the passages of the result have their vectors.
    pub(super) includes_vectors: bool,
    /// The change of the options of connections that the request has.
    pub(super) graph: Option<&'a dyn Fn(GraphOptions) -> GraphOptions>,
    pub(super) cx: &'a Context,
}
