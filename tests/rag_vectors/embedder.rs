//! An embedding model of the tests: words that mean the same have the same dimension.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use edge_mcp::rag::{Embedder, Purpose};
use edge_mcp::{Context, HandlerError};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};

/// Each word belongs to a group of words, or has a dimension by its letters.
const GROUPS: [&[&str]; 3] = [&["warm", "heat", "hot"], &["pot", "kettle", "tea"], &["car", "engine", "motor"]];
pub(crate) const DIMENSIONS: usize = 32;

/// The sentence of a model that fails, and its cause.
pub(crate) const FAILED: &str = "The model is busy.";
pub(crate) const CAUSE: &str = "status 429 SECRET";

/// A model. A clone is another handle of the same model.
#[derive(Clone, Default)]
pub(crate) struct Synonyms {
    /// Models with different numbers have different vectors.
    number: usize,
    is_broken: Rc<Cell<bool>>,
    texts: Rc<RefCell<Vec<String>>>,
}

impl Synonyms {
    pub(crate) fn numbered(number: usize) -> Self {
        Self { number, ..Self::default() }
    }

    /// Sets whether each request fails.
    pub(crate) fn break_down(&self, is_broken: bool) {
        self.is_broken.set(is_broken);
    }

    /// Returns all texts that the model has got.
    pub(crate) fn texts(&self) -> Vec<String> {
        self.texts.borrow().clone()
    }

    /// Returns the vector of a text, of length 1.
    pub(crate) fn vector(&self, text: &str) -> Vec<f32> {
        let mut vector = vec![0.01; DIMENSIONS];
        let words = text.to_lowercase();
        for word in words.split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
            let group = GROUPS.iter().position(|group| group.contains(&word));
            let letters = word.bytes().fold(self.number, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
            vector[group.unwrap_or(GROUPS.len() + letters % (DIMENSIONS - GROUPS.len()))] += 1.0;
        }
        vector.rotate_left(self.number % DIMENSIONS);
        let length = vector.iter().map(|value| value * value).sum::<f32>().sqrt();
        vector.into_iter().map(|value| value / length).collect()
    }
}

impl Embedder for Synonyms {
    fn model(&self) -> String {
        format!("synonyms-{}", self.number)
    }

    fn embed(
        &self,
        texts: Vec<String>,
        _: Purpose,
        _: &Context,
    ) -> LocalBoxFuture<'static, Result<Vec<Vec<f32>>, HandlerError>> {
        if self.is_broken.get() {
            return ready(Err(HandlerError::new(FAILED).because(CAUSE))).boxed_local();
        }
        let vectors = texts.iter().map(|text| self.vector(text)).collect();
        self.texts.borrow_mut().extend(texts);
        ready(Ok(vectors)).boxed_local()
    }
}
