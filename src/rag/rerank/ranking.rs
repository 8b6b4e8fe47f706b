//! The order of passages by the scores of a scorer.

use crate::rag::order::{descending, ordered};

/// A passage before reranking.
#[derive(Clone, Copy, Debug)]
pub(in crate::rag) struct Candidate<'a> {
    pub(in crate::rag) text: &'a str,
    /// The cosine of the angle between the vectors of the question and the passage.
    pub(in crate::rag) similarity: Option<f64>,
}

/// A passage after reranking.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::rag) struct Reranked {
    /// The position of the passage in the list of candidates.
    pub(in crate::rag) candidate: usize,
    /// The score that determines the order, from 0 to 1.
    pub(in crate::rag) score: f64,
    /// The score of the scorer, from 0 to 1.
    pub(in crate::rag) semantic: f64,
}

/// The weights of the parts of a score, in any scale.
#[derive(Clone, Copy, Debug)]
pub(super) struct Weights {
    pub(super) semantic: f64,
    pub(super) vector: f64,
    pub(super) position: f64,
}

impl Weights {
    /// Returns the problem with the weights, if there is one.
    pub(super) fn problem(self) -> Option<String> {
        let weights = [("semantic", self.semantic), ("vector", self.vector), ("position", self.position)];
        let wrong = weights.iter().find(|(_, weight)| !weight.is_finite() || *weight < 0.0);
        let wrong = wrong.map(|(name, _)| format!("the weight `{name}` of `Rerank` must be a number from 0"));
        let is_zero = weights.iter().all(|(_, weight)| *weight == 0.0);
        wrong.or_else(|| is_zero.then(|| "a weight of `Rerank` must be more than 0".into()))
    }

    /// Scales the weights so that their sum is 1. Without vectors, the weight of vectors is 0.
    fn scaled(self, has_vectors: bool) -> Self {
        let vector = if has_vectors { self.vector } else { 0.0 };
        let most = self.semantic.max(vector).max(self.position);
        // All weights that are left are 0, so nothing changes the order.
        if most <= 0.0 {
            return Self { semantic: 0.0, vector: 0.0, position: 1.0 };
        }
        // The sum of the largest numbers would be infinite.
        let [semantic, vector, position] = [self.semantic, vector, self.position].map(|weight| weight / most);
        let sum = semantic + vector + position;
        Self { semantic: semantic / sum, vector: vector / sum, position: position / sum }
    }
}

/// Returns the candidates in their new order, the best first. Candidates with equal scores stay in their order. `scores` has a score for each
/// candidate, or negative infinity.
///
/// # Errors
/// The problem with the scores.
pub(super) fn ranked(
    weights: Weights,
    candidates: &[Candidate<'_>],
    scores: &[f64],
) -> Result<Vec<Reranked>, &'static str> {
    if scores.len() != candidates.len() {
        return Err("it does not have a score for each passage");
    }
    if scores.iter().any(|score| score.is_nan() || *score == f64::INFINITY) {
        return Err("a score is not finite");
    }
    let weights = weights.scaled(candidates.iter().any(|candidate| candidate.similarity.is_some()));
    // Some rerankers return the logarithm of the odds and not a probability.
    let are_odds = scores.iter().any(|score| score.is_finite() && !(0.0..=1.0).contains(score));
    let count = number(candidates.len());
    let mut reranked = Vec::with_capacity(candidates.len());
    for (candidate, (Candidate { similarity, .. }, score)) in candidates.iter().zip(scores).enumerate() {
        let semantic = match *score {
            f64::NEG_INFINITY => 0.0,
            score if are_odds => 1.0 / (1.0 + (-score).exp()),
            score => score,
        };
        let vector = similarity.map_or(0.0, |cosine| cosine.clamp(0.0, 1.0));
        let position = 1.0 - number(candidate) / count;
        let score = weights.semantic * semantic + weights.vector * vector + weights.position * position;
        reranked.push(Reranked { candidate, score, semantic });
    }
    Ok(ordered(reranked, |passage| [descending(passage.score), 0, 0]))
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}
