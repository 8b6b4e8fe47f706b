//! The documents of a store in memory, and the full-text index over their passages.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

use crate::rag::chunks::Chunk;
use crate::rag::chunks::chunk::hashed;
use crate::rag::filter::Filter;
use crate::rag::order::{descending, ordered};
use crate::rag::query::{IndexedWord, Query};
use crate::rag::rescore::HEADING_SEPARATOR;
use crate::rag::stem::stem;
use crate::rag::store::{Document, Edge, Matches, Passage, PassageId, Saved, Search, Space, StoreError};
use crate::rag::words::{fold, words};

/// The weights of edges: see [`PassageStore::edges`](crate::rag::PassageStore::edges).
const SAME_SECTION: f64 = 1.0;
const LINK: f64 = 0.9;
const SAME_DOCUMENT: f64 = 0.75;

/// The weight of a word in the path of headings. A word in the text has the weight 1.
const HEADING: f64 = 5.0;
/// The parameters of `bm25` in FTS5, and the least weight of a word.
const K1: f64 = 1.2;
const B: f64 = 0.75;
const LEAST_WEIGHT: f64 = 1e-6;

/// The documents, by space and name.
#[derive(Debug, Default)]
pub(super) struct Corpus {
    spaces: BTreeMap<(String, String), BTreeMap<String, StoredDocument>>,
    /// The last number that a passage got.
    last_id: PassageId,
    /// For each stem, the number of passages that contain it.
    vocabulary: BTreeMap<String, u64>,
    /// The number of passages in all spaces.
    passages: u64,
    /// The number of words of all passages.
    length: f64,
}

#[derive(Debug)]
struct StoredDocument {
    metadata: Map<String, Value>,
    links: Vec<String>,
    passages: Vec<StoredPassage>,
}

#[derive(Debug)]
struct StoredPassage {
    id: PassageId,
    hash: String,
    heading: String,
    text: String,
    /// For each stem, how often it occurs. An occurrence in the headings counts [`HEADING`].
    occurrences: BTreeMap<String, f64>,
    /// The number of words.
    length: f64,
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
        let mut passage =
            Self { id, hash, heading, text: chunk.text.clone(), occurrences: BTreeMap::new(), length: 0.0 };
        for (text, weight) in [(&passage.heading, HEADING), (&passage.text, 1.0)] {
            for word in words(text).map(fold).filter(|word| !word.is_empty()) {
                *passage.occurrences.entry(stem(&word)).or_default() += weight;
                passage.length += 1.0;
            }
        }
        passage
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

    pub(super) fn search(&self, search: Search) -> Result<Matches, StoreError> {
        let Search { space, mut query, filter, most } = search;
        filter.check()?;
        if self.passages > 0 && !self.has_index(&space) {
            return Err(StoreError::unknown_index(&space.index));
        }
        query.learn(&self.words_of(&query));
        let weights: Vec<_> = query.stems().map(|stem| (stem, self.weight(stem))).collect();
        let found: Vec<_> = (self.visible(&space, &filter))
            .filter_map(|(place, stored)| Some((self.score(&weights, stored)?, place, stored)))
            .collect();
        let best_first = ordered(&found, |(score, _, stored)| [descending(*score), stored.id, 0]).into_iter();
        let passages = best_first.take(most).map(|(_, place, stored)| stored.passage(&place)).collect();
        Ok(Matches { query, indexed: self.passages, passages })
    }

    /// Returns whether any space of the index has passages.
    fn has_index(&self, space: &Space) -> bool {
        let of_index = self.spaces.iter().filter(|((index, _), _)| *index == space.index);
        of_index.flat_map(|(_, documents)| documents.values()).any(|document| !document.passages.is_empty())
    }

    /// Returns the words of the index that are in the query, or that resemble a word of the query that no passage contains.
    fn words_of(&self, query: &Query) -> Vec<IndexedWord> {
        let mut found = BTreeMap::new();
        for asked in query.stems() {
            if let Some(passages) = self.vocabulary.get(asked) {
                found.insert(asked, *passages);
                continue;
            }
            let beginning: String = asked.chars().take(2).collect();
            let similar =
                self.vocabulary.range(beginning.clone()..).take_while(|(word, _)| word.starts_with(&beginning));
            found.extend(similar.map(|(word, passages)| (word.as_str(), *passages)));
        }
        found.into_iter().map(|(stem, passages)| IndexedWord { stem: stem.to_owned(), passages }).collect()
    }

    /// The weight of a word in `bm25`.
    // Rounding does not matter beyond 2^53 passages.
    #[allow(clippy::cast_precision_loss)]
    fn weight(&self, stem: &str) -> f64 {
        let containing = self.vocabulary.get(stem).copied().unwrap_or_default() as f64;
        let weight = ((self.passages as f64 - containing + 0.5) / (containing + 0.5)).ln();
        if weight > 0.0 { weight } else { LEAST_WEIGHT }
    }

