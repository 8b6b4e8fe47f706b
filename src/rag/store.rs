//! The storage of passages.

use futures::future::LocalBoxFuture;
use serde_json::{Map, Value};

use super::chunks::Chunk;
use super::filter::field::quoted;
use super::filter::{Filter, FilterError, check_metadata};
use super::query::Query;
use crate::call::error::HandlerError;
use crate::limits::{RAG_CHUNK_MOST_BYTES, RAG_DOCUMENT_CHUNKS, RAG_LINKS, RAG_NAME_BYTES};
use crate::storage::{DatabaseError, DatabaseFailure};
use crate::text::Text;

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
#[derive(Clone, Debug, PartialEq)]
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

/// A search for the passages that contain words of a question.
#[derive(Clone, Debug)]
pub struct Search {
    /// The space.
    pub space: Space,
    /// The words of the question.
    pub query: Query,
    /// The filter on the metadata.
    pub filter: Filter,
    /// The most passages to return.
    pub most: usize,
}

/// The passages that a store found.
#[derive(Clone, Debug)]
pub struct Matches {
    /// The query, which has [learned](Query::learn) from the passages that match the filter.
    pub query: Query,
    /// The number of passages of the space that match the filter.
    pub indexed: u64,
    /// The passages, best first by the order of the store.
    pub passages: Vec<Passage>,
}

/// A document to store.
#[derive(Clone, Debug, Default)]
pub struct Document {
    /// The name: 1 to 256 bytes, without control characters. Documents of a space have different names.
    pub name: String,
    /// The metadata, which [`check_metadata`] accepts.
    pub metadata: Map<String, Value>,
    /// The chunks, at most 2000.
    pub chunks: Vec<Chunk>,
    /// The names of the documents to which this document links. Names that no document can have are ignored, and so are all names after
    /// the first 1000.
    pub links: Vec<String>,
}

impl Document {
    /// Checks whether a store can save the document. Every store does this before it saves.
    ///
    /// # Errors
    /// A sentence for the caller, of the kind [`StoreFailure::Document`]: the name, the metadata or a chunk is not valid, or there are too
    /// many chunks.
    pub fn check(&self) -> Result<(), StoreError> {
        let invalid = |cause: String| Err(StoreError { kind: StoreFailure::Document, cause });
        let name = quoted(&self.name);
        if !is_name(&self.name) {
            return invalid(format!(
                "The name of a document must have 1 to {RAG_NAME_BYTES} bytes and no control characters (got {name})."
            ));
        }
        if let Err(problem) = check_metadata(&self.metadata) {
            return invalid(problem.to_string());
        }
        let count = self.chunks.len();
        if count > RAG_DOCUMENT_CHUNKS {
            return invalid(format!(
                "The document {name} has {count} chunks, and must have at most {RAG_DOCUMENT_CHUNKS}. Divide it into several documents."
            ));
        }
        let bytes = |chunk: &Chunk| {
            chunk.heading.iter().fold(chunk.text.len(), |sum, heading| sum.saturating_add(heading.len()))
        };
        match self.chunks.iter().map(bytes).find(|bytes| *bytes > RAG_CHUNK_MOST_BYTES) {
            Some(bytes) => invalid(format!(
                "A chunk of the document {name} has {bytes} bytes with its headings, and must have at most {RAG_CHUNK_MOST_BYTES}. Divide the text into smaller chunks."
            )),
            None => Ok(()),
        }
    }

    /// Returns the links that a store saves. A document without chunks has none, so a store keeps nothing of it.
    pub(super) fn targets(&self) -> impl Iterator<Item = &str> {
        let most = if self.chunks.is_empty() { 0 } else { RAG_LINKS };
        self.links.iter().map(String::as_str).filter(|name| is_name(name)).take(most)
    }
}

/// Returns whether a document can have this name.
fn is_name(name: &str) -> bool {
    (1..=RAG_NAME_BYTES).contains(&name.len()) && !name.contains(char::is_control)
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
}

/// Stores passages and finds them. Every method works within one space.
///
/// A store saves each document whole or not at all.
pub trait PassageStore {
    /// Finds passages that contain words of the query and match the filter.
    ///
    /// The result must depend only on the passages of the space that match the filter, because the caller sees the order, the scores and
    /// the correction of words. A search in an empty space finds nothing. A search without a filter is a [`StoreFailure::UnknownIndex`] if
    /// the space has passages, but only in other indexes.
    fn search(&self, search: Search) -> LocalBoxFuture<'_, Result<Matches, StoreError>>;

