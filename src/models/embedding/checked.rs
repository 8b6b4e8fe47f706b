//! The vectors of any embedder, checked and scaled to length 1.

use std::collections::BTreeMap;

use super::model::EMBEDDING;
use super::{Embedder, Purpose};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::host::in_time;
use crate::limits::{EMBEDDING_BYTES, EMBEDDING_TEXTS};
use crate::models::{Deadline, ModelFailure};

/// Returns one vector of length 1 for each text, in order. Equal texts are sent once.
///
/// # Errors
/// The embedder failed, or it returned unusable vectors twice, or it took too long.
pub(crate) async fn embed(
    embedder: &dyn Embedder,
    texts: &[String],
    purpose: Purpose,
    cx: &Context,
) -> Result<Vec<Vec<f32>>, HandlerError> {
    let mut distinct: Vec<&String> = Vec::new();
    let mut places: BTreeMap<&str, usize> = BTreeMap::new();
    for text in texts {
        places.entry(text).or_insert_with(|| {
            distinct.push(text);
            distinct.len().saturating_sub(1)
        });
    }
    let mut vectors: Vec<Vec<f32>> = Vec::with_capacity(distinct.len());
    for batch in batches(&distinct) {
        let deadline = Deadline::within_call(purpose.time(), cx);
        let dimensions = vectors.first().map(Vec::len);
        let answer = embed_batch(embedder, &batch, dimensions, purpose, cx);
        let answer = in_time(async { Ok(answer.await) }, cx.host().sleep(deadline.left(cx))).await;
        vectors.extend(answer.unwrap_or_else(|_| Err(deadline.failure().error(EMBEDDING.noun, 1)))?);
    }
    let of_text = |text: &String| vectors.get(*places.get(text.as_str())?).cloned();
    let vectors = texts.iter().map(of_text).collect::<Option<_>>();
    vectors.ok_or_else(|| broken("a text has no vector"))
}

/// Returns the error about vectors that cannot be used.
fn broken(problem: &'static str) -> HandlerError {
    ModelFailure::Broken(problem).error(EMBEDDING.noun, 1)
}

/// Divides texts into batches for one request each. A text that is longer than the limit has a batch for itself.
fn batches(texts: &[&String]) -> Vec<Vec<String>> {
    let (mut batches, mut batch, mut bytes) = (Vec::new(), Vec::new(), 0_usize);
    for text in texts {
        bytes = bytes.saturating_add(text.len());
        if !batch.is_empty() && (batch.len() >= EMBEDDING_TEXTS || bytes > EMBEDDING_BYTES) {
            batches.push(std::mem::take(&mut batch));
            bytes = text.len();
        }
        batch.push((*text).clone());
    }
    batches.extend((!batch.is_empty()).then_some(batch));
    batches
}

/// Returns the vectors of a batch. Unusable vectors are requested once more.
async fn embed_batch(
    embedder: &dyn Embedder,
    texts: &[String],
    dimensions: Option<usize>,
    purpose: Purpose,
    cx: &Context,
) -> Result<Vec<Vec<f32>>, HandlerError> {
    let vectors = embedder.embed(texts.to_vec(), purpose, cx).await?;
    if let Ok(vectors) = scaled(vectors, texts.len(), dimensions) {
        return Ok(vectors);
    }
    let vectors = embedder.embed(texts.to_vec(), purpose, cx).await?;
    scaled(vectors, texts.len(), dimensions).map_err(broken)
}

/// Scales vectors to length 1. They must have the same number of dimensions as each other, and as earlier vectors.
fn scaled(mut vectors: Vec<Vec<f32>>, count: usize, dimensions: Option<usize>) -> Result<Vec<Vec<f32>>, &'static str> {
    if vectors.len() != count {
        return Err("it does not have a vector for each text");
    }
    let dimensions = dimensions.or_else(|| vectors.first().map(Vec::len)).unwrap_or_default();
    for vector in &mut vectors {
        if vector.len() != dimensions {
            return Err("the vectors do not have the same length");
        }
        if !vector.iter().all(|number| number.is_finite()) {
            return Err("a vector has a number that is not finite");
        }
        // As `f64`, because the squares of large and of small `f32` numbers are out of the range of `f32`.
        let norm = vector.iter().map(|number| f64::from(*number).powi(2)).sum::<f64>().sqrt();
        if norm <= 0.0 {
            return Err("a vector has only zeros");
        }
        for number in vector {
            #[allow(clippy::cast_possible_truncation, reason = "the quotient is from -1 to 1")]
            let quotient = (f64::from(*number) / norm) as f32;
            *number = quotient;
        }
    }
    Ok(vectors)
}
