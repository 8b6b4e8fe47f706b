//! A store in SQLite that also finds passages by their vectors.
//!
//! A search reads the codes of its space, and compares them with the code of the question: `scan`. The vectors of the nearest passages are
//! then compared exactly. `save` writes vectors, codes and connections. `statements` has the texts of the statements.

mod save;
mod scan;
mod statements;

use std::collections::BTreeSet;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use futures::{FutureExt, join};

use super::rows::{array, read, unavailable};
use super::{SqlitePassages, check_prefix};
use crate::config::ConfigError;
use crate::limits::{RAG_SCANNED, RAG_SCANNED_MOST, VECTOR_MATCHES};
use crate::rag::document::Document;
use crate::rag::filter::Filter;
use crate::rag::fuse::{Similarities, by_meaning};
use crate::rag::search::{Meaning, Search};
use crate::rag::search_result::SearchResult;
use crate::rag::store::{Edge, Passage, PassageId, SaveStore, Saved, SearchStore, Space, StoreError, StoreFailure};
use crate::rag::vector_index::{VectorIndex, VectorIndexError, VectorQuery};
use crate::rag::vector_store::{Pending, VectorStore};
use crate::rag::vectors::int8::Int8;
use crate::rag::words::rank::ByWords;
use crate::storage::Statement;
use scan::Scan;

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
    index: Option<Rc<dyn VectorIndex>>,
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

    /// Returns a statement with these values.
    fn plain<const N: usize>(&self, sql: &str, values: [String; N]) -> Statement {
        let statement = self.passages.database.query(super::statements::named(sql, &self.passages.prefix));
        values.into_iter().fold(statement, Statement::bind)
    }

    async fn find(&self, search: Search) -> Result<SearchResult, StoreError> {
        let Some(meaning) = &search.meaning else { return self.passages.find(search).await };
        let by_words = async {
            // Without the words, the result has only passages that are found by their meaning.
            if meaning.is_required() { Ok(ByWords::default()) } else { self.passages.candidates(&search).await }
        };
        // The model calculates the vector of the question meanwhile.
        let (by_words, scan, _) = join!(by_words, self.scan(&search, meaning), meaning.vector());
        let by_words = by_words?;
        let similar = match scan {
            Ok(scan) => self.similar(&search, meaning, &scan, &by_words).await,
            Err(error) => Err(error),
        };
        by_meaning(by_words, similar, meaning)
    }

    /// Returns the similarities of the nearest passages, and of those that were found by their words. Also returns the passages that were not
    /// found by their words.
    async fn similar(
        &self,
        search: &Search,
        meaning: &Meaning,
        scan: &Scan,
        by_words: &ByWords,
    ) -> Result<Option<(Similarities, Vec<Passage>)>, StoreError> {
        let (Some(vector), Some(model)) = (meaning.vector().await, &scan.model) else { return Ok(None) };
        model.check(&meaning.model, vector.len())?;
        let mut ids = match &self.index {
            Some(index) => self.near_by_index(&**index, &search.space, &vector).await?,
            None => scan.near(&vector, meaning.candidates)?,
        };
        ids.extend(by_words.passages.iter().map(|passage| passage.id));
        let ids: BTreeSet<_> = ids.into_iter().collect();
        let similarities = Similarities::new(&vector, self.vectors(search, &ids).await?);
        if similarities.is_empty() {
            return Ok(None);
        }
        let new = similarities.new_passages(by_words, meaning, search.most);
        let new = SearchStore::passages(&self.passages, &search.space, &new, &search.filter).await?;
        Ok(Some((similarities, new)))
    }

    /// Returns the nearest passages by the service. It deletes the vectors of passages that no longer exist from the service.
    async fn near_by_index(
        &self,
        index: &dyn VectorIndex,
        space: &Space,
        vector: &[f32],
    ) -> Result<Vec<PassageId>, StoreError> {
        let query = VectorQuery { vector: vector.to_vec(), namespace: space.namespace(), most: VECTOR_MATCHES };
        let near = index.query(query).await.map_err(of_index)?;
        let stale: Vec<PassageId> = self.plain(statements::STALE, [array(&near)]).all().await?;
        if !stale.is_empty() {
            // The next search that finds them deletes them, if this fails.
            drop(index.delete(&stale).await);
        }
        Ok(near)
    }

    /// Returns the vectors of passages that the search can find.
    async fn vectors(&self, search: &Search, ids: &BTreeSet<PassageId>) -> Result<Vec<(PassageId, Int8)>, StoreError> {
        let Search { space, filter, .. } = search;
        if ids.is_empty() {
            return Ok(Vec::new());
        }
        let statement = self.passages.filtered(statements::VECTORS, space, filter, vec![array(ids)])?;
        read_vectors(statement.all().await?)
    }
}

/// Reads rows that are `[id, vector]`.
fn read_vectors(rows: Vec<String>) -> Result<Vec<(PassageId, Int8)>, StoreError> {
    let vector = |(id, text): (PassageId, String)| Some((id, Int8::parse(&text)?));
    let vectors = read(rows)?.into_iter().map(vector);
    vectors.collect::<Option<_>>().ok_or_else(|| unavailable("a vector is malformed"))
}

fn of_index(VectorIndexError(cause): VectorIndexError) -> StoreError {
    StoreError { kind: StoreFailure::Unavailable, cause }
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
    ) -> LocalBoxFuture<'a, Result<Pending, StoreError>> {
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

    fn remove_vectors<'a>(&'a self, index: &'a str) -> LocalBoxFuture<'a, Result<(), StoreError>> {
        async move {
            let delete = |sql: &str| self.plain(sql, [index.to_owned()]);
            self.passages.database.batch(statements::DELETE_ALL.map(delete)).await?;
            Ok(())
        }
        .boxed_local()
    }
}
