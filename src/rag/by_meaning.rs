//! The search by meaning: the vector of a question, and the result without a vector.

use std::cell::Cell;
use std::rc::Rc;

use edge_json::number::text;
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::host::log;
use crate::limits::{RAG_CANDIDATES, RAG_RESCORED_MOST};
use crate::models::embedding::checked::embed;
use crate::models::embedding::{Embedder, Purpose};
use crate::rag::search::Meaning;
use crate::rag::search_result::{SearchMode, SearchResult};

const FAILED: &str = "The passages were found by their words alone, because the search by meaning failed.";

/// Searches by the vectors of an embedding model. A method of [`Retriever`](crate::rag::Retriever) sets the pointer to it, so a Worker
/// without an embedding model does not contain this code.
pub(in crate::rag) trait SearchByMeaning {
    /// Starts to calculate the vector of a question.
    fn begin(&self, question: &str, settings: &MeaningSettings, cx: &Context) -> Meaning;

    /// Adds a remark and writes a log line if the search was by words alone.
    ///
    /// # Errors
    /// The search by meaning failed, and the settings do not allow a search by words.
    fn tell<'a>(
        &'a self,
        found: SearchResult,
        meaning: &'a Meaning,
        cx: &'a Context,
    ) -> LocalBoxFuture<'a, Result<SearchResult, HandlerError>>;
}

/// The settings of a search by meaning: see [`Meaning`].
#[derive(Clone, Copy, Debug)]
pub(in crate::rag) struct MeaningSettings {
    pub(in crate::rag) weight: f64,
    pub(in crate::rag) min_score: Option<f64>,
    pub(in crate::rag) candidates: Option<usize>,
    pub(in crate::rag) include_vectors: bool,
}

/// The weight of the meaning. docs/retrieval.md has the measurements from which it comes.
const WEIGHT: f64 = 0.6;

impl Default for MeaningSettings {
    fn default() -> Self {
        Self { weight: WEIGHT, min_score: None, candidates: None, include_vectors: false }
    }
}

impl MeaningSettings {
    /// Returns a sentence about the first setting that is not valid.
    pub(in crate::rag) fn problem(&self) -> Option<String> {
        let Self { weight, min_score, candidates, .. } = *self;
        if !(0.0..=1.0).contains(&weight) {
            return Some(format!("`meaning_weight` must be from 0 to 1 (got {})", text(weight)));
        }
        if let Some(cosine) = min_score.filter(|cosine| !(-1.0..=1.0).contains(cosine)) {
            return Some(format!("`min_score` must be from -1 to 1 (got {})", text(cosine)));
        }
        let (least, most) = (RAG_CANDIDATES, RAG_RESCORED_MOST);
        let wrong = candidates.filter(|vectors| !(least..=most).contains(vectors));
        wrong.map(|vectors| format!("`candidates` must be from {least} to {most} (got {vectors})"))
    }
}

/// Returns the search with an embedding model.
pub(in crate::rag) fn with(embedder: impl Embedder + 'static) -> Rc<dyn SearchByMeaning> {
    Rc::new(WithEmbedder(Rc::new(embedder)))
}

struct WithEmbedder(Rc<dyn Embedder>);

impl SearchByMeaning for WithEmbedder {
    fn begin(&self, question: &str, settings: &MeaningSettings, cx: &Context) -> Meaning {
        let MeaningSettings { weight, min_score, candidates, include_vectors } = *settings;
        let (embedder, texts, cx) = (self.0.clone(), [question.to_owned()], cx.clone());
        let vector = async move {
            let mut vectors = embed(&*embedder, &texts, Purpose::Query, &cx).await?;
            let vector = vectors.pop().ok_or_else(|| HandlerError::new(FAILED).because("there is no vector"))?;
            Ok(Rc::from(vector))
        };
        let model = self.0.model();
        let (vector, is_used) = (vector.boxed_local().shared(), Rc::new(Cell::new(false)));
        Meaning { model, weight, min_score, candidates, include_vectors, vector, is_used }
    }

    fn tell<'a>(
        &'a self,
        mut found: SearchResult,
        meaning: &'a Meaning,
        cx: &'a Context,
    ) -> LocalBoxFuture<'a, Result<SearchResult, HandlerError>> {
        async move {
            let fallback = found.fallback.take().map(HandlerError::from);
            // A store that does not search by meaning has not asked for the vector.
            let of_model = if meaning.is_used.get() { meaning.vector.clone().await.err() } else { None };
            let Some(error) = of_model.or(fallback) else { return Ok(found) };
            if meaning.is_required() {
                return Err(error);
            }
            log::warning(cx.host(), "rag", error.cause());
            found.mode = SearchMode::Lexical;
            found.remark(FAILED);
            found.remark(error.message());
            Ok(found)
        }
        .boxed_local()
    }
}
