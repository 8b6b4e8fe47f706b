//! The documents of a store in memory, and the full-text index over their passages.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::limits::RAG_NEIGHBOURS_KEPT;
use crate::rag::chunks::Chunk;
use crate::rag::chunks::chunk::hashed;
use crate::rag::document::Document;
use crate::rag::filter::Filter;
use crate::rag::fuse::Similarities;
use crate::rag::impact::{impacts, weight};
use crate::rag::order::{descending, ordered};
use crate::rag::passage::{HEADING_SEPARATOR, Passage, PassageId, Space};
use crate::rag::rank::ByWords;
use crate::rag::search::{Meaning, Search};
use crate::rag::store::SaveCounts;
use crate::rag::store_error::StoreError;
use crate::rag::vectors::int8::Int8;
use crate::words::query::{IndexedWord, Words, beginning};

/// The documents, by space and name.
#[derive(Debug, Default)]
pub(super) struct Corpus {
    pub(super) spaces: BTreeMap<(String, String), BTreeMap<String, StoredDocument>>,
    /// The last number that a passage got.
    last_id: PassageId,
    /// The embedding model of each index, with the number of its dimensions.
    pub(super) models: BTreeMap<String, (String, usize)>,
    pub(super) similar_passages: SimilarPassages,
}

#[derive(Debug)]
pub(super) struct StoredDocument {
    metadata: Map<String, Value>,
    pub(super) passages: Vec<StoredPassage>,
}

#[derive(Debug)]
pub(super) struct StoredPassage {
    pub(super) id: PassageId,
    hash: String,
    pub(super) heading: String,
    /// The anchor of the section.
    pub(super) anchor: String,
    text: String,
    /// The metadata, if the chunk has metadata of its own.
    metadata: Option<Map<String, Value>>,
    /// The documents to which the passage links, with the anchors of their sections.
    pub(super) links: BTreeSet<(String, String)>,
    /// The stems of the passage with their impacts.
    impacts: BTreeMap<String, u8>,
    pub(super) vector: Option<Int8>,
    /// How often the model has refused the passage.
    pub(super) refusals: u8,
}

/// The most similar passages of each passage, with the cosines of their vectors.
#[derive(Debug, Default)]
pub(super) struct SimilarPassages(BTreeMap<PassageId, BTreeMap<PassageId, f64>>);

impl SimilarPassages {
    /// Adds connections. Of each passage, the heaviest connections stay.
    pub(super) fn add(&mut self, connections: BTreeMap<(PassageId, PassageId), f64>) {
        let changed: BTreeSet<_> = connections.keys().map(|(source, _)| *source).collect();
        for ((source, target), weight) in connections {
            self.0.entry(source).or_default().insert(target, weight);
        }
        for source in changed {
            let connections = self.0.remove(&source).unwrap_or_default().into_iter().collect();
            let heaviest_first = ordered(connections, |(target, weight)| [descending(*weight), *target, 0]);
            self.0.insert(source, heaviest_first.into_iter().take(RAG_NEIGHBOURS_KEPT).collect());
        }
    }

    /// Returns the similar passages of a passage, with their weights.
    pub(super) fn of(&self, passage: PassageId) -> impl Iterator<Item = (PassageId, f64)> {
        self.0.get(&passage).into_iter().flatten().map(|(target, weight)| (*target, *weight))
    }

    /// Removes the connections of a passage, in both directions.
    pub(super) fn remove(&mut self, passage: PassageId) {
        self.0.remove(&passage);
        for of_source in self.0.values_mut() {
            of_source.remove(&passage);
        }
    }
}

/// The document and the position of a passage, and its metadata.
#[derive(Clone, Copy)]
pub(super) struct PassagePlace<'c> {
    pub(super) document: &'c str,
    metadata: &'c Map<String, Value>,
    pub(super) ordinal: usize,
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
            metadata: None,
            links: BTreeSet::new(),
            vector: None,
            refusals: 0,
        }
    }

    pub(super) fn contains(&self, search: &Search) -> bool {
        search.containing.as_ref().is_none_or(|part| self.text.contains(part))
    }

    pub(super) fn passage(&self, place: &PassagePlace<'_>) -> Passage {
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
    /// Returns the passages of a space that match the filter, in the order of documents and positions.
    pub(super) fn visible<'c>(
        &'c self,
        space: &Space,
        filter: &Filter,
    ) -> impl Iterator<Item = (PassagePlace<'c>, &'c StoredPassage)> {
        let documents = self.spaces.get(&key(space)).into_iter().flatten();
        let passages = documents.flat_map(|(document, stored)| {
            stored.passages.iter().enumerate().map(move |(ordinal, passage)| {
                let metadata = passage.metadata.as_ref().unwrap_or(&stored.metadata);
                (PassagePlace { document, metadata, ordinal }, passage)
            })
        });
        passages.filter(move |(place, _)| filter.matches(place.metadata))
    }

    /// Finds passages by their words.
    pub(super) fn by_words(&self, search: &Search) -> Result<ByWords, StoreError> {
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
    pub(super) fn check_model(&self, index: &str, model: &str, dimensions: Option<usize>) -> Result<(), StoreError> {
        let Some((name, of_index)) = self.models.get(index) else { return Ok(()) };
        StoreError::check_model((name, *of_index), (model, dimensions.unwrap_or(*of_index)))
    }

    pub(super) fn save(&mut self, space: &Space, document: &Document) -> Result<SaveCounts, StoreError> {
        document.check()?;
        let documents = self.spaces.entry(key(space)).or_default();
        let stored = documents.remove(&document.name).map_or_else(Vec::new, |stored| stored.passages);
        let mut stored: BTreeMap<_, _> = stored.into_iter().map(|passage| (passage.hash.clone(), passage)).collect();
        let mut saved = SaveCounts { chunks: document.chunks.len(), ..SaveCounts::default() };
        let mut passages: Vec<StoredPassage> = Vec::new();
        for (chunk, hash) in hashed(&document.chunks) {
            let mut passage = stored.remove(&hash).unwrap_or_else(|| {
                saved.inserted = saved.inserted.saturating_add(1);
                self.last_id = self.last_id.saturating_add(1);
                StoredPassage::new(self.last_id, chunk, hash)
            });
            passage.metadata = document.metadata_of(chunk);
            passage.links.clear();
            passages.push(passage);
        }
        saved.deleted = stored.len();
        for removed in stored.values() {
            self.similar_passages.remove(removed.id);
        }
        for (ordinal, target, section) in document.links() {
            if let Some(passage) = passages.get_mut(ordinal) {
                passage.links.insert((target.to_owned(), section));
            }
        }
        let stored = StoredDocument { metadata: document.metadata.clone(), passages };
        documents.insert(document.name.clone(), stored);
        Ok(saved)
    }

    /// Removes a document. Returns whether it had passages.
    pub(super) fn remove(&mut self, space: &Space, document: &str) -> bool {
        let removed = self.spaces.get_mut(&key(space)).and_then(|documents| documents.remove(document));
        let removed = removed.map(|stored| stored.passages).unwrap_or_default();
        for stored in &removed {
            self.similar_passages.remove(stored.id);
        }
        !removed.is_empty()
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

pub(super) fn key(space: &Space) -> (String, String) {
    (space.index.to_string(), space.name.clone())
}
