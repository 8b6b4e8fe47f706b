//! The vectors of a store in memory. They are saved and searched as in SQLite, with codes and a centre, so both stores find the same passages.

use std::collections::{BTreeMap, BTreeSet};

use super::corpus::{Corpus, IndexModel, StoredPassage, StoredVector, key};
use crate::limits::{RAG_EMBEDDING_BATCH, RAG_NEIGHBOUR_CANDIDATES, RAG_REFUSALS};
use crate::rag::connections::{NewVector, connections};
use crate::rag::filter::Filter;
use crate::rag::fuse::{Similarities, by_meaning};
use crate::rag::order::ordered;
use crate::rag::passage::{Passage, PassageId, Space};
use crate::rag::rank::ByWords;
use crate::rag::search::{Meaning, Search};
use crate::rag::search_result::SearchResult;
use crate::rag::store_error::StoreError;
use crate::rag::vector_store::{PendingPassages, dimensions};
use crate::rag::vectors::code::{code, mean};
use crate::rag::vectors::scan::{CodePage, Codes, is_centred};

/// Returns the codes of the passages that have vectors.
fn codes<'c>(centre: &[f32], passages: impl Iterator<Item = &'c StoredPassage>) -> Codes {
    let mut page = CodePage::default();
    for (id, vector) in passages.filter_map(|stored| Some((stored.id, stored.vector.as_ref()?))) {
        page.ids.push(id);
        page.codes.push_str(&vector.code);
    }
    Codes { centre: centre.to_vec(), pages: vec![page] }
}

impl Corpus {
    /// Finds passages by their words and, if there is a vector of the question, by their meaning.
    pub(super) fn search(&self, search: &Search, vector: Option<&[f32]>) -> Result<SearchResult, StoreError> {
        let Some(meaning) = &search.meaning else { return Ok(self.by_words(search)?.ranked()) };
        let by_words = if meaning.is_required() { ByWords::default() } else { self.by_words(search)? };
        let similar = self.similar(search, meaning, vector, &by_words);
        if meaning.is_required() && matches!(similar, Ok(None)) {
            // The search by words fails if the index does not exist.
            self.by_words(search)?;
        }
        by_meaning(by_words, similar, search, meaning)
    }

    /// Returns the similarities of the nearest passages, and of those that were found by their words. Also returns the passages that were not
    /// found by their words.
    fn similar(
        &self,
        search: &Search,
        meaning: &Meaning,
        vector: Option<&[f32]>,
        by_words: &ByWords,
    ) -> Result<Option<(Similarities, Vec<Passage>)>, StoreError> {
        let Search { space, filter, .. } = search;
        filter.check()?;
        self.check_model(&space.index, &meaning.model, vector.map(<[f32]>::len))?;
        let (Some(vector), Some(model)) = (vector, self.models.get(&*space.index)) else { return Ok(None) };
        let visible = self.visible(space, filter).map(|(_, stored)| stored);
        let visible: Vec<_> = visible.filter(|stored| stored.contains(search)).collect();
        let near = codes(&model.centre, visible.iter().copied()).near(vector, meaning.candidates);
        let mut ids: BTreeSet<_> = near.unwrap_or_default().into_iter().collect();
        ids.extend(by_words.passages.iter().map(|passage| passage.id));
        let vector_of = |stored: &&StoredPassage| Some((stored.id, stored.vector.as_ref()?.int8.clone()));
        let vectors = visible.iter().filter(|stored| ids.contains(&stored.id)).filter_map(vector_of).collect();
        let similarities = Similarities::new(vector, vectors);
        if similarities.is_empty() {
            return Ok(None);
        }
        let new = similarities.new_passages(by_words, meaning, search.most);
        let new = self.passages(space, &new, filter)?;
        Ok(Some((similarities, new)))
    }

    /// # Errors
    /// The vectors of the index come from another model, or have other dimensions.
    fn check_model(&self, index: &str, model: &str, dimensions: Option<usize>) -> Result<(), StoreError> {
        let Some(of_index) = self.models.get(index) else { return Ok(()) };
        let dimensions = dimensions.unwrap_or(of_index.dimensions);
        StoreError::check_model((&of_index.name, of_index.dimensions), (model, dimensions))
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
        let documents = self.spaces.get_mut(&key(space)).into_iter().flat_map(BTreeMap::values_mut);
        let pending = documents.flat_map(|document| &mut document.passages).filter(|stored| stored.vector.is_none());
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
        let of_space: BTreeSet<_> = self.of_space(space).map(|stored| stored.id).collect();
        let vectors = vectors.into_iter().filter(|(id, _)| of_space.contains(id));
        let new: Vec<_> = vectors.map(|(id, vector)| NewVector::new(id, vector)).collect();
        if new.is_empty() {
            return Ok(());
        }
        self.check_model(&space.index, model, Some(dimensions))?;
        for batch in new.chunks(RAG_EMBEDDING_BATCH) {
            self.save_batch(space, model, dimensions, batch);
        }
        Ok(())
    }

