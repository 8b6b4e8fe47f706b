//! Stores with vectors of their passages.

use super::passage::{Passage, PassageId, Space};
use super::store::{SaveStore, StoreFuture};
use super::store_error::{StoreError, StoreFailure};
use crate::limits::RAG_DIMENSIONS;

/// Saves vectors of passages, and finds passages by them. An [`Indexer`](super::Indexer) calculates the vectors.
///
/// All vectors of an index come from one embedding model, whose name the store records.
pub trait VectorStore: SaveStore {
    /// Returns passages of a space that have no vector: at most `most`, in the order of their refusals, and then of their numbers. A passage
    /// that was refused 3 times is left out.
    ///
    /// # Errors
    /// The index has vectors of another model ([`StoreFailure::OtherModel`](super::StoreFailure::OtherModel)), or the store does not respond.
    fn pending<'a>(&'a self, space: &'a Space, model: &'a str, most: usize) -> StoreFuture<'a, PendingPassages>;

    /// Saves vectors of length 1 for passages of a space: all of them, or none. Passages that no longer exist, and passages of other spaces,
    /// are ignored.
    ///
    /// # Errors
    /// The index has vectors of another model or another length, a vector is not valid, or the store does not respond.
    fn save_vectors<'a>(&'a self, space: &'a Space, model: &'a str, vectors: PassageVectors) -> StoreFuture<'a, ()>;

    /// Counts a refusal of each of these passages of a space by the model.
    ///
    /// # Errors
    /// The store does not respond.
    fn refuse<'a>(&'a self, space: &'a Space, ids: &'a [PassageId]) -> StoreFuture<'a, ()>;

    /// Deletes the vectors of all spaces of an index, its model and the refusals. The next vectors can come from another model.
    ///
    /// # Errors
    /// The store does not respond.
    fn remove_vectors<'a>(&'a self, index: &'a str) -> StoreFuture<'a, ()>;
}

/// The numbers of passages, with their vectors.
pub type PassageVectors = Vec<(PassageId, Vec<f32>)>;

/// Passages without a vector.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PendingPassages {
    /// Some of the passages.
    pub passages: Vec<Passage>,
    /// The number of all passages without a vector that were not refused.
    pub count: usize,
    /// The number of refused passages, also of those that are not tried again.
    pub refused: usize,
}

/// Returns the number of dimensions of vectors to save.
///
/// # Errors
/// The vectors have different lengths or too many dimensions, or one of them has no direction.
pub(super) fn dimensions(vectors: &[(PassageId, Vec<f32>)]) -> Result<usize, StoreError> {
    let dimensions = vectors.first().map_or(0, |(_, vector)| vector.len());
    let is_valid = |vector: &[f32]| {
        vector.len() == dimensions
            && vector.iter().all(|value| value.is_finite())
            && vector.iter().any(|value| *value != 0.0)
    };
    if dimensions <= RAG_DIMENSIONS && vectors.iter().all(|(_, vector)| is_valid(vector)) {
        return Ok(dimensions);
    }
    let cause = format!(
        "vectors must have equal lengths, at most {RAG_DIMENSIONS}, and finite numbers that are not all zero: nothing was saved"
    );
    Err(StoreError { kind: StoreFailure::Unavailable, cause })
}
