//! The storage of passages.

use std::rc::Rc;

use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};
use serde_json::{Map, Value};

use super::document::Document;
use super::filter::field::quoted;
use super::filter::{Filter, FilterError};
use super::search::Search;
use super::search_result::SearchResult;
use crate::call::error::HandlerError;
use crate::storage::{DatabaseError, DatabaseFailure};
use crate::text::Text;

/// Separates the headings of a passage.
pub(super) const HEADING_SEPARATOR: &str = " > ";

/// The number of a passage. A store never uses a number again.
pub type PassageId = i64;

/// A part of a store: an index, and a space of the index. A search never leaves its space.
///
/// Use one space for each tenant. The empty space is a space as any other.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Space {
    /// The name of the index, such as `docs`.
    pub index: Text,
    /// The name of the space.
    pub name: String,
}

/// A stored chunk of a document.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Passage {
    /// The number of the passage.
    pub id: PassageId,
    /// The document, by the name that the program gave it.
    pub document: String,
    /// The position of the passage in its document, from 0.
    pub ordinal: usize,
    /// The headings above the passage, joined by ` > `.
    pub heading: String,
    /// The text.
    pub text: String,
    /// The metadata of the document.
    pub metadata: Map<String, Value>,
}

/// A connection of two passages, in one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Edge {
    /// The passage at which the edge begins.
    pub source: PassageId,
    /// The passage to which the edge leads.
    pub target: PassageId,
    /// The weight, from 0 to 1.
    pub weight: f64,
}

/// The changes that a store made for a document.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Saved {
    /// The chunks of the document.
    pub chunks: usize,
    /// The chunks that were not stored before.
    pub inserted: usize,
    /// The stored chunks that the document no longer has.
    pub deleted: usize,
}

/// The error of a store. It converts into a [`HandlerError`].
#[derive(Clone, Debug)]
pub struct StoreError {
    /// The kind of the failure.
    pub kind: StoreFailure,
    /// The cause. The caller sees it only if the kind says so, and otherwise a fixed sentence.
    pub cause: String,
}

impl StoreError {
    /// Creates the error of a search in an index that does not exist.
    pub(super) fn unknown_index(name: &str) -> Self {
        Self { kind: StoreFailure::UnknownIndex, cause: format!("Unknown index {}.", quoted(name)) }
    }
}

impl StoreError {
    /// Compares the model and the dimensions of the vectors of an index with others.
    pub(super) fn check_model(of_index: (&str, usize), other: (&str, usize)) -> Result<(), Self> {
        if of_index == other {
            return Ok(());
        }
        let ((model, dimensions), (of_other, other_dimensions)) = (of_index, other);
        let cause = format!(
            "the index has vectors of `{model}` with {dimensions} dimensions, and not of `{of_other}` with {other_dimensions}"
        );
        Err(Self { kind: StoreFailure::OtherModel, cause })
    }
}

/// The kind of a failure of a store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StoreFailure {
    /// The tables do not exist.
    NotMigrated,
    /// The store does not answer, or failed.
    Unavailable,
    /// A constraint rejects the row of the program that [`save_with_row`](super::SqlitePassages::save_with_row) inserts.
    Constraint,
    /// The filter is not valid.
    Filter,
    /// The space has passages, but only in other indexes. The cause is a sentence for the caller.
    UnknownIndex,
    /// The document is not valid. The cause is a sentence for the caller.
    Document,
    /// The index has vectors of another embedding model.
    OtherModel,
    /// The store does not search so many vectors. The cause is a sentence for the caller.
    TooManyVectors,
}

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
    /// The search failed. A search without a filter is a [`StoreFailure::UnknownIndex`] if the space has passages, but only in other
    /// indexes. A failure is never an empty result.
    fn search(&self, search: Search) -> LocalBoxFuture<'_, Result<SearchResult, StoreError>>;

    /// Returns the passages with these numbers that are in the space and match the filter, in the order of the numbers.
    ///
    /// # Errors
    /// The store does not respond, or the filter is not valid.
    fn passages<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Passage>, StoreError>>;

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
    ) -> LocalBoxFuture<'a, Result<Vec<Passage>, StoreError>> {
        let _ = (space, ids, distance, filter);
        ready(Ok(Vec::new())).boxed_local()
    }

    /// Returns the edges that begin at a seed, or at a passage that is one edge away from a seed. Only edges that are heavier than
    /// `threshold`, and only between passages that are in the space and match the filter. The default implementation has no edges.
    ///
    /// In the stores of this library, two passages are connected in both directions:
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
    ) -> LocalBoxFuture<'a, Result<Vec<Edge>, StoreError>> {
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
    fn save<'a>(&'a self, space: &'a Space, document: &'a Document) -> LocalBoxFuture<'a, Result<Saved, StoreError>>;

    /// Removes a document with all of its passages. Returns whether it had passages.
    ///
    /// # Errors
    /// The store does not respond. Nothing is removed.
    fn remove<'a>(&'a self, space: &'a Space, document: &'a str) -> LocalBoxFuture<'a, Result<bool, StoreError>>;
}

impl<S: SearchStore + ?Sized> SearchStore for Rc<S> {
    fn search(&self, search: Search) -> LocalBoxFuture<'_, Result<SearchResult, StoreError>> {
        (**self).search(search)
    }

    fn passages<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Passage>, StoreError>> {
        (**self).passages(space, ids, filter)
    }

    fn neighbours<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        distance: usize,
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Passage>, StoreError>> {
        (**self).neighbours(space, ids, distance, filter)
    }

    fn edges<'a>(
        &'a self,
        space: &'a Space,
        seeds: &'a [PassageId],
        threshold: f64,
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Edge>, StoreError>> {
        (**self).edges(space, seeds, threshold, filter)
    }
}

impl From<FilterError> for StoreError {
    fn from(error: FilterError) -> Self {
        Self { kind: StoreFailure::Filter, cause: error.to_string() }
    }
}

impl From<DatabaseError> for StoreError {
    fn from(error: DatabaseError) -> Self {
        let kind = match error.kind {
            DatabaseFailure::NotMigrated => StoreFailure::NotMigrated,
            DatabaseFailure::Constraint => StoreFailure::Constraint,
            _ => StoreFailure::Unavailable,
        };
        Self { kind, cause: error.to_string() }
    }
}

impl From<StoreError> for HandlerError {
    fn from(StoreError { kind, cause }: StoreError) -> Self {
        let message = match kind {
            StoreFailure::NotMigrated => {
                "The search index has no tables. Its operator must apply the migrations: `npx wrangler d1 migrations apply DB`."
            }
            StoreFailure::Unavailable => "The search index does not respond. Try again later.",
            StoreFailure::Constraint => {
                "The data was not saved, because it conflicts with data that is stored already."
            }
            StoreFailure::Filter => "The search failed, because a filter of this server is not valid.",
            StoreFailure::OtherModel => {
                "The search index was made with another embedding model. Its operator must make the vectors again."
            }
            StoreFailure::UnknownIndex | StoreFailure::TooManyVectors => return Self::new(cause),
            StoreFailure::Document => return Self::invalid(cause),
        };
        Self::new(message).because(cause)
    }
}
