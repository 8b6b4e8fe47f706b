//! The connections of passages with similar vectors. A store saves them with the vectors, so all stores have the same ones.

use std::collections::BTreeMap;

use super::order::{descending, ordered};
use super::passage::PassageId;
use super::vectors::int8::Int8;
use crate::limits::RAG_NEIGHBOURS;

/// Passages with a lower similarity are not connected.
const LEAST_SIMILARITY: f64 = 0.3;

/// A vector to save, in both forms.
pub(super) struct NewVector {
    pub(super) id: PassageId,
    pub(super) vector: Vec<f32>,
    pub(super) int8: Int8,
}

impl NewVector {
    pub(super) fn new(id: PassageId, vector: Vec<f32>) -> Self {
        Self { id, int8: Int8::of(&vector), vector }
    }
}

/// Returns the connections of each new passage with the most similar ones, in both directions. `stored` has the vectors of the stored passages
/// that are near to one of the new passages.
pub(super) fn connections(new: &[NewVector], stored: &[(PassageId, Int8)]) -> BTreeMap<(PassageId, PassageId), f64> {
    let mut edges = BTreeMap::new();
    for NewVector { id, int8, .. } in new {
        let of_batch = new.iter().filter(|other| other.id != *id).map(|other| (other.id, &other.int8));
        let others = stored.iter().map(|(id, vector)| (*id, vector)).chain(of_batch);
        let similar = others.map(|(other, vector)| (other, int8.cosine(vector)));
        let similar = similar.filter(|(_, cosine)| *cosine > LEAST_SIMILARITY).collect();
        let nearest = ordered(similar, |(other, cosine)| [descending(*cosine), *other, 0]);
        for (other, cosine) in nearest.into_iter().take(RAG_NEIGHBOURS) {
            edges.extend([((*id, other), cosine), ((other, *id), cosine)]);
        }
    }
    edges
}
