//! Embeddings: vectors of texts, whose angle shows how similar the texts are.

pub(crate) mod checked;
mod model;
#[cfg(test)]
mod tests;
mod wire;

use std::time::Duration;

use futures::future::LocalBoxFuture;

use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::limits::{EMBEDDING_PASSAGES_SECONDS, EMBEDDING_QUERY_SECONDS};

pub use model::EmbeddingModel;

/// Returns vectors of texts, such as an [`EmbeddingModel`].
///
/// The library calls it with at most 100 texts, or 100 000 bytes, and one batch at a time. It checks the vectors and scales them to length 1.
/// A query has 10 s, and a batch of passages 60 s.
///
/// ```
/// use edge_mcp::rag::{Embedder, Purpose};
/// use edge_mcp::{Context, HandlerError};
/// use futures::future::{FutureExt, LocalBoxFuture, ready};
///
/// /// Counts the letters a to z.
/// struct Letters;
///
/// impl Embedder for Letters {
///     fn model(&self) -> String {
///         "letters".into()
///     }
///
///     fn embed(
///         &self,
///         texts: Vec<String>,
///         _: Purpose,
///         _: &Context,
///     ) -> LocalBoxFuture<'static, Result<Vec<Vec<f32>>, HandlerError>> {
///         let count = |text: &String| ('a'..='z').map(|letter| text.matches(letter).count() as f32).collect();
///         ready(Ok(texts.iter().map(count).collect())).boxed_local()
///     }
/// }
/// ```
pub trait Embedder {
    /// Returns the name of the model with the settings that change its vectors. It is recorded with the vectors, because vectors of
    /// different models cannot be compared.
    fn model(&self) -> String;

    /// Returns one vector for each text, in order.
    ///
    /// # Errors
    /// There are no vectors. The message of the error is for the caller, and its cause for the log. Neither contains a text.
    fn embed(
        &self,
        texts: Vec<String>,
        purpose: Purpose,
        cx: &Context,
    ) -> LocalBoxFuture<'static, Result<Vec<Vec<f32>>, HandlerError>>;
}

/// The purpose of a vector. Some models expect different prompts for queries and passages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// The vector of a question, which searches passages.
    Query,
    /// The vector of a passage of a document.
    Passage,
}

impl Purpose {
    fn time(self) -> Duration {
        Duration::from_secs(match self {
            Self::Query => EMBEDDING_QUERY_SECONDS,
            Self::Passage => EMBEDDING_PASSAGES_SECONDS,
        })
    }
}
