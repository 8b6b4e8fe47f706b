//! A store in memory.

mod corpus;
mod edges;
#[cfg(test)]
mod tests;
mod vectors;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use futures::FutureExt;
use futures::future::ready;

use super::document::Document;
use super::filter::Filter;
use super::fuse::by_meaning;
use super::order::{descending, ordered};
use super::passage::{Edge, Passage, PassageId, Space};
use super::rank::ByWords;
use super::search::Search;
use super::search_result::SearchResult;
use super::store::{SaveCounts, SaveStore, SearchStore, StoreFuture};
use super::store_error::StoreError;
use crate::limits::{RAG_GRAPH_NODES, RAG_READ_EDGES};
use corpus::{Corpus, PassagePlace, StoredPassage};

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
    fn search(&self, search: Search) -> StoreFuture<'_, SearchResult> {
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
    ) -> StoreFuture<'a, Vec<Passage>> {
        async move {
            let corpus = self.0.borrow();
            filter.check()?;
            let visible: BTreeMap<_, _> = corpus.visible(space, filter).map(|found| (found.1.id, found)).collect();
            let find = |id| visible.get(id).map(|(place, stored)| stored.passage(place));
            Ok(ids.iter().filter_map(find).collect())
        }
        .boxed_local()
    }

    fn neighbours<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        distance: usize,
        filter: &'a Filter,
    ) -> StoreFuture<'a, Vec<Passage>> {
        async move {
            let corpus = self.0.borrow();
            filter.check()?;
            let all = Filter::default();
            let found: Vec<_> = corpus.visible(space, &all).filter(|(_, stored)| ids.contains(&stored.id)).collect();
            let is_around = |place: &PassagePlace<'_>, stored: &StoredPassage| {
                found.iter().any(|(other, of)| {
                    place.document == other.document
                        && stored.heading == of.heading
                        && place.ordinal.abs_diff(other.ordinal) <= distance
                })
            };
            let around = corpus
                .visible(space, filter)
                .filter(|(place, stored)| !ids.contains(&stored.id) && is_around(place, stored));
            let around = around.map(|(place, stored)| stored.passage(&place)).collect();
            Ok(ordered(around, |passage| [passage.id, 0, 0]))
        }
        .boxed_local()
    }

    fn edges<'a>(
        &'a self,
        space: &'a Space,
        seeds: &'a [PassageId],
        threshold: f64,
        filter: &'a Filter,
    ) -> StoreFuture<'a, Vec<Edge>> {
        async move {
            let corpus = self.0.borrow();
            filter.check()?;
            let mut edges = corpus.edges_of_links(space, filter);
            edges.extend(corpus.edges_of_similar(space, filter));
            edges.retain(|edge| edge.weight > threshold);
            let mut sources: BTreeSet<_> = seeds.iter().copied().collect();
            let mut around: BTreeMap<PassageId, f64> = BTreeMap::new();
            for edge in edges.iter().filter(|edge| sources.contains(&edge.source) && !sources.contains(&edge.target)) {
                let heaviest = around.entry(edge.target).or_default();
                *heaviest = heaviest.max(edge.weight);
            }
            let heaviest_first = ordered(around.into_iter().collect(), |(id, weight)| [descending(*weight), *id, 0]);
            let most = RAG_GRAPH_NODES.saturating_sub(seeds.len());
            sources.extend(heaviest_first.into_iter().take(most).map(|(id, _)| id));
            edges.retain(|edge| sources.contains(&edge.source));
            let mut edges = ordered(edges, |edge| [descending(edge.weight), edge.target, edge.source]);
            edges.truncate(RAG_READ_EDGES);
            Ok(edges)
        }
        .boxed_local()
    }
}

impl SaveStore for MemoryStore {
    fn save<'a>(&'a self, space: &'a Space, document: &'a Document) -> StoreFuture<'a, SaveCounts> {
        ready(self.0.borrow_mut().save(space, document)).boxed_local()
    }

    fn remove<'a>(&'a self, space: &'a Space, document: &'a str) -> StoreFuture<'a, bool> {
        ready(Ok(self.0.borrow_mut().remove(space, document))).boxed_local()
    }
}
