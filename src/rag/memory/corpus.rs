//! The documents of a store in memory, and the full-text index over their passages.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::limits::RAG_REFUSALS;
use crate::rag::chunks::Chunk;
use crate::rag::chunks::chunk::hashed;
use crate::rag::document::Document;
use crate::rag::filter::Filter;
use crate::rag::fuse::{Similarities, by_meaning};
use crate::rag::impact::{impacts, weight};
use crate::rag::order::ordered;
use crate::rag::passage::{Edge, HEADING_SEPARATOR, Passage, PassageId, Space};
use crate::rag::rank::ByWords;
use crate::rag::search::{Meaning, Search};
use crate::rag::search_result::SearchResult;
use crate::rag::store::Saved;
use crate::rag::store_error::StoreError;
use crate::rag::vector_store::{Pending, dimensions};
use crate::rag::vectors::int8::Int8;
use crate::words::query::{IndexedWord, Words, beginning};

/// The weight of the edges of links: see [`SearchStore::edges`](crate::rag::SearchStore::edges).
const LINK: f64 = 0.9;

/// The documents, by space and name.
#[derive(Debug, Default)]
pub(super) struct Corpus {
    spaces: BTreeMap<(String, String), BTreeMap<String, StoredDocument>>,
    /// The last number that a passage got.
    last_id: PassageId,
    /// The embedding model of each index, and the dimensions of its vectors.
    models: BTreeMap<String, (String, usize)>,
}

#[derive(Debug)]
struct StoredDocument {
    metadata: Map<String, Value>,
    passages: Vec<StoredPassage>,
}

#[derive(Debug)]
struct StoredPassage {
    id: PassageId,
    hash: String,
    heading: String,
    /// The anchor of the section.
    anchor: String,
    text: String,
    /// The documents to which the passage links, with the anchors of their sections.
    links: Vec<(String, String)>,
    /// The stems of the passage with their impacts.
    impacts: BTreeMap<String, u8>,
    vector: Option<Int8>,
    /// How often the model has refused the passage.
    refusals: u8,
}

/// The document and the position of a passage.
#[derive(Clone, Copy)]
struct Place<'c> {
    document: &'c str,
    metadata: &'c Map<String, Value>,
    ordinal: usize,
}

impl StoredPassage {
    fn new(id: PassageId, chunk: &Chunk, hash: String) -> Self {
        let heading = chunk.heading.join(HEADING_SEPARATOR);
        Self {
            id,
            hash,
            impacts: impacts(&heading, &chunk.text).collect(),
            heading,
            anchor: chunk.anchor(),
            text: chunk.text.clone(),
            links: Vec::new(),
            vector: None,
            refusals: 0,
        }
    }

    fn contains(&self, search: &Search) -> bool {
        search.containing.as_ref().is_none_or(|part| self.text.contains(part))
    }

    fn passage(&self, place: &Place<'_>) -> Passage {
        Passage {
            id: self.id,
            document: place.document.to_owned(),
            ordinal: place.ordinal,
            heading: self.heading.clone(),
            text: self.text.clone(),
            metadata: place.metadata.clone(),
        }
    }
}

