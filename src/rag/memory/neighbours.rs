//! The connections of similar passages in a store in memory.

use std::collections::{BTreeMap, BTreeSet};

use crate::limits::RAG_NEIGHBOURS_KEPT;
use crate::rag::order::{descending, ordered};
use crate::rag::passage::PassageId;

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