    /// Returns the score of a passage, or `None` if it contains none of the words.
    #[allow(clippy::cast_precision_loss)]
    fn score(&self, weights: &[(&str, f64)], passage: &StoredPassage) -> Option<f64> {
        let mean_length = self.length / (self.passages as f64).max(1.0);
        let half = K1 * (1.0 - B + B * passage.length / mean_length.max(1.0));
        let of_word = |(stem, weight): &(&str, f64)| {
            let count = passage.occurrences.get(*stem)?;
            Some(weight * (count * (K1 + 1.0) / (count + half)))
        };
        let scores: Vec<f64> = weights.iter().filter_map(of_word).collect();
        (!scores.is_empty()).then(|| scores.iter().sum())
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

    pub(super) fn edges(
        &self,
        space: &Space,
        seeds: &[PassageId],
        threshold: f64,
        filter: &Filter,
    ) -> Result<Vec<Edge>, StoreError> {
        filter.check()?;
        let mut edges = self.all_edges(space, filter);
        edges.retain(|edge| edge.weight > threshold);
        let seeds: BTreeSet<_> = seeds.iter().copied().collect();
        let near = edges.iter().filter(|edge| seeds.contains(&edge.source)).map(|edge| edge.target);
        let sources: BTreeSet<_> = near.chain(seeds.iter().copied()).collect();
        edges.retain(|edge| sources.contains(&edge.source));
        Ok(edges)
    }

    /// Returns all edges between the passages of a space that match the filter.
    fn all_edges(&self, space: &Space, filter: &Filter) -> Vec<Edge> {
        let documents: BTreeMap<_, _> = self.documents(space, filter).collect();
        let mut edges = Vec::new();
        let mut connect = |one: PassageId, other: PassageId, weight| {
            edges.push(Edge { source: one, target: other, weight });
            edges.push(Edge { source: other, target: one, weight });
        };
        for stored in documents.values() {
            for (one, other) in stored.passages.iter().zip(stored.passages.iter().skip(1)) {
                connect(one.id, other.id, if one.heading == other.heading { SAME_SECTION } else { SAME_DOCUMENT });
            }
            let first = |document: &&StoredDocument| document.passages.first().map(|passage| passage.id);
            let Some(one) = first(stored) else { continue };
            for other in stored.links.iter().filter_map(|name| first(documents.get(name.as_str())?)) {
                if one != other {
                    connect(one, other, LINK);
                }
            }
        }
        edges
    }

    pub(super) fn save(&mut self, space: &Space, document: &Document) -> Result<Saved, StoreError> {
        document.check()?;
        let stored = self.take(space, &document.name).map_or_else(Vec::new, |stored| stored.passages);
        let mut stored: BTreeMap<_, _> = stored.into_iter().map(|passage| (passage.hash.clone(), passage)).collect();
        let mut saved = Saved { chunks: document.chunks.len(), ..Saved::default() };
        let mut passages = Vec::new();
        for (chunk, hash) in hashed(&document.chunks) {
            passages.push(stored.remove(&hash).unwrap_or_else(|| {
                saved.inserted = saved.inserted.saturating_add(1);
                self.last_id = self.last_id.saturating_add(1);
                StoredPassage::new(self.last_id, chunk, hash)
            }));
        }
        saved.deleted = stored.len();
        let links = document.targets().map(str::to_owned).collect();
        self.put(space, &document.name, StoredDocument { metadata: document.metadata.clone(), links, passages });
        Ok(saved)
    }

    /// Removes a document. Returns whether it had passages.
    pub(super) fn remove(&mut self, space: &Space, document: &str) -> bool {
        self.take(space, document).is_some_and(|stored| !stored.passages.is_empty())
    }

    /// Adds a document to the index.
    fn put(&mut self, space: &Space, name: &str, document: StoredDocument) {
        for passage in &document.passages {
            self.passages = self.passages.saturating_add(1);
            self.length += passage.length;
            for stem in passage.occurrences.keys() {
                let passages = self.vocabulary.entry(stem.clone()).or_default();
                *passages = passages.saturating_add(1);
            }
        }
        self.spaces.entry(key(space)).or_default().insert(name.to_owned(), document);
    }

    /// Removes a document from the index.
    fn take(&mut self, space: &Space, name: &str) -> Option<StoredDocument> {
        let document = self.spaces.get_mut(&key(space))?.remove(name)?;
        for passage in &document.passages {
            self.passages = self.passages.saturating_sub(1);
            self.length -= passage.length;
            for stem in passage.occurrences.keys() {
                let left = self.vocabulary.get_mut(stem).map_or(0, |passages| {
                    *passages = passages.saturating_sub(1);
                    *passages
                });
                if left == 0 {
                    self.vocabulary.remove(stem);
                }
            }
        }
        Some(document)
    }
}

fn key(space: &Space) -> (String, String) {
    (space.index.to_string(), space.name.clone())
}
