//! A store in SQLite that also finds passages by their vectors.
//!
//! A search reads the codes of its space, and compares them with the code of the question: `scan`. The vectors of the nearest passages are
//! then compared exactly: `find`. `save` writes vectors, codes and connections.

mod find;
mod save;
mod scan;
mod statements;

use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::{SqlitePassages, check_prefix};
use crate::config::ConfigError;
use crate::limits::{RAG_SCANNED, RAG_SCANNED_MOST};
use crate::rag::document::Document;
use crate::rag::filter::Filter;
use crate::rag::passage::{Edge, Passage, PassageId, Space};
use crate::rag::search::Search;
use crate::rag::search_result::SearchResult;
use crate::rag::sqlite::rows::array;
use crate::rag::store::{SaveStore, Saved, SearchStore};
use crate::rag::store_error::StoreError;
use crate::rag::vector_index::VectorIndex;
use crate::rag::vector_store::{PendingPassages, VectorStore};

/// Returns the SQL that creates the tables of the vectors, for a migration of the program after that of [`migration`](super::migration).
///
/// # Errors
/// The prefix does not begin with `a-z`, contains other characters than `a-z`, `0-9` and `_`, or is longer than 31 characters.
pub fn vector_migration(prefix: &str) -> Result<String, ConfigError> {
    check_prefix(prefix)?;
    Ok(super::statements::named(include_str!("../migrations/0002_vectors.sql"), prefix))
}

/// A store in a database with SQLite that finds passages by their words, their meaning, or both.
///
/// It has the tables of [`migration`](super::migration) and of [`vector_migration`]. An [`Indexer`](crate::rag::Indexer) saves the vectors.
/// A search reads a code of each passage of its space, which is 1 row and 0.2 bytes for each dimension. For more than 50 000 passages in one
/// space, or for many searches at the same time, use [`vector_index`](Self::vector_index).
#[derive(Clone)]
pub struct SqliteVectors {
    passages: SqlitePassages,
    /// The service that finds the nearest vectors. Without one, a search reads the codes.
    index: Option<Rc<dyn VectorIndex>>,
    /// The most passages of a space in which a search reads the codes.
    most_scanned: usize,
}

impl SqliteVectors {
    /// Creates a store with the passages of `passages`.
    pub fn new(passages: SqlitePassages) -> Self {
        Self { passages, index: None, most_scanned: RAG_SCANNED }
    }

    /// Finds the nearest passages with another service, such as Vectorize, instead of reading the codes. The database still has the
    /// vectors, and decides which passages a caller sees.
    #[must_use]
    pub fn vector_index(self, index: Rc<dyn VectorIndex>) -> Self {
        Self { index: Some(index), ..self }
    }

    /// Sets the most passages of a space in which a search reads the codes: 50 000 by default, at most 100 000. The codes of 100 000
    /// passages with 768 dimensions have 15 MB.
    #[must_use]
    pub fn most_scanned(self, passages: usize) -> Self {
        Self { most_scanned: passages.min(RAG_SCANNED_MOST), ..self }
    }

    /// Returns the store that finds passages by their words, and that saves documents.
    pub fn passages(&self) -> &SqlitePassages {
        &self.passages
    }
}

impl SearchStore for SqliteVectors {
    fn search(&self, search: Search) -> LocalBoxFuture<'_, Result<SearchResult, StoreError>> {
        self.find(search).boxed_local()
    }

    fn passages<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Passage>, StoreError>> {
        SearchStore::passages(&self.passages, space, ids, filter)
    }

    fn neighbours<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        distance: usize,
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Passage>, StoreError>> {
        self.passages.neighbours(space, ids, distance, filter)
    }

    fn edges<'a>(
        &'a self,
        space: &'a Space,
        seeds: &'a [PassageId],
        threshold: f64,
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Edge>, StoreError>> {
        let statement = crate::rag::sqlite::statements::edges(true);
        async move { self.passages.find_edges(&statement, space, seeds, threshold, filter).await }.boxed_local()
    }
}

impl SaveStore for SqliteVectors {
    fn save<'a>(&'a self, space: &'a Space, document: &'a Document) -> LocalBoxFuture<'a, Result<Saved, StoreError>> {
        self.passages.save(space, document)
    }

    fn remove<'a>(&'a self, space: &'a Space, document: &'a str) -> LocalBoxFuture<'a, Result<bool, StoreError>> {
        self.passages.remove(space, document)
    }
}

impl VectorStore for SqliteVectors {
    fn pending<'a>(
        &'a self,
        space: &'a Space,
        model: &'a str,
        most: usize,
    ) -> LocalBoxFuture<'a, Result<PendingPassages, StoreError>> {
        self.read_pending(space, model, most).boxed_local()
    }

    fn save_vectors<'a>(
        &'a self,
        space: &'a Space,
        model: &'a str,
        vectors: Vec<(PassageId, Vec<f32>)>,
    ) -> LocalBoxFuture<'a, Result<(), StoreError>> {
        self.save_all_vectors(space, model, vectors).boxed_local()
    }

    fn refuse<'a>(&'a self, space: &'a Space, ids: &'a [PassageId]) -> LocalBoxFuture<'a, Result<(), StoreError>> {
        let refuse = self.passages.statement(statements::REFUSE, space, vec![array(ids)]);
        async move { Ok(refuse.run().await.map(drop)?) }.boxed_local()
    }

    fn remove_vectors<'a>(&'a self, index: &'a str) -> LocalBoxFuture<'a, Result<(), StoreError>> {
        let delete = |sql: &str| self.passages.plain(sql, vec![index.to_owned()]);
        let deleted = self.passages.database.batch(statements::DELETE_ALL.map(delete));
        async move { Ok(deleted.await.map(drop)?) }.boxed_local()
    }
}
