//! An embedding model of the tests: words that mean the same have the same dimension.

use edge_mcp::rag::{Embedder, Purpose};
use edge_mcp::{Context, HandlerError};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};

/// Each word belongs to a group of words, or has a dimension by its letters.
const GROUPS: [&[&str]; 3] = [&["warm", "heat", "hot"], &["pot", "kettle", "tea"], &["car", "engine", "motor"]];
const DIMENSIONS: usize = 32;

#[derive(Clone, Copy)]
pub(crate) struct Synonyms;

pub(crate) fn vector(text: &str) -> Vec<f32> {
    let mut vector = vec![0.01; DIMENSIONS];
    for word in text.to_lowercase().split(|letter: char| !letter.is_alphanumeric()).filter(|word| !word.is_empty()) {
        let group = GROUPS.iter().position(|group| group.contains(&word));
        let letters = word.bytes().fold(0_usize, |sum, byte| sum.wrapping_mul(31).wrapping_add(byte.into()));
        vector[group.unwrap_or(GROUPS.len() + letters % (DIMENSIONS - GROUPS.len()))] += 1.0;
    }
    vector
}

impl Embedder for Synonyms {
    fn model(&self) -> String {
        "synonyms".into()
    }

    fn embed(
        &self,
        texts: Vec<String>,
        _: Purpose,
        _: &Context,
    ) -> LocalBoxFuture<'static, Result<Vec<Vec<f32>>, HandlerError>> {
        ready(Ok(texts.iter().map(|text| vector(text)).collect())).boxed_local()
    }
}
