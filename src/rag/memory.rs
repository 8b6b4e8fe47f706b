//! A store in memory.

mod corpus;
mod edges;
#[cfg(test)]
mod tests;
mod vectors;

use std::cell::RefCell;

use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};

use super::document::Document;
use super::filter::Filter;
use super::fuse::by_meaning;
use super::passage::{Edge, Passage, PassageId, Space};
use super::rank::ByWords;
use super::search::Search;
use super::search_result::SearchResult;
use super::store::{SaveStore, Saved, SearchStore};
use super::store_error::StoreError;
use super::vector_store::{PendingPassages, VectorStore};
use corpus::Corpus;

/// A store in memory, for tests and for small documents that do not change.
///
/// It finds the same passages and connections as [`SqliteVectors`](super::SqliteVectors), in the same order. A search reads all passages of the
/// space, and compares all vectors. In a large space, it can so find passages that are not among the
/// [candidates](super::Retriever::candidates) of a store in SQLite.
///
/// ```
/// use edge_mcp::rag::{ChunkOptions, Document, MemoryStore, SaveStore, Search, SearchStore, Space, chunks};
/// use edge_mcp::testing;
///
/// testing::run(async {
///     let store = MemoryStore::new();
///     let space = Space { index: "docs".into(), name: String::new() };
///     let chunks = chunks("# Tea\n\nWarm the pot.", &ChunkOptions::new());
///     let tea = Document { name: "tea".into(), metadata: Default::default(), chunks };
///     store.save(&space, &tea).await.unwrap();
///
///     let search = Search { space, ..Search::new("How do I warm pots?") };
///     assert_eq!(store.search(search).await.unwrap().passages[0].passage.document, "tea");
/// });
/// ```
#[derive(Debug, Default)]
pub struct MemoryStore(RefCell<Corpus>);

impl MemoryStore {
    /// Creates an empty store.
    pub fn new() -> Self {
        Self::default()
    }

    /// Creates a store with documents, such as the files that a Worker contains. Unlike [`save`](SaveStore::save), it is not async, so an
    /// endpoint function can call it.
    ///
    /// # Errors
    /// A document is [not valid](Document::check).
    ///
    /// ```
    /// use edge_mcp::rag::{ChunkOptions, Document, MemoryStore, Space, StoreError, chunks};
    ///
    /// // In a file of its own: include_str!("../handbook/tea.md")
    /// const TEA: &str = "# Tea\n\nWarm the pot.";
    ///
    /// fn handbook() -> Result<MemoryStore, StoreError> {
    ///     let space = Space { index: "handbook".into(), ..Space::default() };
    ///     let chunks = chunks(TEA, &ChunkOptions::new());
    ///     MemoryStore::of(&space, &[Document { name: "tea".into(), chunks, ..Document::default() }])
    /// }
    /// # assert!(handbook().is_ok());
    /// ```
    pub fn of(space: &Space, documents: &[Document]) -> Result<Self, StoreError> {
        let mut corpus = Corpus::default();
        for document in documents {
            corpus.save(space, document)?;
        }
        Ok(Self(RefCell::new(corpus)))
    }
}

impl SearchStore for MemoryStore {
    fn search(&self, search: Search) -> LocalBoxFuture<'_, Result<SearchResult, StoreError>> {
        async move {
            let Some(meaning) = &search.meaning else { return Ok(self.0.borrow().by_words(&search)?.ranked()) };
            let vector = meaning.vector().await;
            let similar = self.0.borrow().similar(&search, meaning, vector.as_deref());
            let by_words =
                if meaning.is_required() { ByWords::default() } else { self.0.borrow().by_words(&search)? };
            by_meaning(self, by_words, similar, &search, meaning).await
        }
        .boxed_local()
    }

    fn passages<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Passage>, StoreError>> {
        ready(self.0.borrow().passages(space, ids, filter)).boxed_local()
    }

    fn neighbours<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        distance: usize,
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Passage>, StoreError>> {
        ready(self.0.borrow().neighbours(space, ids, distance, filter)).boxed_local()
    }

    fn edges<'a>(
        &'a self,
        space: &'a Space,
        seeds: &'a [PassageId],
        threshold: f64,
        filter: &'a Filter,
    ) -> LocalBoxFuture<'a, Result<Vec<Edge>, StoreError>> {
        ready(self.0.borrow().edges(space, seeds, threshold, filter)).boxed_local()
    }
}

impl SaveStore for MemoryStore {
    fn save<'a>(&'a self, space: &'a Space, document: &'a Document) -> LocalBoxFuture<'a, Result<Saved, StoreError>> {
        ready(self.0.borrow_mut().save(space, document)).boxed_local()
    }

    fn remove<'a>(&'a self, space: &'a Space, document: &'a str) -> LocalBoxFuture<'a, Result<bool, StoreError>> {
        ready(Ok(self.0.borrow_mut().remove(space, document))).boxed_local()
    }
}

impl VectorStore for MemoryStore {
    fn pending<'a>(
        &'a self,
        space: &'a Space,
        model: &'a str,
        most: usize,
    ) -> LocalBoxFuture<'a, Result<PendingPassages, StoreError>> {
        ready(self.0.borrow().pending(space, model, most)).boxed_local()
    }

    fn save_vectors<'a>(
        &'a self,
        space: &'a Space,
        model: &'a str,
        vectors: Vec<(PassageId, Vec<f32>)>,
    ) -> LocalBoxFuture<'a, Result<(), StoreError>> {
        ready(self.0.borrow_mut().save_vectors(space, model, vectors)).boxed_local()
    }

    fn refuse<'a>(&'a self, space: &'a Space, ids: &'a [PassageId]) -> LocalBoxFuture<'a, Result<(), StoreError>> {
        self.0.borrow_mut().refuse(space, ids);
        ready(Ok(())).boxed_local()
    }

    fn remove_vectors<'a>(&'a self, index: &'a str) -> LocalBoxFuture<'a, Result<(), StoreError>> {
        self.0.borrow_mut().remove_vectors(index);
        ready(Ok(())).boxed_local()
    }
}
