//! The vectors of a store in memory. A search compares all of them.

use std::collections::BTreeMap;

use futures::FutureExt;
use futures::future::ready;

use super::corpus::{Corpus, StoredPassage, key};
use crate::limits::{RAG_EMBEDDING_BATCH, RAG_REFUSALS};
use crate::rag::connections::{NewVector, connections};
use crate::rag::filter::Filter;
use crate::rag::memory::MemoryStore;
use crate::rag::order::ordered;
use crate::rag::passage::{PassageId, Space};
use crate::rag::store::StoreFuture;
use crate::rag::vector_store::{PassageVectors, PendingPassages, VectorStore, dimensions};

impl VectorStore for MemoryStore {
    fn pending<'a>(&'a self, space: &'a Space, model: &'a str, most: usize) -> StoreFuture<'a, PendingPassages> {
        async move {
            let corpus = self.0.borrow();
            corpus.check_model(&space.index, model, None)?;
            let all = Filter::default();
            let mut pending: Vec<_> =
                corpus.visible(space, &all).filter(|(_, stored)| stored.vector.is_none()).collect();
            let refused = pending.iter().filter(|(_, stored)| stored.refusals > 0).count();
            let count = pending.len().saturating_sub(refused);
            pending.retain(|(_, stored)| stored.refusals < RAG_REFUSALS);
            let first = ordered(pending, |(_, stored)| [stored.refusals.into(), stored.id, 0]).into_iter().take(most);
            Ok(PendingPassages {
                passages: first.map(|(place, stored)| stored.passage(&place)).collect(),
                count,
                refused,
            })
        }
        .boxed_local()
    }

    fn save_vectors<'a>(&'a self, space: &'a Space, model: &'a str, vectors: PassageVectors) -> StoreFuture<'a, ()> {
        async move {
            let mut corpus = self.0.borrow_mut();
            let dimensions = dimensions(&vectors)?;
            let vectors =
                vectors.into_iter().filter(|(id, _)| corpus.passages_of(space).any(|stored| stored.id == *id));
            let new: Vec<_> = vectors.map(|(id, vector)| NewVector::new(id, vector)).collect();
            if new.is_empty() {
                return Ok(());
            }
            corpus.check_model(&space.index, model, Some(dimensions))?;
            corpus.models.entry(space.index.to_string()).or_insert_with(|| (model.to_owned(), dimensions));
            for batch in new.chunks(RAG_EMBEDDING_BATCH) {
                corpus.save_batch(space, batch);
            }
            Ok(())
        }
        .boxed_local()
    }

    fn refuse<'a>(&'a self, space: &'a Space, ids: &'a [PassageId]) -> StoreFuture<'a, ()> {
        let mut corpus = self.0.borrow_mut();
        let pending = corpus.passages_of(space).filter(|stored| stored.vector.is_none());
        for stored in pending.filter(|stored| ids.contains(&stored.id)) {
            stored.refusals = stored.refusals.saturating_add(1);
        }
        ready(Ok(())).boxed_local()
    }

    fn remove_vectors<'a>(&'a self, index: &'a str) -> StoreFuture<'a, ()> {
        let Corpus { spaces, models, similar_passages, .. } = &mut *self.0.borrow_mut();
        models.remove(index);
        let spaces = spaces.iter_mut().filter(|((name, _), _)| name == index);
        for stored in spaces.flat_map(|(_, documents)| documents.values_mut()).flat_map(|stored| &mut stored.passages) {
            (stored.vector, stored.refusals) = (None, 0);
            similar_passages.remove(stored.id);
        }
        ready(Ok(())).boxed_local()
    }
}

impl Corpus {
    /// Saves vectors with the connections of their passages.
    fn save_batch(&mut self, space: &Space, new: &[NewVector]) {
        let mut new_vectors: BTreeMap<_, _> = new.iter().map(|new| (new.id, &new.int8)).collect();
        let mut stored = Vec::new();
        for passage in self.passages_of(space) {
            match new_vectors.remove(&passage.id) {
                Some(vector) => passage.vector = Some(vector.clone()),
                None => stored.extend(passage.vector.clone().map(|vector| (passage.id, vector))),
            }
        }
        self.similar_passages.add(connections(new, &stored));
    }

    fn passages_of(&mut self, space: &Space) -> impl Iterator<Item = &mut StoredPassage> {
        let documents = self.spaces.get_mut(&key(space)).into_iter().flat_map(BTreeMap::values_mut);
        documents.flat_map(|document| &mut document.passages)
    }
}
