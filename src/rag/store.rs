//! The interfaces of a store of passages.

use std::future::Future;
use std::rc::Rc;

use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};

use super::document::Document;
use super::filter::Filter;
use super::passage::{Edge, Passage, PassageId, Space};
use super::search::Search;
use super::search_result::SearchResult;
use super::store_error::StoreError;
use crate::call::context::Context;
use crate::call::error::HandlerError;

/// The changes that a store made for a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SaveCounts {
    /// The chunks of the document.
    pub chunks: usize,
    /// The chunks that were not stored before.
    pub inserted: usize,
    /// The stored chunks that the document no longer has.
    pub deleted: usize,
}

/// The future of a method of a store.
pub type StoreFuture<'a, T> = LocalBoxFuture<'a, Result<T, StoreError>>;

/// Finds passages. Every method works within one space. A store that only searches implements two methods:
///
/// ```
/// use edge_mcp::rag::{Filter, FoundPassage, Passage, PassageId, Search, SearchResult, SearchStore, Space, StoreError};
/// use futures::future::{LocalBoxFuture, ready};
/// use futures::FutureExt;
///
/// /// A store with one passage.
/// struct Motto;
///
/// fn motto() -> Passage {
///     Passage { id: 1, document: "motto".into(), text: "Warm the pot first.".into(), ..Passage::default() }
/// }
///
/// impl SearchStore for Motto {
///     fn search(&self, search: Search) -> LocalBoxFuture<'_, Result<SearchResult, StoreError>> {
///         let is_found = search.text.contains("pot") && search.filter.matches(&motto().metadata);
///         let found = is_found.then(|| FoundPassage::new(motto(), 1.0));
///         ready(Ok(SearchResult::new(found.into_iter().collect()))).boxed_local()
///     }
///
///     fn passages<'a>(
///         &'a self,
///         _: &'a Space,
///         ids: &'a [PassageId],
///         filter: &'a Filter,
///     ) -> LocalBoxFuture<'a, Result<Vec<Passage>, StoreError>> {
///         let found = ids.contains(&1) && filter.matches(&motto().metadata);
///         ready(Ok(found.then(motto).into_iter().collect())).boxed_local()
///     }
/// }
/// ```
pub trait SearchStore {
    /// Finds the passages that answer a question, best first: at most `search.most`, and only passages of the space that match the filter.
    ///
    /// The result must depend only on these passages, because the caller sees the order and the scores. A search in an empty space finds
    /// nothing.
    ///
    /// # Errors
    /// The search failed. A search without a filter is a [`StoreFailure::UnknownIndex`](super::StoreFailure::UnknownIndex) if the space has passages, but only in other
    /// indexes. A failure is never an empty result.
    fn search(&self, search: Search) -> StoreFuture<'_, SearchResult>;

    /// Returns the passages with these numbers that are in the space and match the filter, in the order of the numbers.
    ///
    /// # Errors
    /// The store does not respond, or the filter is not valid.
    fn passages<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        filter: &'a Filter,
    ) -> StoreFuture<'a, Vec<Passage>>;

    /// Returns the passages around other passages: those of the same section whose positions differ by at most `distance`. Only passages that
    /// are in the space and match the filter. The default implementation returns none.
    ///
    /// # Errors
    /// The store does not respond, or the filter is not valid.
    fn neighbours<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        distance: usize,
        filter: &'a Filter,
    ) -> StoreFuture<'a, Vec<Passage>> {
        let _ = (space, ids, distance, filter);
        ready(Ok(Vec::new())).boxed_local()
    }

    /// Returns the edges that begin at a seed, or at a passage that is one edge away from a seed. Only edges that are heavier than
    /// `threshold`, and only between passages that are in the space and match the filter. The default implementation has no edges.
    ///
    /// In the stores of this library, two passages of different documents are connected in both directions:
    ///
    /// | passages | weight |
    /// |---|--:|
    /// | a passage with a [link](super::Link), and the first passage of the section or the document to which it leads | 0.9 |
    /// | passages with similar vectors | the cosine of the vectors |
    ///
    /// # Errors
    /// The store does not respond, or the filter is not valid.
    fn edges<'a>(
        &'a self,
        space: &'a Space,
        seeds: &'a [PassageId],
        threshold: f64,
        filter: &'a Filter,
    ) -> StoreFuture<'a, Vec<Edge>> {
        let _ = (space, seeds, threshold, filter);
        ready(Ok(Vec::new())).boxed_local()
    }
}

