//! The vectors of passages.

use std::collections::BTreeSet;
use std::rc::Rc;

use super::document::Document;
use super::passage::{Passage, PassageId, Space};
use super::store::SaveCounts;
use super::store_error::{StoreError, StoreFailure};
use super::vector_store::{PendingPassages, VectorStore};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::host::log;
use crate::limits::{RAG_EMBEDDING_BATCH, RAG_EMBEDDINGS, RAG_REFUSED_REQUESTS};
use crate::models::embedding::checked::embed;
use crate::models::embedding::{Embedder, Purpose};
use crate::text::shortened;

/// Calculates the vectors of passages with an embedding model, and saves them in a store.
///
/// A search finds a passage without a vector by its words. So a document is saved first, and its vectors follow: each passage whose text
/// changed costs one vector. If the model fails, the other passages stay without a vector until the next call.
///
/// A model can refuse a passage, for example because it has too many tokens. Then the other passages get their vectors, and the result has a
/// note with the document. The refused passage is tried again in two later calls, after all others.
///
/// ```
/// use edge_mcp::rag::{ChunkOptions, Document, EmbeddingModel, IndexReport, Indexer, Space, SqliteVectors, chunks};
/// use edge_mcp::{Context, HandlerError};
///
/// async fn save(name: &str, text: &str, cx: &Context) -> Result<IndexReport, HandlerError> {
///     let indexer = Indexer::new(cx.state::<SqliteVectors>()?, (*cx.state::<EmbeddingModel>()?).clone());
///     let document = Document { name: name.into(), chunks: chunks(text, &ChunkOptions::new()), ..Document::default() };
///     indexer.save(&Space { index: "docs".into(), ..Space::default() }, &document, cx).await
/// }
/// ```
#[derive(Clone)]
pub struct Indexer {
    store: Rc<dyn VectorStore>,
    embedder: Rc<dyn Embedder>,
}

/// The most documents that a note names.
const LISTED_DOCUMENTS: usize = 5;

/// The result of an [`Indexer`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexReport {
    /// The changes of a document.
    pub saved: SaveCounts,
    /// The number of passages that got a vector.
    pub embedded: usize,
    /// The number of passages of the space that have no vector yet.
    pub pending: usize,
    /// The number of passages of the space that the model has refused. Only their words are found.
    pub refused: usize,
    /// A sentence for the caller if vectors could not be calculated or saved. It names the documents of refused passages.
    pub note: Option<String>,
}

impl Indexer {
    /// Creates an indexer. An `Rc` of a store, such as `Rc<SqliteVectors>`, converts into `store`.
    pub fn new(store: Rc<dyn VectorStore>, embedder: impl Embedder + 'static) -> Self {
        Self { store, embedder: Rc::new(embedder) }
    }

    /// Saves a document, and then its vectors.
    ///
    /// # Errors
    /// The document was not saved. If the document was saved and its vectors were not, the result has a note.
    pub async fn save(&self, space: &Space, document: &Document, cx: &Context) -> Result<IndexReport, HandlerError> {
        let saved = self.store.save(space, document).await?;
        Ok(IndexReport { saved, ..self.embed(space, cx).await })
    }

    /// Saves the vectors of at most 200 passages of a space that have none. Call it again until nothing is pending. Two clients can call it
    /// at the same time.
    ///
    /// It stops before the deadline of the call. If the index has vectors of another model, or if the model or the store fails, the result
    /// has a note, and the log has the cause.
    pub async fn embed(&self, space: &Space, cx: &Context) -> IndexReport {
        let mut indexed = IndexReport::default();
        if let Err(failed) = self.embed_all(space, cx, &mut indexed).await {
            let error = HandlerError::from(failed);
            log::warning(cx.host(), "rag", error.cause());
            let notes = indexed.note.into_iter().chain([error.message().to_owned()]);
            indexed.note = Some(notes.collect::<Vec<_>>().join(" "));
        }
        indexed
    }

    /// Does the same as [`embed`](Self::embed). If the index has vectors of another model, it first deletes them.
    ///
    /// # Errors
    /// The store or the model failed. Vectors that were saved before stay.
    pub async fn reindex(&self, space: &Space, cx: &Context) -> Result<IndexReport, HandlerError> {
        let mut indexed = IndexReport::default();
        match self.embed_all(space, cx, &mut indexed).await {
            Err(EmbedFailure::Store(StoreError { kind: StoreFailure::OtherModel, .. })) => {
                self.store.remove_vectors(&space.index).await?;
                self.embed_all(space, cx, &mut indexed).await?;
            }
            other => other?,
        }
        Ok(indexed)
    }