    fn save_batch(&mut self, space: &Space, model: &str, dimensions: usize, new: &[NewVector]) {
        let of_index = self.models.entry(space.index.to_string()).or_insert_with(|| IndexModel {
            name: model.to_owned(),
            dimensions,
            saved: 0,
            centre: Vec::new(),
            generation: 0,
        });
        of_index.saved = of_index.saved.saturating_add(new.len());
        let is_centred = is_centred(of_index.generation, of_index.saved);
        let centre = of_index.centre.clone();
        self.connect(space, &centre, new);
        if is_centred {
            let codes = new.iter().map(|new| (new.id, code(&new.vector, &centre))).collect();
            self.write(&space.index, new, codes);
        } else {
            self.write_with_new_centre(&space.index, new);
        }
    }

    /// Adds the connections of new passages with the most similar ones.
    fn connect(&mut self, space: &Space, centre: &[f32], new: &[NewVector]) {
        let codes = codes(centre, self.of_space(space));
        let near = |new: &NewVector| codes.near(&new.vector, Some(RAG_NEIGHBOUR_CANDIDATES)).unwrap_or_default();
        let mut near: BTreeSet<_> = new.iter().flat_map(near).collect();
        near.retain(|id| new.iter().all(|new| new.id != *id));
        let vector = |stored: &StoredPassage| Some((stored.id, stored.vector.as_ref()?.int8.clone()));
        let stored: Vec<_> =
            self.of_space(space).filter(|stored| near.contains(&stored.id)).filter_map(vector).collect();
        self.neighbours.add(connections(new, &stored));
    }

    /// Calculates the centre of an index, and writes new vectors with the codes of all vectors.
    fn write_with_new_centre(&mut self, index: &str, new: &[NewVector]) {
        let documents = self.spaces.iter().filter(|((name, _), _)| name == index).flat_map(|(_, of)| of.values());
        let stored = documents.flat_map(|document| &document.passages);
        let vector = |stored: &StoredPassage| Some((stored.id, stored.vector.as_ref()?.int8.to_floats()));
        let mut all: BTreeMap<_, _> = stored.filter_map(vector).collect();
        all.extend(new.iter().map(|new| (new.id, new.vector.clone())));
        let Some(model) = self.models.get_mut(index) else { return };
        model.centre = mean(all.values(), model.dimensions);
        model.generation = model.generation.saturating_add(1);
        let codes = all.iter().map(|(id, vector)| (*id, code(vector, &model.centre))).collect();
        self.write(index, new, codes);
    }

    /// Writes new vectors and codes to the passages of an index.
    fn write(&mut self, index: &str, new: &[NewVector], mut codes: BTreeMap<PassageId, String>) {
        let mut new: BTreeMap<_, _> = new.iter().map(|new| (new.id, &new.int8)).collect();
        for stored in self.of_index(index) {
            if let Some(int8) = new.remove(&stored.id) {
                stored.vector = Some(StoredVector { int8: int8.clone(), code: String::new() });
            }
            if let (Some(vector), Some(code)) = (&mut stored.vector, codes.remove(&stored.id)) {
                vector.code = code;
            }
        }
    }

    /// Deletes the vectors of an index.
    pub(super) fn remove_vectors(&mut self, index: &str) {
        self.models.remove(index);
        let mut removed = Vec::new();
        for stored in self.of_index(index) {
            (stored.vector, stored.refusals) = (None, 0);
            removed.push(stored.id);
        }
        for id in removed {
            self.neighbours.remove(id);
        }
    }

    /// Returns the passages of a space.
    fn of_space(&self, space: &Space) -> impl Iterator<Item = &StoredPassage> {
        let documents = self.spaces.get(&key(space)).into_iter().flat_map(BTreeMap::values);
        documents.flat_map(|document| &document.passages)
    }

    /// Returns the passages of all spaces of an index.
    fn of_index(&mut self, index: &str) -> impl Iterator<Item = &mut StoredPassage> {
        let spaces = self.spaces.iter_mut().filter(move |((name, _), _)| name == index);
        spaces.flat_map(|(_, documents)| documents.values_mut()).flat_map(|document| &mut document.passages)
    }
}
