//! The settings of reranking, and the order of passages by the scores of a scorer.

use std::rc::Rc;
use std::time::Duration;

use futures::FutureExt;

use super::Scorer;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::host::{in_time, log};
use crate::limits::{RERANK_CANDIDATES, RERANK_PASSAGE_BYTES, RERANK_SECONDS};
use crate::models::{Deadline, ModelFailure};
use crate::rag::order::{descending, ordered};
use crate::rag::search_result::{FoundPassage, SearchResult};
use crate::rag::stages::{SearchStage, StageFuture, StageInput};

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
#[must_use]
pub struct Rerank {
    scorer: Rc<dyn Scorer>,
    semantic: f64,
    vector: f64,
    position: f64,
    top_k: Option<usize>,
}

impl Rerank {
    /// Creates the settings with the default weights.
    pub fn by(scorer: impl Scorer + 'static) -> Self {
        Self { scorer: Rc::new(scorer), semantic: 0.4, vector: 0.4, position: 0.2, top_k: None }
    }

    /// Sets the weight of the scorer's score: 0.4 by default. The scale does not matter, only the ratio of the three weights.
    pub fn semantic(mut self, weight: f64) -> Self {
        self.semantic = weight;
        self
    }

    /// Sets the weight of the similarity of the vectors: 0.4 by default.
    pub fn vector(mut self, weight: f64) -> Self {
        self.vector = weight;
        self
    }

    /// Sets the weight of the position before reranking: 0.2 by default.
    pub fn position(mut self, weight: f64) -> Self {
        self.position = weight;
        self
    }

    /// Sets the number of passages that stay after reranking. Without it, all that the caller asked for stay.
    pub fn top_k(mut self, number: usize) -> Self {
        self.top_k = Some(number);
        self
    }

    /// Returns how many passages a search must find, if the caller asks for `top_k`.
    pub(super) fn candidates(top_k: usize) -> usize {
        top_k.saturating_mul(3).clamp(LEAST, RERANK_CANDIDATES)
    }

    /// Returns how many passages stay, if the caller asks for `top_k`.
    pub(super) fn kept(&self, top_k: usize) -> usize {
        self.top_k.unwrap_or(top_k)
    }

    /// Orders the first passages by their new scores, the best first. Passages with equal scores stay in their order.
    ///
    /// # Errors
    /// There are no usable scores, so the passages did not change. The log should get the cause of the error.
    pub(super) async fn order(
        &self,
        question: &str,
        passages: &mut Vec<FoundPassage>,
        cx: &Context,
    ) -> Result<(), HandlerError> {
        passages.truncate(RERANK_CANDIDATES);
        if passages.is_empty() {
            return Ok(());
        }
        let cut =
            |text: &str| text.get(..text.floor_char_boundary(RERANK_PASSAGE_BYTES)).unwrap_or_default().to_owned();
        let texts = passages.iter().map(|found| cut(&found.passage.text)).collect();
        let deadline = deadline(cx);
        let scores = self.scorer.score(question, texts, cx);
        let scores = in_time(async { Ok(scores.await) }, cx.host().sleep(deadline.left(cx))).await;
        let scores = scores.unwrap_or_else(|_| Err(deadline.failure().error("reranker", 1)))?;
        let problem = if scores.len() != passages.len() {
            "it does not have a score for each passage"
        } else if scores.iter().any(|score| score.is_nan() || *score == f64::INFINITY) {
            "a score is not finite"
        } else {
            self.set_scores(passages, &scores);
            *passages = ordered(std::mem::take(passages), |found| [descending(found.score), 0, 0]);
            return Ok(());
        };
        Err(ModelFailure::Broken(problem).error("reranker", 1))
    }

    /// Sets the scores of passages. `scores` has a score for each passage, or negative infinity.
    fn set_scores(&self, passages: &mut [FoundPassage], scores: &[f64]) {
        let [of_semantic, of_vector, of_position] =
            self.weights(passages.iter().any(|found| found.similarity.is_some()));
        // Some rerankers return the logarithm of the odds and not a probability.
        let are_odds = scores.iter().any(|score| score.is_finite() && !(0.0..=1.0).contains(score));
        let count = number(passages.len());
        for (at, (found, score)) in passages.iter_mut().zip(scores).enumerate() {
            let semantic = match *score {
                f64::NEG_INFINITY => 0.0,
                score if are_odds => 1.0 / (1.0 + (-score).exp()),
                score => score,
            };
            let vector = found.similarity.map_or(0.0, |cosine| cosine.clamp(0.0, 1.0));
            let position = 1.0 - number(at) / count;
            found.score = of_semantic * semantic + of_vector * vector + of_position * position;
            found.rerank = Some(semantic);
        }
    }

    /// Returns the weights of the scorer, the vectors and the position, scaled so that their sum is 1. Without vectors, their weight is 0.
    fn weights(&self, has_vectors: bool) -> [f64; 3] {
        let vector = if has_vectors { self.vector } else { 0.0 };
        let most = self.semantic.max(vector).max(self.position);
        // All weights that are left are 0, so nothing changes the order.
        if most <= 0.0 {
            return [0.0, 0.0, 1.0];
        }
        // The sum of the largest numbers would be infinite.
        let scaled = [self.semantic, vector, self.position].map(|weight| weight / most);
        scaled.map(|weight| weight / scaled.iter().sum::<f64>())
    }
}

fn number(count: usize) -> f64 {
    f64::from(u32::try_from(count).unwrap_or(u32::MAX))
}

/// Returns the deadline of a scorer.
pub(super) fn deadline(cx: &Context) -> Deadline {
    Deadline::within_call(Duration::from_secs(RERANK_SECONDS), cx)
}

impl SearchStage for Rerank {
    fn problem(&self) -> Option<String> {
        let weights = [("semantic", self.semantic), ("vector", self.vector), ("position", self.position)];
        let wrong = weights.iter().find(|(_, weight)| !weight.is_finite() || *weight < 0.0);
        let wrong = wrong.map(|(name, _)| format!("the weight `{name}` of `Rerank` must be a number from 0"));
        let is_zero = weights.iter().all(|(_, weight)| *weight == 0.0);
        wrong.or_else(|| is_zero.then(|| "a weight of `Rerank` must be more than 0".into()))
    }

    fn apply<'a>(&'a self, mut found: SearchResult, input: &'a StageInput<'a>) -> StageFuture<'a> {
        async move {
            input.cx.progress(2.0, None, "Reranking");
            found.passages.truncate(Self::candidates(input.top_k));
            match self.order(&input.search.text, &mut found.passages, input.cx).await {
                // The retriever keeps some passages of each document, and then as many as the caller asked for.
                Ok(()) => found.passages.truncate(self.kept(found.passages.len())),
                Err(error) => {
                    log::warning(input.cx.host(), "rag", error.cause());
                    found.remark("The passages are in the order of the search, because the reranker failed.");
                }
            }
            Ok(found)
        }
        .boxed_local()
    }
}