    async fn embed_all(&self, space: &Space, cx: &Context, indexed: &mut IndexReport) -> Result<(), EmbedFailure> {
        let model = self.embedder.model();
        let mut refusals = Refusals::default();
        while indexed.embedded < RAG_EMBEDDINGS {
            let PendingPassages { mut passages, count, refused } =
                self.store.pending(space, &model, RAG_EMBEDDING_BATCH).await?;
            (indexed.pending, indexed.refused) = (count, refused);
            passages.retain(|passage| !refusals.passages.contains(&passage.id));
            if passages.is_empty() {
                break;
            }
            let saved = self.embed_batch(space, &model, passages, cx, indexed, &mut refusals).await;
            indexed.note = refusals.note();
            saved?;
        }
        Ok(())
    }

    /// Saves the vectors of passages. If the model refuses several together, it gets each half of them, down to single passages. So a
    /// passage that it always refuses does not keep others from their vectors.
    async fn embed_batch(
        &self,
        space: &Space,
        model: &str,
        passages: Vec<Passage>,
        cx: &Context,
        indexed: &mut IndexReport,
        refusals: &mut Refusals,
    ) -> Result<(), EmbedFailure> {
        let mut batches = vec![passages];
        while let Some(mut batch) = batches.pop() {
            let texts: Vec<_> = batch.iter().map(embedded_text).collect();
            match embed(&*self.embedder, &texts, Purpose::Passage, cx).await {
                Ok(vectors) => {
                    let number = batch.len();
                    let vectors = batch.into_iter().map(|passage| passage.id).zip(vectors).collect();
                    self.store.save_vectors(space, model, vectors).await?;
                    indexed.embedded = indexed.embedded.saturating_add(number);
                    indexed.pending = indexed.pending.saturating_sub(number);
                }
                Err(error) => {
                    refusals.requests = refusals.requests.saturating_add(1);
                    // A model that is down refuses everything.
                    if refusals.requests > RAG_REFUSED_REQUESTS || !self.is_up(refusals, cx).await {
                        return Err(EmbedFailure::Model(error));
                    }
                    if let [passage] = batch.as_slice() {
                        self.store.refuse(space, &[passage.id]).await?;
                        refusals.add(passage);
                    } else {
                        batches.push(batch.split_off(batch.len().div_ceil(2)));
                        batches.push(batch);
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns whether the model returns the vector of a text that no model refuses. It is asked once in a call.
    async fn is_up(&self, refusals: &mut Refusals, cx: &Context) -> bool {
        if let Some(is_up) = refusals.is_up {
            return is_up;
        }
        let is_up = embed(&*self.embedder, &["word".to_owned()], Purpose::Query, cx).await.is_ok();
        *refusals.is_up.insert(is_up)
    }
}

/// The refusals of the model in one call.
#[derive(Default)]
struct Refusals {
    /// Whether the model answers other requests, if it was asked.
    is_up: Option<bool>,
    /// The requests that failed.
    requests: usize,
    /// The passages that the model refuses alone.
    passages: BTreeSet<PassageId>,
    /// Their documents.
    documents: BTreeSet<String>,
}

impl Refusals {
    fn add(&mut self, passage: &Passage) {
        self.passages.insert(passage.id);
        self.documents.insert(passage.document.clone());
    }

    /// Returns a sentence for the caller, with at most [`LISTED_DOCUMENTS`] documents.
    fn note(&self) -> Option<String> {
        if self.documents.is_empty() {
            return None;
        }
        let listed = self.documents.iter().take(LISTED_DOCUMENTS).map(|name| format!("`{}`", shortened(name)));
        let listed = listed.collect::<Vec<_>>().join(", ");
        let others = match self.documents.len().saturating_sub(LISTED_DOCUMENTS) {
            0 => String::new(),
            others => format!(" and {others} other documents"),
        };
        Some(format!(
            "The embedding model refused passages of {listed}{others}. A search finds them only by their words. Change these passages, or \
             divide them."
        ))
    }
}

/// The reason why vectors were not saved.
enum EmbedFailure {
    Store(StoreError),
    Model(HandlerError),
}

impl From<StoreError> for EmbedFailure {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<EmbedFailure> for HandlerError {
    fn from(failed: EmbedFailure) -> Self {
        match failed {
            EmbedFailure::Store(error) => error.into(),
            EmbedFailure::Model(error) => error,
        }
    }
}

/// Returns the text of which a passage has the vector.
fn embedded_text(Passage { heading, text, .. }: &Passage) -> String {
    if heading.is_empty() { text.clone() } else { format!("{heading}\n{text}") }
}
