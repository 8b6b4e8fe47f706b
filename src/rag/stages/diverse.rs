//! The preference for different passages.

use edge_json::number::text;
use futures::FutureExt;
use futures::future::ready;

use super::{SearchStage, StageFuture, StageInput};
use crate::limits::RAG_CANDIDATES;
use crate::rag::order::{descending, rearranged};
use crate::rag::search_result::SearchResult;
use crate::rag::vectors::int8::Int8;

/// The weight of the score against the similarity to better passages.
pub(in crate::rag) struct Diverse(pub(in crate::rag) f64);

impl SearchStage for Diverse {
    fn problem(&self) -> Option<String> {
        (!(0.0..=1.0).contains(&self.0)).then(|| format!("`diverse` must be from 0 to 1 (got {})", text(self.0)))
    }

    fn apply<'a>(&'a self, mut found: SearchResult, input: &'a StageInput<'a>) -> StageFuture<'a> {
        found.passages.truncate(RAG_CANDIDATES);
        let scores: Vec<_> = found.passages.iter().map(|found| found.score).collect();
        let vectors: Vec<_> = found.passages.iter().map(|found| found.vector.as_deref().map(Int8::of)).collect();
        let order = diverse(&scores, &vectors, self.0, found.passages.len());
        found.passages = rearranged(found.passages, order);
        if !input.includes_vectors {
            for found in &mut found.passages {
                found.vector = None;
            }
        }
        ready(Ok(found)).boxed_local()
    }
}

/// Returns the positions of at most `most` items in their new order: each next item has the greatest
/// `lambda * score - (1 - lambda) * greatest cosine to those taken`. An item without a vector has no cosine. Of equal items, the first one
/// is taken.
///
/// `lambda` is 0 to 1: 1 is the order of the scores. The time grows with the product of `most` and the number of items.
fn diverse(scores: &[f64], vectors: &[Option<Int8>], lambda: f64, most: usize) -> Vec<usize> {
    let mut left: Vec<Candidate<'_>> = scores
        .iter()
        .enumerate()
        .map(|(position, score)| {
            let vector = vectors.get(position).and_then(Option::as_ref);
            Candidate { position, relevance: lambda * score, vector, similarity: None }
        })
        .collect();
    let mut order = Vec::new();
    while order.len() < most {
        let value =
            |candidate: &Candidate<'_>| candidate.relevance - (1.0 - lambda) * candidate.similarity.unwrap_or_default();
        let best = left.iter().enumerate().min_by_key(|(_, candidate)| descending(value(candidate)));
        let Some((best, _)) = best else { break };
        let taken = left.remove(best);
        order.push(taken.position);
        let Some(taken) = taken.vector else { continue };
        for candidate in &mut left {
            let cosine = candidate.vector.map(|vector| vector.cosine(taken));
            candidate.similarity = cosine.map(|cosine| cosine.max(candidate.similarity.unwrap_or(cosine)));
        }
    }
    order
}

/// An item that is not taken yet.
struct Candidate<'v> {
    position: usize,
    /// The share of the score.
    relevance: f64,
    vector: Option<&'v Int8>,
    /// The greatest cosine to an item that is taken.
    similarity: Option<f64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn vectors(all: &[&[f32]]) -> Vec<Option<Int8>> {
        all.iter().map(|vector| (!vector.is_empty()).then(|| Int8::of(vector))).collect()
    }

    /// R74: an item that is like a better one comes later.
    #[test]
    fn similar_items_come_later() {
        let vectors = vectors(&[&[1.0, 0.0], &[1.0, 0.0], &[0.0, 1.0], &[0.0, 1.0]]);
        let scores = [0.9, 0.8, 0.5, 0.4];
        assert_eq!(diverse(&scores, &vectors, 1.0, 9), [0, 1, 2, 3]);
        assert_eq!(diverse(&scores, &vectors, 0.5, 9), [0, 2, 1, 3]);
        assert_eq!(diverse(&scores, &vectors, 0.5, 2), [0, 2]);
        assert_eq!(diverse(&scores, &vectors, 0.5, 0), [0; 0]);
        assert_eq!(diverse(&[], &[], 0.5, 9), [0; 0]);
    }

    /// R74: the greatest cosine counts, also if it is negative.
    #[test]
    fn the_greatest_cosine_counts() {
        // The third item is like the first one only, and the last item is like none.
        let four = vectors(&[&[1.0, 0.0], &[0.0, 1.0], &[1.0, 0.0], &[-1.0, -1.0]]);
        assert_eq!(diverse(&[1.0, 0.9, 0.6, -0.2], &four, 0.5, 9), [0, 1, 3, 2]);
        let opposite = vectors(&[&[1.0], &[], &[-1.0]]);
        assert_eq!(diverse(&[1.0, 0.5, 0.1], &opposite, 0.5, 9), [0, 2, 1]);
    }

    /// R74: an item without a vector has no cosine, and equal items stay in their order.
    #[test]
    fn items_without_a_vector_keep_their_scores() {
        assert_eq!(diverse(&[0.1, 0.3, 0.2, 0.3], &[], 0.5, 9), [1, 3, 2, 0]);
        let vectors = vectors(&[&[1.0], &[1.0], &[]]);
        assert_eq!(diverse(&[0.9, 0.8, 0.1], &vectors, 0.5, 9), [0, 2, 1]);
    }
}
