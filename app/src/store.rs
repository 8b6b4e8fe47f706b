//! A trait for the storage of documents. The Worker uses an implementation with D1, and the tests use an implementation in memory.

use std::ops::Deref;
use std::rc::Rc;

use async_trait::async_trait;
use edge_mcp::HandlerError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Document, Slug};

/// The maximum length of a search query, in characters.
pub(crate) const MAX_QUERY_CHARACTERS: usize = 500;

/// A document that matches the query, with a passage.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Hit {
    /// The document's slug, as read-document expects it
    pub(crate) slug: String,
    /// The document's title
    pub(crate) title: String,
    /// The best matching passage
    pub(crate) snippet: String,
}

/// The reason why a request to the store failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outage {
    /// The tables are missing: the migrations have not been applied.
    NotMigrated,
    /// The database does not answer.
    Unavailable,
}

/// An [`Outage`], with its cause for the log.
#[derive(Clone, Debug)]
pub(crate) struct StoreError {
    pub(crate) outage: Outage,
    pub(crate) cause: String,
}

impl From<StoreError> for HandlerError {
    fn from(error: StoreError) -> Self {
        let message = match error.outage {
            Outage::NotMigrated => {
                "The knowledge base has no tables yet. Its operator must apply the migrations: \
                 `npx wrangler d1 migrations apply DB --remote` for a deployed Worker, `scripts/dev` for a local one."
            }
            Outage::Unavailable => {
                "The knowledge base's database does not answer. Try again later. If it still does not answer, its \
                 operator can find the reason with `npx wrangler tail`."
            }
        };
        Self::new(message).because(error.cause)
    }
}

/// Stores documents.
#[async_trait(?Send)]
pub(crate) trait Store {
    /// Returns at most `limit` documents that contain a word of `query`, best match first. Characters and words of
    /// `query` are never operators.
    async fn search(&self, query: &str, limit: u32) -> Result<Vec<Hit>, StoreError>;

    /// Returns the document with this slug, or `None` if it does not exist.
    async fn read(&self, slug: &Slug) -> Result<Option<Document>, StoreError>;

    /// Creates or replaces documents and their index entries: all of them, or none.
    async fn save(&self, documents: &[Document]) -> Result<(), StoreError>;

    /// Returns the slug and the title of every document, sorted by slug.
    async fn list(&self) -> Result<Vec<(Slug, String)>, StoreError>;
}

/// The documents that all requests share.
pub(crate) struct Documents(pub(crate) Rc<dyn Store>);

impl Deref for Documents {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        &*self.0
    }
}

#[cfg(test)]
pub(crate) mod memory {
    //! An in-memory store. A test can make its requests fail.

    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;

    use async_trait::async_trait;

    use super::{Document, Hit, Outage, Slug, Store, StoreError};

    #[derive(Default)]
    pub(crate) struct MemoryStore {
        documents: RefCell<BTreeMap<Slug, Document>>,
        pub(crate) outage: Cell<Option<Outage>>,
        /// The number of requests that still succeed. Later requests fail. `None` means that there is no limit.
        pub(crate) remaining: Cell<Option<usize>>,
    }

    impl MemoryStore {
        pub(crate) fn count(&self) -> usize {
            self.documents.borrow().len()
        }

        fn check(&self) -> Result<(), StoreError> {
            let outage = self.outage.get().or((self.remaining.get() == Some(0)).then_some(Outage::Unavailable));
            self.remaining.set(self.remaining.get().map(|times| times.saturating_sub(1)));
            match outage {
                Some(outage) => Err(StoreError { outage, cause: "simulated outage".into() }),
                None => Ok(()),
            }
        }
    }

    #[async_trait(?Send)]
    impl Store for MemoryStore {
        async fn search(&self, query: &str, limit: u32) -> Result<Vec<Hit>, StoreError> {
            self.check()?;
            let words: Vec<_> = query.split_whitespace().map(str::to_lowercase).collect();
            let score = |document: &Document| {
                let text = format!("{} {}", document.title, document.text).to_lowercase();
                words.iter().filter(|word| text.contains(word.as_str())).count()
            };
            let documents = self.documents.borrow();
            let mut found: Vec<_> = documents.values().map(|document| (score(document), document)).collect();
            found.retain(|(score, _)| *score > 0);
            found.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
            let hit = |(_, document): (_, &Document)| Hit {
                slug: document.slug.as_str().into(),
                title: document.title.clone(),
                snippet: document.text.chars().take(80).collect(),
            };
            Ok(found.into_iter().take(limit as usize).map(hit).collect())
        }

        async fn read(&self, slug: &Slug) -> Result<Option<Document>, StoreError> {
            self.check()?;
            Ok(self.documents.borrow().get(slug).cloned())
        }

        async fn save(&self, documents: &[Document]) -> Result<(), StoreError> {
            self.check()?;
            let documents = documents.iter().map(|document| (document.slug.clone(), document.clone()));
            self.documents.borrow_mut().extend(documents);
            Ok(())
        }

        async fn list(&self) -> Result<Vec<(Slug, String)>, StoreError> {
            self.check()?;
            Ok(self.documents.borrow().values().map(|one| (one.slug.clone(), one.title.clone())).collect())
        }
    }
}
