//! The documents in a database, with their passages.

use std::rc::Rc;

use edge_mcp::rag::{self, IndexReport, Indexer, SearchStore, SqlitePassages, SqliteVectors, StoreFailure};
use edge_mcp::storage::{Database, DatabaseError};
use edge_mcp::{Context, HandlerError};

use crate::document::{Document, Slug};
use crate::passages::{space, with_passages};
use crate::search_settings::SearchSettings;

/// The reason why a request to the store failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Failure {
    /// Tables are missing: the migrations have not been applied.
    NotMigrated,
    /// The database does not answer.
    Unavailable,
    /// A document is not valid. The cause is a sentence for the caller.
    Document,
}

/// A [`Failure`], with its cause for the log.
#[derive(Clone, Debug)]
pub(crate) struct StoreError {
    pub(crate) failure: Failure,
    pub(crate) cause: String,
}

impl From<DatabaseError> for StoreError {
    fn from(error: DatabaseError) -> Self {
        rag::StoreError::from(error).into()
    }
}

impl From<rag::StoreError> for StoreError {
    fn from(rag::StoreError { kind, cause }: rag::StoreError) -> Self {
        let failure = match kind {
            StoreFailure::NotMigrated => Failure::NotMigrated,
            StoreFailure::Document => Failure::Document,
            _ => Failure::Unavailable,
        };
        Self { failure, cause }
    }
}

impl From<StoreError> for HandlerError {
    fn from(error: StoreError) -> Self {
        let message = match error.failure {
            Failure::NotMigrated => {
                "The knowledge base has no tables yet. Its operator must apply the migrations: \
                 `npx wrangler d1 migrations apply DB --remote` for a deployed Worker, `scripts/dev` for a local one."
            }
            Failure::Document => return Self::invalid(error.cause),
            Failure::Unavailable => {
                "The knowledge base's database does not answer. Try again later. If it still does not answer, its \
                 operator can find the reason with `npx wrangler tail`."
            }
        };
        Self::new(message).because(error.cause)
    }
}

const READ: &str = "SELECT text FROM documents WHERE slug = ?1";

const SAVE: &str = "INSERT INTO documents (slug, title, text, set_name, hash) VALUES (?1, ?2, ?3, ?4, ?5) \
     ON CONFLICT (slug) DO UPDATE SET title = excluded.title, text = excluded.text, saved_at = excluded.saved_at, \
     set_name = excluded.set_name, hash = excluded.hash";

/// Deletes a document. Triggers delete its passages and links. `?2`: its set, or NULL for any.
const DELETE: &str = "DELETE FROM documents WHERE slug = ?1 AND (?2 IS NULL OR set_name = ?2) RETURNING slug";

const LIST_SET: &str = "SELECT slug, hash FROM documents WHERE set_name = ?1 AND slug > ?2 ORDER BY slug LIMIT ?3";

/// Lists documents whose slugs begin with `?1`. The index of slugs has them in this order.
const LIST: &str = "SELECT slug, title FROM documents \
     WHERE slug > ?2 AND slug >= ?1 AND slug < ?1 || char(1114111) ORDER BY slug LIMIT ?3";

/// The documents that all requests share.
pub(crate) struct Documents {
    passages: SqlitePassages,
    /// The store that finds passages: by their words, or also by their vectors.
    found: Rc<dyn SearchStore>,
    /// Calculates the vectors, if there is an embedding model.
    indexer: Option<Indexer>,
}

impl Documents {
    /// Creates the documents of a database.
    pub(crate) fn new(database: Database, settings: &SearchSettings) -> Self {
        let passages = SqlitePassages::new(database);
        let Some(embedder) = &settings.embedder else {
            return Self { found: Rc::new(passages.clone()), passages, indexer: None };
        };
        let vectors = SqliteVectors::new(passages.clone());
        let vectors = Rc::new(match &settings.index {
            Some(index) => vectors.vector_index(index.clone()),
            None => vectors,
        });
        Self { indexer: Some(Indexer::new(vectors.clone(), embedder.clone())), found: vectors, passages }
    }

    /// Returns the store that finds passages.
    pub(crate) fn passages(&self) -> Rc<dyn SearchStore> {
        self.found.clone()
    }

    /// Returns the database.
    pub(crate) fn database(&self) -> &Database {
        self.passages.database()
    }

    /// Returns the text of the document with this slug, or `None` if it does not exist.
    pub(crate) async fn read(&self, slug: &Slug) -> Result<Option<String>, StoreError> {
        Ok(self.database().query(READ).bind(slug.as_str()).first().await?)
    }

    /// Creates or replaces documents and their passages: all of them, or none.
    pub(crate) async fn save(&self, documents: &[Document]) -> Result<(), StoreError> {
        let save = |Document { slug, title, text, set, hash }: &Document| {
            self.database().query(SAVE).bind(slug.as_str()).bind(title).bind(text).bind(set).bind(hash)
        };
        let passages: Vec<_> = documents.iter().map(with_passages).collect();
        let passages = self.passages.save_statements(&space(), &passages)?;
        Ok(self.database().batch(documents.iter().map(save).chain(passages)).await.map(drop)?)
    }

    /// Saves vectors of passages that have none. Without an embedding model, it does nothing.
    pub(crate) async fn embed(&self, cx: &Context) -> IndexReport {
        match &self.indexer {
            Some(indexer) => indexer.embed(&space(), cx).await,
            None => IndexReport::default(),
        }
    }

    /// Does the same as [`embed`](Self::embed). If the vectors come from another model, it first deletes them.
    pub(crate) async fn reindex(&self, cx: &Context) -> Result<IndexReport, HandlerError> {
        match &self.indexer {
            Some(indexer) => indexer.reindex(&space(), cx).await,
            None => Ok(IndexReport::default()),
        }
    }

    /// Deletes a document and its passages. With `set`, deletes it only if it belongs to this set. Returns whether it was deleted.
    pub(crate) async fn delete(&self, slug: &Slug, set: Option<&str>) -> Result<bool, StoreError> {
        let deleted: Vec<Slug> = self.database().query(DELETE).bind(slug.as_str()).bind(set).all().await?;
        Ok(!deleted.is_empty())
    }

    /// Returns the slugs and the hashes of at most `limit` documents of a set, sorted by slug. Slugs up to `after` are left out.
    pub(crate) async fn list_set(
        &self,
        set: &str,
        after: &str,
        limit: u32,
    ) -> Result<Vec<(Slug, Option<String>)>, StoreError> {
        Ok(self.database().query(LIST_SET).bind(set).bind(after).bind(limit).all().await?)
    }

    /// Returns the slugs and the titles of at most `limit` documents whose slugs begin with `prefix`, sorted by slug. Slugs up to `after`
    /// are left out.
    pub(crate) async fn list(&self, prefix: &str, after: &str, limit: u32) -> Result<Vec<(Slug, String)>, StoreError> {
        Ok(self.database().query(LIST).bind(prefix).bind(after).bind(limit).all().await?)
    }
}
