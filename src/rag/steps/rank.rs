//! The steps that change the order of found passages: reranking, and the preference for different passages.

use edge_json::number::text;
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};

use super::{Searched, Stage};
use crate::call::error::HandlerError;
use crate::limits::RAG_CANDIDATES;
use crate::rag::log::warn;
use crate::rag::order::rearranged;
use crate::rag::rerank::{Candidate, Rerank, Reranked};
use crate::rag::search_result::SearchResult;
use crate::rag::vectors::diverse::diverse;
use crate::rag::vectors::int8::Int8;

impl Stage for Rerank {
    fn problem(&self) -> Option<String> {
        self.problem()
    }

    fn apply<'a>(
        &'a self,
        mut found: SearchResult,
        of: &'a Searched<'a>,
    ) -> LocalBoxFuture<'a, Result<SearchResult, HandlerError>> {
        async move {
            of.cx.progress(2.0, None, "Reranking");
            found.passages.truncate(Self::candidates(of.top_k));
            let candidates: Vec<_> = (found.passages.iter())
                .map(|found| Candidate { text: &found.passage.text, similarity: found.similarity })
                .collect();
            match self.order(&of.search.text, &candidates, of.cx).await {
                Ok(order) => {
                    let positions = order.iter().map(|reranked| reranked.candidate).collect();
                    found.passages = rearranged(found.passages, positions);
                    for (found, Reranked { score, semantic, .. }) in found.passages.iter_mut().zip(order) {
                        (found.score, found.rerank) = (score, Some(semantic));
                    }
                    // The retriever keeps some passages of each document, and then as many as the caller asked for.
                    found.passages.truncate(self.kept(found.passages.len()));
                }
                Err(error) => {
                    warn(&error, of.cx);
                    found.remark("The passages are in the order of the search, because the reranker failed.");
                }
            }
            Ok(found)
        }
        .boxed_local()
    }
}

/// The weight of the score against the similarity to better passages.
pub(in crate::rag) struct Diverse(pub(in crate::rag) f64);

impl Stage for Diverse {
    fn problem(&self) -> Option<String> {
        (!(0.0..=1.0).contains(&self.0)).then(|| format!("`diverse` must be from 0 to 1 (got {})", text(self.0)))
    }

    fn apply<'a>(
        &'a self,
        mut found: SearchResult,
        of: &'a Searched<'a>,
    ) -> LocalBoxFuture<'a, Result<SearchResult, HandlerError>> {
        found.passages.truncate(RAG_CANDIDATES);
        let scores: Vec<_> = found.passages.iter().map(|found| found.score).collect();
        let vectors: Vec<_> = found.passages.iter().map(|found| found.vector.as_deref().map(Int8::of)).collect();
        let order = diverse(&scores, &vectors, self.0, found.passages.len());
        found.passages = rearranged(found.passages, order);
        if !of.includes_vectors {
            for found in &mut found.passages {
                found.vector = None;
            }
        }
        ready(Ok(found)).boxed_local()
    }
}
