//! The vectors of a store in memory. A search compares all of them.

use std::collections::BTreeMap;

use super::corpus::{Corpus, StoredPassage, key};
use crate::limits::{RAG_EMBEDDING_BATCH, RAG_REFUSALS};
use crate::rag::connections::{NewVector, connections};
use crate::rag::filter::Filter;
use crate::rag::fuse::Similarities;
use crate::rag::order::ordered;
use crate::rag::passage::{PassageId, Space};
use crate::rag::search::{Meaning, Search};
use crate::rag::store_error::StoreError;
use crate::rag::vector_store::{PendingPassages, dimensions};

impl Corpus {
    /// Returns the similarities of all passages to a question with this vector.
    pub(super) fn similar(
        &self,
        search: &Search,
        meaning: &Meaning,
        vector: Option<&[f32]>,
    ) -> Result<Similarities, StoreError> {
        let Search { space, filter, .. } = search;
        filter.check()?;
        self.check_model(&space.index, &meaning.model, vector.map(<[f32]>::len))?;
        let Some(vector) = vector else { return Ok(Similarities::default()) };
        let visible = self.visible(space, filter).filter(|(_, stored)| stored.contains(search));
        let vectors = visible.filter_map(|(_, stored)| Some((stored.id, stored.vector.clone()?)));
        Ok(Similarities::new(vector, vectors.collect()))
    }

    /// # Errors
    /// The vectors of the index come from another model, or have other dimensions.
    fn check_model(&self, index: &str, model: &str, dimensions: Option<usize>) -> Result<(), StoreError> {
        let Some((name, of_index)) = self.models.get(index) else { return Ok(()) };
        StoreError::check_model((name, *of_index), (model, dimensions.unwrap_or(*of_index)))
    }

    pub(super) fn pending(&self, space: &Space, model: &str, most: usize) -> Result<PendingPassages, StoreError> {
        self.check_model(&space.index, model, None)?;
        let all = Filter::default();
        let mut pending: Vec<_> = self.visible(space, &all).filter(|(_, stored)| stored.vector.is_none()).collect();
        let refused = pending.iter().filter(|(_, stored)| stored.refusals > 0).count();
        let count = pending.len().saturating_sub(refused);
        pending.retain(|(_, stored)| stored.refusals < RAG_REFUSALS);
        let first = ordered(pending, |(_, stored)| [stored.refusals.into(), stored.id, 0]).into_iter().take(most);
        Ok(PendingPassages { passages: first.map(|(place, stored)| stored.passage(&place)).collect(), count, refused })
    }

    pub(super) fn refuse(&mut self, space: &Space, ids: &[PassageId]) {
        let pending = self.passages_of(space).filter(|stored| stored.vector.is_none());
        for stored in pending.filter(|stored| ids.contains(&stored.id)) {
            stored.refusals = stored.refusals.saturating_add(1);
        }
    }

    pub(super) fn save_vectors(
        &mut self,
        space: &Space,
        model: &str,
        vectors: Vec<(PassageId, Vec<f32>)>,
    ) -> Result<(), StoreError> {
        let dimensions = dimensions(&vectors)?;
        let vectors = vectors.into_iter().filter(|(id, _)| self.passages_of(space).any(|stored| stored.id == *id));
        let new: Vec<_> = vectors.map(|(id, vector)| NewVector::new(id, vector)).collect();
        if new.is_empty() {
            return Ok(());
        }
        self.check_model(&space.index, model, Some(dimensions))?;
        self.models.entry(space.index.to_string()).or_insert_with(|| (model.to_owned(), dimensions));
        for batch in new.chunks(RAG_EMBEDDING_BATCH) {
            self.save_batch(space, batch);
        }
        Ok(())
    }

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

    /// Deletes the vectors of an index.
    pub(super) fn remove_vectors(&mut self, index: &str) {
        self.models.remove(index);
        let spaces = self.spaces.iter_mut().filter(|((name, _), _)| name == index);
        for stored in spaces.flat_map(|(_, documents)| documents.values_mut()).flat_map(|stored| &mut stored.passages) {
            (stored.vector, stored.refusals) = (None, 0);
            self.similar_passages.remove(stored.id);
        }
    }

    fn passages_of(&mut self, space: &Space) -> impl Iterator<Item = &mut StoredPassage> {
        let documents = self.spaces.get_mut(&key(space)).into_iter().flat_map(BTreeMap::values_mut);
        documents.flat_map(|document| &mut document.passages)
    }
}
