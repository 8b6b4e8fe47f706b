//! The edges between the passages of a store in memory: links, and similar vectors.

use std::collections::BTreeMap;

use super::corpus::{Corpus, StoredPassage};
use crate::rag::filter::Filter;
use crate::rag::passage::{Edge, Space};

/// The weight of the edges of links: see [`SearchStore::edges`](crate::rag::SearchStore::edges).
const LINK: f64 = 0.9;

impl Corpus {
    /// Returns the edges of all links between the passages of a space that match the filter.
    pub(super) fn edges_of_links(&self, space: &Space, filter: &Filter) -> Vec<Edge> {
        let mut documents: BTreeMap<&str, Vec<&StoredPassage>> = BTreeMap::new();
        for (place, stored) in self.visible(space, filter) {
            documents.entry(place.document).or_default().push(stored);
        }
        let linked = |(document, anchor): &(String, String)| {
            let passages = documents.get(document.as_str())?;
            let of_section = passages.iter().find(|passage| !anchor.is_empty() && passage.anchor == *anchor);
            of_section.or(passages.first()).map(|passage| passage.id)
        };
        let mut edges = Vec::new();
        for passage in documents.values().flatten() {
            for other in passage.links.iter().filter_map(linked) {
                edges.push(Edge { source: passage.id, target: other, weight: LINK });
                edges.push(Edge { source: other, target: passage.id, weight: LINK });
            }
        }
        edges
    }

    /// Returns the edges between the similar passages of different documents of a space that match the filter.
    pub(super) fn edges_of_similar(&self, space: &Space, filter: &Filter) -> Vec<Edge> {
        let documents: BTreeMap<_, _> =
            self.visible(space, filter).map(|(place, stored)| (stored.id, place.document)).collect();
        let mut edges = Vec::new();
        for (source, document) in &documents {
            let similar = self.similar_passages.of(*source);
            let of_others = similar.filter(|(target, _)| documents.get(target).is_some_and(|other| other != document));
            edges.extend(of_others.map(|(target, weight)| Edge { source: *source, target, weight }));
        }
        edges
    }
}
