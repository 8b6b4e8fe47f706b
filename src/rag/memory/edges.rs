//! The edges between the passages of a store in memory: links, and similar vectors.

use std::collections::{BTreeMap, BTreeSet};

use super::corpus::{Corpus, StoredPassage};
use crate::limits::{RAG_GRAPH_NODES, RAG_READ_EDGES};
use crate::rag::filter::Filter;
use crate::rag::order::{descending, ordered};
use crate::rag::passage::{Edge, PassageId, Space};
use crate::rag::store_error::StoreError;

/// The weight of the edges of links: see [`SearchStore::edges`](crate::rag::SearchStore::edges).
const LINK: f64 = 0.9;

impl Corpus {
    pub(super) fn edges(
        &self,
        space: &Space,
        seeds: &[PassageId],
        threshold: f64,
        filter: &Filter,
    ) -> Result<Vec<Edge>, StoreError> {
        filter.check()?;
        let mut edges = self.links(space, filter);
        edges.extend(self.edges_of_similar(space, filter));
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

    /// Returns the edges of all links between the passages of a space that match the filter.
    fn links(&self, space: &Space, filter: &Filter) -> Vec<Edge> {
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
    fn edges_of_similar(&self, space: &Space, filter: &Filter) -> Vec<Edge> {
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
