//! Where documents are kept: D1 in the Worker, memory in tests.

use std::future::Future;

use edge_mcp::HandlerError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::document::{Document, Slug};

/// A document that was found, with the passage that made it so.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Hit {
    /// What read-document takes
    pub(crate) slug: String,
    /// The document's title
    pub(crate) title: String,
    /// The passage that fits best
    pub(crate) snippet: String,
}

/// Why the store did not do what it was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outage {
    /// The tables are missing.
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
                "The knowledge base has no tables yet. Whoever runs it has to apply the migrations: \
                 `npx wrangler d1 migrations apply DB --remote` for a deployed Worker, `scripts/dev` for a local one."
            }
            Outage::Unavailable => {
                "The knowledge base's database does not answer. Try again later; if it stays so, whoever runs it finds \
                 the reason with `npx wrangler tail`."
            }
        };
        Self::new(message).because(error.cause)
    }
}

/// Keeps documents.
pub(crate) trait Store: 'static {
    /// The documents in which a word of `query` occurs, those that fit best first. Whatever is in `query` is searched for:
    /// nothing in it is an operator.
    fn search(&self, query: &str, limit: u32) -> impl Future<Output = Result<Vec<Hit>, StoreError>>;

    /// The document `slug`, if it is there.
    fn read(&self, slug: &Slug) -> impl Future<Output = Result<Option<Document>, StoreError>>;

    /// Creates or replaces documents: all of them whole, index included, or none.
    fn save(&self, documents: &[Document]) -> impl Future<Output = Result<(), StoreError>>;

    /// Slug and title of every document, in the order of the slugs.
    fn list(&self) -> impl Future<Output = Result<Vec<(Slug, String)>, StoreError>>;
}

#[cfg(test)]
pub(crate) mod memory {
    //! Documents in memory, and switches that make the store fail.

    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;

    use super::{Document, Hit, Outage, Slug, Store, StoreError};

    #[derive(Default)]
    pub(crate) struct MemoryStore {
        documents: RefCell<BTreeMap<Slug, Document>>,
        pub(crate) outage: Cell<Option<Outage>>,
        /// How often it is asked before it fails, and goes on to.
        pub(crate) lasts: Cell<Option<usize>>,
    }

    impl MemoryStore {
        pub(crate) fn count(&self) -> usize {
            self.documents.borrow().len()
        }

        fn check(&self) -> Result<(), StoreError> {
            let outage = self.outage.get().or((self.lasts.get() == Some(0)).then_some(Outage::Unavailable));
            self.lasts.set(self.lasts.get().map(|times| times.saturating_sub(1)));
            match outage {
                Some(outage) => Err(StoreError { outage, cause: "the test says so".into() }),
                None => Ok(()),
            }
        }
    }

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
