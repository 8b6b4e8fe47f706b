//! Reranking: a model that reads a question together with passages orders the passages again.
//!
//! A [`Scorer`] returns a score for each passage.

mod chat;
mod model;
mod settings;
#[cfg(test)]
mod tests;

use std::future::Future;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::call::context::Context;
use crate::call::error::HandlerError;

pub use chat::ChatScorer;
pub use model::RerankModel;
pub use settings::Rerank;

/// Scores how well passages answer a question, such as a [`RerankModel`].
///
/// An async function of the question, the passages and the context is a scorer:
///
/// ```
/// use edge_mcp::rag::Rerank;
/// use edge_mcp::{Context, HandlerError};
///
/// async fn short_first(_question: String, passages: Vec<String>, _cx: Context) -> Result<Vec<f64>, HandlerError> {
///     Ok(passages.iter().map(|passage| 1.0 / passage.len().max(1) as f64).collect())
/// }
///
/// let rerank = Rerank::by(short_first);
/// ```
pub trait Scorer {
    /// Returns one number for each passage, in order. A greater number is a better passage. A passage without a score has
    /// [`f64::NEG_INFINITY`], and counts as the worst. Every other number is finite.
    ///
    /// The library calls it with at most 50 passages of at most 1500 bytes, and waits 10 s for the answer.
    ///
    /// # Errors
    /// There are no scores. The passages keep their order. The cause of the error is for the log, and contains neither the question nor a
    /// passage.
    fn score(
        &self,
        question: &str,
        passages: Vec<String>,
        cx: &Context,
    ) -> LocalBoxFuture<'static, Result<Vec<f64>, HandlerError>>;
}

impl<F, R> Scorer for F
where
    F: Fn(String, Vec<String>, Context) -> R,
    R: Future<Output = Result<Vec<f64>, HandlerError>> + 'static,
{
    fn score(
        &self,
        question: &str,
        passages: Vec<String>,
        cx: &Context,
    ) -> LocalBoxFuture<'static, Result<Vec<f64>, HandlerError>> {
        self(question.to_owned(), passages, cx.clone()).boxed_local()
    }
}
