//! The vectors of passages.

use std::rc::Rc;

use super::document::Document;
use super::log::warn;
use super::passage::{Passage, Space};
use super::store::Saved;
use super::store_error::{StoreError, StoreFailure};
use super::vector_store::{Pending, VectorStore};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::limits::{RAG_EMBEDDING_BATCH, RAG_EMBEDDINGS};
use crate::models::embedding::checked::embed;
use crate::models::embedding::{Embedder, Purpose};

/// Calculates the vectors of passages with an embedding model, and saves them in a store.
///
/// A search finds a passage without a vector by its words. So a document is saved first, and its vectors follow: each passage whose text
/// changed costs one vector. If the model fails, the other passages stay without a vector until the next call.
///
/// ```
/// use edge_mcp::rag::{ChunkOptions, Document, EmbeddingModel, Indexed, Indexer, Space, SqliteVectors, chunks};
/// use edge_mcp::{Context, HandlerError};
///
/// async fn save(name: &str, text: &str, cx: &Context) -> Result<Indexed, HandlerError> {
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

/// The result of an [`Indexer`].
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Indexed {
    /// The changes of a document.
    pub saved: Saved,
    /// The number of passages that got a vector.
    pub embedded: usize,
    /// The number of passages of the space that have no vector.
    pub pending: usize,
    /// A sentence for the caller if the vectors could not be calculated or saved.
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
    pub async fn save(&self, space: &Space, document: &Document, cx: &Context) -> Result<Indexed, HandlerError> {
        let saved = self.store.save(space, document).await?;
        Ok(Indexed { saved, ..self.embed(space, cx).await })
    }

    /// Saves the vectors of at most 200 passages of a space that have none. Call it again until nothing is pending. Two clients can call it
    /// at the same time.
    ///
    /// It stops before the deadline of the call. If the index has vectors of another model, or if the model or the store fails, the result
    /// has a note, and the log has the cause.
    pub async fn embed(&self, space: &Space, cx: &Context) -> Indexed {
        let mut indexed = Indexed::default();
        if let Err(failed) = self.embed_all(space, cx, &mut indexed).await {
            let error = HandlerError::from(failed);
            warn(&error, cx);
            indexed.note = Some(error.message().to_owned());
        }
        indexed
    }

    /// Does the same as [`embed`](Self::embed). If the index has vectors of another model, it first deletes them.
    ///
    /// # Errors
    /// The store or the model failed. Vectors that were saved before stay.
    pub async fn reindex(&self, space: &Space, cx: &Context) -> Result<Indexed, HandlerError> {
        let mut indexed = Indexed::default();
        match self.embed_all(space, cx, &mut indexed).await {
            Err(Failed::Store(StoreError { kind: StoreFailure::OtherModel, .. })) => {
                self.store.remove_vectors(&space.index).await?;
                self.embed_all(space, cx, &mut indexed).await?;
            }
            other => other?,
        }
        Ok(indexed)
    }

    async fn embed_all(&self, space: &Space, cx: &Context, indexed: &mut Indexed) -> Result<(), Failed> {
        let model = self.embedder.model();
        while indexed.embedded < RAG_EMBEDDINGS {
            let Pending { passages, count } = self.store.pending(space, &model, RAG_EMBEDDING_BATCH).await?;
            indexed.pending = count;
            if passages.is_empty() {
                break;
            }
            let texts: Vec<_> = passages.iter().map(embedded_text).collect();
            let vectors = embed(&*self.embedder, &texts, Purpose::Passage, cx).await.map_err(Failed::Model)?;
            let number = passages.len();
            let vectors = passages.into_iter().map(|passage| passage.id).zip(vectors).collect();
            self.store.save_vectors(space, &model, vectors).await?;
            indexed.embedded = indexed.embedded.saturating_add(number);
            indexed.pending = count.saturating_sub(number);
        }
        Ok(())
    }
}

/// The reason why vectors were not saved.
enum Failed {
    Store(StoreError),
    Model(HandlerError),
}

impl From<StoreError> for Failed {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl From<Failed> for HandlerError {
    fn from(failed: Failed) -> Self {
        match failed {
            Failed::Store(error) => error.into(),
            Failed::Model(error) => error,
        }
    }
}

/// Returns the text of which a passage has the vector.
fn embedded_text(Passage { heading, text, .. }: &Passage) -> String {
    if heading.is_empty() { text.clone() } else { format!("{heading}\n{text}") }
}