impl Corpus {
    /// Returns the passages of a space whose documents match the filter, in the order of documents and positions.
    fn visible<'c>(&'c self, space: &Space, filter: &Filter) -> impl Iterator<Item = (Place<'c>, &'c StoredPassage)> {
        self.documents(space, filter).flat_map(|(name, stored)| {
            let place = move |ordinal| Place { document: name, metadata: &stored.metadata, ordinal };
            stored.passages.iter().enumerate().map(move |(ordinal, passage)| (place(ordinal), passage))
        })
    }

    fn documents<'c>(&'c self, space: &Space, filter: &Filter) -> impl Iterator<Item = (&'c str, &'c StoredDocument)> {
        let documents = self.spaces.get(&key(space)).into_iter().flatten();
        documents
            .filter(move |(_, stored)| filter.matches(&stored.metadata))
            .map(|(name, stored)| (name.as_str(), stored))
    }

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
        let Some(vector) = vector else { return Ok(None) };
        let visible = self.visible(space, filter).filter(|(_, stored)| stored.contains(search));
        let vectors = visible.filter_map(|(_, stored)| Some((stored.id, stored.vector.clone()?))).collect();
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
        match self.models.get(index) {
            Some((of_index, length)) => {
                StoreError::check_model((of_index, *length), (model, dimensions.unwrap_or(*length)))
            }
            None => Ok(()),
        }
    }

    pub(super) fn pending(&self, space: &Space, model: &str, most: usize) -> Result<Pending, StoreError> {
        self.check_model(&space.index, model, None)?;
        let all = Filter::default();
        let mut pending: Vec<_> = self.visible(space, &all).filter(|(_, stored)| stored.vector.is_none()).collect();
        let refused = pending.iter().filter(|(_, stored)| stored.refusals > 0).count();
        let count = pending.len().saturating_sub(refused);
        pending.retain(|(_, stored)| stored.refusals < RAG_REFUSALS);
        let first = ordered(pending, |(_, stored)| [stored.refusals.into(), stored.id, 0]).into_iter().take(most);
        Ok(Pending { passages: first.map(|(place, stored)| stored.passage(&place)).collect(), count, refused })
    }

    pub(super) fn refuse(&mut self, space: &Space, ids: &[PassageId]) {
        let documents = self.spaces.get_mut(&key(space)).into_iter().flat_map(BTreeMap::values_mut);
        for stored in documents.flat_map(|document| &mut document.passages).filter(|stored| ids.contains(&stored.id)) {
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
        let mut vectors: BTreeMap<_, _> = vectors.into_iter().collect();
        let documents = self.spaces.get(&key(space)).into_iter().flat_map(BTreeMap::values);
        let mut of_space = documents.flat_map(|document| &document.passages);
        if !of_space.any(|stored| vectors.contains_key(&stored.id)) {
            return Ok(());
        }
        self.check_model(&space.index, model, Some(dimensions))?;
        self.models.insert(space.index.to_string(), (model.to_owned(), dimensions));
        let documents = self.spaces.get_mut(&key(space)).into_iter().flat_map(BTreeMap::values_mut);
        for stored in documents.flat_map(|document| &mut document.passages) {
            if let Some(vector) = vectors.remove(&stored.id) {
                stored.vector = Some(Int8::of(&vector));
            }
        }
        Ok(())
    }

    /// Deletes the vectors of an index.
    pub(super) fn remove_vectors(&mut self, index: &str) {
        self.models.remove(index);
        let of_index = self.spaces.iter_mut().filter(|((name, _), _)| name == index);
        for stored in of_index.flat_map(|(_, documents)| documents.values_mut()).flat_map(|stored| &mut stored.passages)
        {
            stored.vector = None;
            stored.refusals = 0;
        }
    }

    fn by_words(&self, search: &Search) -> Result<ByWords, StoreError> {
        let Search { space, text, filter, containing, most, .. } = search;
        filter.check()?;
        let mut words = Words::of(text);
        if words.is_empty() {
            return Ok(ByWords::default());
        }
        if filter.is_empty() && containing.is_none() && self.is_unknown_index(space) {
            return Err(StoreError::unknown_index(&space.index));
        }
        let mut visible: Vec<_> = self.visible(space, filter).collect();
        let number = u64::try_from(visible.len()).unwrap_or(u64::MAX);
        visible.retain(|(_, stored)| stored.contains(search));
        words.learn(&words_of(&words, visible.iter().map(|(_, stored)| *stored)));
        let weights: Vec<_> = words.iter().map(|(stem, passages)| (stem, weight(passages, number))).collect();
        let score = |stored: &StoredPassage| {
            let of_word =
                |(stem, weight): &(&str, i64)| Some(weight.saturating_mul(stored.impacts.get(*stem).copied()?.into()));
            weights.iter().filter_map(of_word).reduce(i64::saturating_add)
        };
        let found: Vec<_> =
            visible.iter().filter_map(|(place, stored)| Some((score(stored)?, place, stored))).collect();
        let best_first = ordered(found, |(score, _, stored)| [score.saturating_neg(), stored.id, 0]).into_iter();
        let passages = best_first.take(*most).map(|(_, place, stored)| stored.passage(place)).collect();
        Ok(ByWords { words, number, passages })
    }

    /// Returns whether the space has no passages in this index, although it has passages in another one.
    fn is_unknown_index(&self, space: &Space) -> bool {
        let has_passages =
            |documents: &BTreeMap<_, StoredDocument>| documents.values().any(|stored| !stored.passages.is_empty());
        let mut of_space = self.spaces.iter().filter(|((_, name), _)| *name == space.name);
        !self.spaces.get(&key(space)).is_some_and(has_passages)
            && of_space.any(|(_, documents)| has_passages(documents))
    }

    pub(super) fn passages(
        &self,
        space: &Space,
        ids: &[PassageId],
        filter: &Filter,
    ) -> Result<Vec<Passage>, StoreError> {
        filter.check()?;
        let visible: BTreeMap<_, _> = self.visible(space, filter).map(|found| (found.1.id, found)).collect();
        let find = |id| visible.get(id).map(|(place, stored)| stored.passage(place));
        Ok(ids.iter().filter_map(find).collect())
    }

    pub(super) fn neighbours(
        &self,
        space: &Space,
        ids: &[PassageId],
        distance: usize,
        filter: &Filter,
    ) -> Result<Vec<Passage>, StoreError> {
        filter.check()?;
        let visible = || self.visible(space, filter);
        let found: Vec<_> = visible().filter(|(_, stored)| ids.contains(&stored.id)).collect();
        let is_around = |place: &Place<'_>, stored: &StoredPassage| {
            found.iter().any(|(other, of)| {
                place.document == other.document
                    && stored.heading == of.heading
                    && place.ordinal.abs_diff(other.ordinal) <= distance
            })
        };
        let around = visible().filter(|(place, stored)| !ids.contains(&stored.id) && is_around(place, stored));
        let around = around.map(|(place, stored)| stored.passage(&place)).collect();
        Ok(ordered(around, |passage| [passage.id, 0, 0]))
    }

    pub(super) fn edges(
        &self,
        space: &Space,
        seeds: &[PassageId],
        threshold: f64,
        filter: &Filter,
    ) -> Result<Vec<Edge>, StoreError> {
        filter.check()?;
        let mut edges = self.links(space, filter);
        edges.retain(|edge| edge.weight > threshold);
        let seeds: BTreeSet<_> = seeds.iter().copied().collect();
        let near = edges.iter().filter(|edge| seeds.contains(&edge.source)).map(|edge| edge.target);
        let sources: BTreeSet<_> = near.chain(seeds.iter().copied()).collect();
        edges.retain(|edge| sources.contains(&edge.source));
        Ok(edges)
    }

    /// Returns the edges of all links between the passages of a space that match the filter.
    fn links(&self, space: &Space, filter: &Filter) -> Vec<Edge> {
        let documents: BTreeMap<_, _> = self.documents(space, filter).collect();
        let linked = |(document, anchor): &(String, String)| {
            let passages = &documents.get(document.as_str())?.passages;
            let of_section = passages.iter().find(|passage| !anchor.is_empty() && passage.anchor == *anchor);
            of_section.or(passages.first()).map(|passage| passage.id)
        };
        let mut edges = Vec::new();
        for passage in documents.values().flat_map(|stored| &stored.passages) {
            for other in passage.links.iter().filter_map(linked).filter(|other| *other != passage.id) {
                edges.push(Edge { source: passage.id, target: other, weight: LINK });
                edges.push(Edge { source: other, target: passage.id, weight: LINK });
            }
        }
        edges
    }

    pub(super) fn save(&mut self, space: &Space, document: &Document) -> Result<Saved, StoreError> {
        document.check()?;
        let documents = self.spaces.entry(key(space)).or_default();
        let stored = documents.remove(&document.name).map_or_else(Vec::new, |stored| stored.passages);
        let mut stored: BTreeMap<_, _> = stored.into_iter().map(|passage| (passage.hash.clone(), passage)).collect();
        let mut saved = Saved { chunks: document.chunks.len(), ..Saved::default() };
        let mut passages: Vec<StoredPassage> = Vec::new();
        for (chunk, hash) in hashed(&document.chunks) {
            let mut passage = stored.remove(&hash).unwrap_or_else(|| {
                saved.inserted = saved.inserted.saturating_add(1);
                self.last_id = self.last_id.saturating_add(1);
                StoredPassage::new(self.last_id, chunk, hash)
            });
            passage.links.clear();
            passages.push(passage);
        }
        saved.deleted = stored.len();
        for (ordinal, target, section) in document.links() {
            if let Some(passage) = passages.get_mut(ordinal) {
                passage.links.push((target.to_owned(), section));
            }
        }
        let stored = StoredDocument { metadata: document.metadata.clone(), passages };
        documents.insert(document.name.clone(), stored);
        Ok(saved)
    }

    /// Removes a document. Returns whether it had passages.
    pub(super) fn remove(&mut self, space: &Space, document: &str) -> bool {
        let removed = self.spaces.get_mut(&key(space)).and_then(|documents| documents.remove(document));
        removed.is_some_and(|stored| !stored.passages.is_empty())
    }
}

