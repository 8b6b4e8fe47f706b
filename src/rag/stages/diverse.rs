//! The preference for different passages.

use edge_json::number::text;
use futures::FutureExt;
use futures::future::ready;

use super::{Searched, Stage, StageFuture};
use crate::limits::RAG_CANDIDATES;
use crate::rag::order::rearranged;
use crate::rag::search_result::SearchResult;
use crate::rag::vectors::diverse::diverse;
use crate::rag::vectors::int8::Int8;

/// The weight of the score against the similarity to better passages.
pub(in crate::rag) struct Diverse(pub(in crate::rag) f64);

impl Stage for Diverse {
    fn problem(&self) -> Option<String> {
        (!(0.0..=1.0).contains(&self.0)).then(|| format!("`diverse` must be from 0 to 1 (got {})", text(self.0)))
    }

    fn apply<'a>(&'a self, mut found: SearchResult, searched: &'a Searched<'a>) -> StageFuture<'a> {
        found.passages.truncate(RAG_CANDIDATES);
        let scores: Vec<_> = found.passages.iter().map(|found| found.score).collect();
        let vectors: Vec<_> = found.passages.iter().map(|found| found.vector.as_deref().map(Int8::of)).collect();
        let order = diverse(&scores, &vectors, self.0, found.passages.len());
        found.passages = rearranged(found.passages, order);
        if !searched.includes_vectors {
            for found in &mut found.passages {
                found.vector = None;
            }
        }
        ready(Ok(found)).boxed_local()
    }
}
