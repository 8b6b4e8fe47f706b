//! The settings of reranking.

use std::rc::Rc;
use std::time::Duration;

use super::Scorer;
use super::ranking::{Candidate, Reranked, Weights, ranked};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::host::in_time;
use crate::limits::{RERANK_CANDIDATES, RERANK_PASSAGE_BYTES, RERANK_SECONDS};
use crate::models::{Deadline, ModelFailure};

/// The least number of passages that are reranked.
const LEAST: usize = 30;

/// The settings of reranking: the scorer, and the weights of its scores.
///
/// The new score of a passage is a weighted mean of three numbers from 0 to 1: the score of the scorer, the similarity of the vectors of
/// question and passage, and the position before reranking. Without vectors, it is the mean of the other two. So reranking also improves a
/// search by words, and it needs no stored vectors.
///
/// ```
/// use edge_mcp::rag::{Rerank, RerankModel};
///
/// let model = RerankModel::new("https://models.example.com/v1", "reranker")?;
/// let rerank = Rerank::by(model).semantic(0.8).vector(0.1).position(0.1).top_k(5);
/// # Ok::<_, edge_mcp::ConfigError>(())
/// ```
#[derive(Clone)]
pub struct Rerank {
    scorer: Rc<dyn Scorer>,
    weights: Weights,
    top_k: Option<usize>,
}

impl Rerank {
    /// Creates the settings with the default weights.
    pub fn by(scorer: impl Scorer + 'static) -> Self {
        let weights = Weights { semantic: 0.4, vector: 0.4, position: 0.2 };
        Self { scorer: Rc::new(scorer), weights, top_k: None }
    }

    /// Sets the weight of the scorer's score: 0.4 by default. The scale does not matter, only the ratio of the three weights.
    #[must_use]
    pub fn semantic(mut self, weight: f64) -> Self {
        self.weights.semantic = weight;
        self
    }

    /// Sets the weight of the similarity of the vectors: 0.4 by default.
    #[must_use]
    pub fn vector(mut self, weight: f64) -> Self {
        self.weights.vector = weight;
        self
    }

    /// Sets the weight of the position before reranking: 0.2 by default.
    #[must_use]
    pub fn position(mut self, weight: f64) -> Self {
        self.weights.position = weight;
        self
    }

    /// Sets the number of passages that stay after reranking. Without it, all that the caller asked for stay.
    #[must_use]
    pub fn top_k(mut self, number: usize) -> Self {
        self.top_k = Some(number);
        self
    }

    /// Returns the problem with the weights, if there is one.
    pub(in crate::rag) fn problem(&self) -> Option<String> {
        self.weights.problem()
    }

    /// Returns how many passages a search must find, if the caller asks for `top_k`.
    pub(in crate::rag) fn candidates(top_k: usize) -> usize {
        top_k.saturating_mul(3).clamp(LEAST, RERANK_CANDIDATES)
    }

    /// Returns how many passages stay, if the caller asks for `top_k`.
    pub(in crate::rag) fn kept(&self, top_k: usize) -> usize {
        self.top_k.unwrap_or(top_k)
    }

    /// Returns the new order of the first candidates, at most [`RERANK_CANDIDATES`].
    ///
    /// # Errors
    /// There are no usable scores. The order should stay as it is, and the log should get the cause of the error.
    pub(in crate::rag) async fn order(
        &self,
        question: &str,
        candidates: &[Candidate<'_>],
        cx: &Context,
    ) -> Result<Vec<Reranked>, HandlerError> {
        let candidates = candidates.get(..RERANK_CANDIDATES).unwrap_or(candidates);
        if candidates.is_empty() {
            return Ok(Vec::new());
        }
        let cut =
            |text: &str| text.get(..text.floor_char_boundary(RERANK_PASSAGE_BYTES)).unwrap_or_default().to_owned();
        let passages = candidates.iter().map(|candidate| cut(candidate.text)).collect();
        let deadline = deadline(cx);
        let scores = self.scorer.score(question, passages, cx);
        let scores = in_time(async { Ok(scores.await) }, cx.host().sleep(deadline.left(cx))).await;
        let scores = scores.unwrap_or_else(|_| Err(failed(deadline.failure())))?;
        ranked(self.weights, candidates, &scores).map_err(|problem| failed(ModelFailure::Broken(problem)))
    }
}

fn failed(failure: ModelFailure) -> HandlerError {
    failure.error("reranker", 1)
}

/// Returns the deadline of a scorer.
pub(super) fn deadline(cx: &Context) -> Deadline {
    Deadline::within_call(Duration::from_secs(RERANK_SECONDS), cx)
}