/// Returns the words of the passages that are in the question, or that begin like a word of the question that no passage contains.
fn words_of<'c>(words: &Words, passages: impl Iterator<Item = &'c StoredPassage> + Clone) -> Vec<IndexedWord> {
    let mut found: BTreeMap<&str, u64> = BTreeMap::new();
    let mut add = |stem: &'c str| {
        let passages = found.entry(stem).or_default();
        *passages = passages.saturating_add(1);
    };
    let is_known = |stem: &str| passages.clone().any(|passage| passage.impacts.contains_key(stem));
    let known: BTreeSet<_> = words.stems().filter(|stem| is_known(stem)).collect();
    let unknown = words.correctable().filter(|stem| !known.contains(stem));
    let beginnings: BTreeSet<&str> = unknown.filter_map(beginning).collect();
    for passage in passages {
        known.iter().filter_map(|stem| passage.impacts.get_key_value(*stem)).for_each(|(stem, _)| add(stem));
        for beginning in &beginnings {
            let similar = passage.impacts.range((*beginning).to_owned()..).map(|(stem, _)| stem.as_str());
            let similar = similar.take_while(|stem| stem.starts_with(beginning));
            similar.filter(|stem| !known.contains(stem)).for_each(&mut add);
        }
    }
    found.into_iter().map(|(stem, passages)| IndexedWord { stem: stem.to_owned(), passages }).collect()
}

fn key(space: &Space) -> (String, String) {
    (space.index.to_string(), space.name.clone())
}