/// Saves documents as passages. A store saves each document whole or not at all.
pub trait SaveStore: SearchStore {
    /// Replaces the chunks of a document. Chunks that are stored already keep their numbers. A document without chunks has no passages,
    /// so a search does not find it.
    ///
    /// # Errors
    /// The document is [not valid](Document::check), or the store does not respond. Nothing is saved.
    fn save<'a>(&'a self, space: &'a Space, document: &'a Document) -> StoreFuture<'a, SaveCounts>;

    /// Removes a document with all of its passages. Returns whether it had passages.
    ///
    /// # Errors
    /// The store does not respond. Nothing is removed.
    fn remove<'a>(&'a self, space: &'a Space, document: &'a str) -> StoreFuture<'a, bool>;
}

impl<S: SearchStore + ?Sized> SearchStore for Rc<S> {
    fn search(&self, search: Search) -> StoreFuture<'_, SearchResult> {
        (**self).search(search)
    }

    fn passages<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        filter: &'a Filter,
    ) -> StoreFuture<'a, Vec<Passage>> {
        (**self).passages(space, ids, filter)
    }

    fn neighbours<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        distance: usize,
        filter: &'a Filter,
    ) -> StoreFuture<'a, Vec<Passage>> {
        (**self).neighbours(space, ids, distance, filter)
    }

    fn edges<'a>(
        &'a self,
        space: &'a Space,
        seeds: &'a [PassageId],
        threshold: f64,
        filter: &'a Filter,
    ) -> StoreFuture<'a, Vec<Edge>> {
        (**self).edges(space, seeds, threshold, filter)
    }
}

/// Chooses the store in which a call searches.
///
/// An `Rc` of a store, also an `Rc<dyn SearchStore>`, is the store of every call. An async function of the [`Context`] chooses the store for each call, for example a
/// database for each plan. The caller gets a fixed sentence if the function fails, and the log gets the cause.
///
/// ```
/// use std::rc::Rc;
///
/// use edge_mcp::rag::{MemoryStore, Retriever, SearchStore, SearchTool};
/// use edge_mcp::{Context, HandlerError};
///
/// struct Databases {
///     free: Rc<MemoryStore>,
///     paid: Rc<MemoryStore>,
/// }
///
/// async fn store(cx: Context) -> Result<Rc<dyn SearchStore>, HandlerError> {
///     let databases = cx.state::<Databases>()?;
///     let is_paid = cx.caller().is_ok_and(|caller| caller.has_scope("paid"));
///     Ok(if is_paid { databases.paid.clone() } else { databases.free.clone() })
/// }
///
/// let tool = SearchTool::new(Retriever::new("docs", store)).tool();
/// ```
pub trait StoreSource {
    /// Returns the store of a call.
    ///
    /// # Errors
    /// There is no store for the caller.
    fn store(&self, cx: &Context) -> LocalBoxFuture<'static, Result<Rc<dyn SearchStore>, HandlerError>>;
}

impl<S: SearchStore + ?Sized + 'static> StoreSource for Rc<S> {
    fn store(&self, _: &Context) -> LocalBoxFuture<'static, Result<Rc<dyn SearchStore>, HandlerError>> {
        let store: Rc<dyn SearchStore> = Rc::new(self.clone());
        ready(Ok(store)).boxed_local()
    }
}

impl<F, Fut> StoreSource for F
where
    F: Fn(Context) -> Fut,
    Fut: Future<Output = Result<Rc<dyn SearchStore>, HandlerError>> + 'static,
{
    fn store(&self, cx: &Context) -> LocalBoxFuture<'static, Result<Rc<dyn SearchStore>, HandlerError>> {
        let chosen = self(cx.clone());
        async move {
            let message = "No search index is configured for this caller.";
            chosen.await.map_err(|error| HandlerError::new(message).because(error.cause()))
        }
        .boxed_local()
    }
}