    /// Returns the passages with these numbers that are in the space and match the filter, in the order of the numbers.
    fn passages<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Passage>, StoreError>>;

    /// Returns the edges that begin at a seed, or at a passage that is one edge away from a seed. Only edges that are heavier than
    /// `threshold`, and only between passages that are in the space and match the filter. Two passages are connected:
    ///
    /// | passages | weight |
    /// |---|--:|
    /// | neighbours in one section | 1 |
    /// | the first passages of two documents, if one document links to the other | 0.9 |
    /// | neighbours in one document, in different sections | 0.75 |
    fn edges<'a>(
        &'a self,
        space: &'a Space,
        seeds: &'a [PassageId],
        threshold: f64,
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Edge>, StoreError>>;

    /// Replaces the chunks of a document. Chunks that are stored already keep their numbers. A document without chunks has no passages,
    /// so a search does not find it.
    fn save<'a>(&'a self, space: &'a Space, document: &'a Document) -> LocalBoxFuture<'a, Result<Saved, StoreError>>;

    /// Removes a document with all of its passages. Returns whether it had passages.
    fn remove<'a>(&'a self, space: &'a Space, document: &'a str) -> LocalBoxFuture<'a, Result<bool, StoreError>>;
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
            StoreFailure::UnknownIndex => return Self::new(cause),
            StoreFailure::Document => return Self::invalid(cause),
        };
        Self::new(message).because(cause)
    }
}

#[cfg(test)]
mod tests {
    use std::rc::Rc;

    use serde_json::json;

    use super::*;

    fn document(name: &str, texts: &[&str]) -> Document {
        let heading: Vec<Rc<str>> = vec!["Tea".into()];
        let chunk = |text: &&str| Chunk { heading: heading.clone(), text: (*text).to_owned(), range: 0..text.len() };
        Document {
            name: name.into(),
            metadata: Map::new(),
            chunks: texts.iter().map(chunk).collect(),
            links: Vec::new(),
        }
    }

    /// R65: a document beyond a limit is an error for the caller, with the limit.
    #[test]
    fn documents_have_limits() {
        let longest = "x".repeat(RAG_CHUNK_MOST_BYTES - "Tea".len());
        for valid in [
            document("tea", &[]),
            document(&"x".repeat(256), &["", &longest]),
            document("docs/tea \"1\" ü", &vec!["x"; 2000]),
        ] {
            assert!(valid.check().is_ok(), "{}", valid.name);
        }
        let tags = json!({ "tags": [[]] }).as_object().cloned().unwrap_or_default();
        for (invalid, message) in [
            (document("", &[]), "The name of a document must have 1 to 256 bytes and no control characters (got ``)."),
            (
                document("a\n", &[]),
                "The name of a document must have 1 to 256 bytes and no control characters (got `a\\n`).",
            ),
            (
                document("a", &vec!["x"; 2001]),
                "The document `a` has 2001 chunks, and must have at most 2000. Divide it into several documents.",
            ),
            (
                document("a", &[&(longest + "y")]),
                "A chunk of the document `a` has 100001 bytes with its headings, and must have at most 100000. Divide the text into smaller chunks.",
            ),
            (
                Document { metadata: tags, ..document("a", &[]) },
                "Metadata `tags[0]` must be a string, a number or a boolean, because it is in an array.",
            ),
        ] {
            let error = invalid.check().expect_err(message);
            assert_eq!(error.kind, StoreFailure::Document);
            assert_eq!(HandlerError::from(error).message(), message);
        }
        assert!(document(&"x".repeat(257), &[]).check().is_err());
    }

    #[test]
    fn links_that_no_document_can_have_are_ignored() {
        let long = "x".repeat(257);
        let mut links: Vec<String> = ["", "a", "b\0", &long, "c"].map(str::to_owned).into();
        let targets = |links: &[String]| Document { links: links.to_vec(), ..document("d", &["x"]) }.targets().count();
        assert_eq!(targets(&links), 2);
        links.resize(2000, "e".into());
        assert_eq!(targets(&links), RAG_LINKS);
        assert_eq!(Document { links, ..document("d", &[]) }.targets().count(), 0);
    }
}
