//! A question to a retriever, and to a store.

use std::cell::Cell;
use std::fmt;
use std::rc::Rc;

use futures::future::{LocalBoxFuture, Shared};

use super::filter::Filter;
use super::passage::Space;
use crate::call::error::HandlerError;
use crate::limits::RAG_TOP_K;

/// A question to a [`Retriever`](super::Retriever), which passes it to a [`SearchStore`](super::SearchStore). A text converts into it.
#[derive(Clone, Debug)]
#[must_use]
pub struct Search {
    /// The question. No part of it is an operator.
    pub text: String,
    /// The space. A retriever sets it.
    pub space: Space,
    /// The filter on the metadata of passages. A retriever adds the filters of the server.
    pub filter: Filter,
    /// A text that each passage must contain, letter by letter.
    pub containing: Option<String>,
    /// The most passages to return. A retriever asks a store for more, and orders them.
    pub most: usize,
    /// The search by meaning, if the retriever has an embedding model.
    pub meaning: Option<Meaning>,
}

impl Search {
    /// Creates a search for at most 10 passages.
    pub fn new(text: impl Into<String>) -> Self {
        Self {
            text: text.into(),
            space: Space::default(),
            filter: Filter::default(),
            containing: None,
            most: RAG_TOP_K,
            meaning: None,
        }
    }

    /// Sets the most passages to return. The default is 10.
    pub fn top_k(mut self, passages: usize) -> Self {
        self.most = passages;
        self
    }

    /// Adds a filter. A passage must match it and all other filters.
    pub fn within(mut self, filter: Filter) -> Self {
        self.filter = self.filter.narrowed_by(filter);
        self
    }
}

impl<T: Into<String>> From<T> for Search {
    fn from(text: T) -> Self {
        Self::new(text)
    }
}

/// A search by meaning: the vector of the question, and how a store uses it.
#[derive(Clone)]
pub struct Meaning {
    /// The name of the embedding model. A store compares only vectors of the same model.
    pub model: String,
    /// The weight of the meaning, from 0 to 1. The words have the rest.
    pub weight: f64,
    /// The least similarity (cosine) of a passage that is found by its meaning.
    pub min_score: Option<f64>,
    /// The number of vectors that a store compares exactly. By default, the store decides.
    pub candidates: Option<usize>,
    /// Whether the passages have their vectors.
    pub include_vectors: bool,
    pub(super) vector: Shared<LocalBoxFuture<'static, Result<Rc<[f32]>, HandlerError>>>,
    /// Whether a store asked for the vector.
    pub(super) is_used: Rc<Cell<bool>>,
}

impl Meaning {
    /// Returns the vector of the question, which has the length 1, or `None` if the embedding model failed. A store can read from its
    /// database while the model works.
    pub async fn vector(&self) -> Option<Rc<[f32]>> {
        self.is_used.set(true);
        self.vector.clone().await.ok()
    }

    /// Returns whether a store must not search by words instead.
    #[allow(clippy::float_cmp, reason = "the weight is exactly 1 if words are not wanted")]
    pub fn is_required(&self) -> bool {
        self.weight == 1.0
    }
}

impl fmt::Debug for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Meaning").field("model", &self.model).field("weight", &self.weight).finish_non_exhaustive()
    }
}
