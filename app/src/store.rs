//! A trait for the storage of documents. The Worker uses an implementation with D1, and the tests use an implementation in memory.

use std::ops::Deref;
use std::rc::Rc;

use async_trait::async_trait;
use edge_mcp::HandlerError;
use edge_mcp::rag::{self, PassageStore, StoreFailure};

use crate::document::{Document, Slug};

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

/// A [`Failure`], with its cause for the log.
#[derive(Clone, Debug)]
pub(crate) struct StoreError {
    pub(crate) failure: Failure,
    pub(crate) cause: String,
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

/// Stores documents.
#[async_trait(?Send)]
pub(crate) trait Store {
    /// Returns the text of the document with this slug, or `None` if it does not exist.
    async fn read(&self, slug: &Slug) -> Result<Option<String>, StoreError>;

    /// Creates or replaces documents and their passages: all of them, or none.
    async fn save(&self, documents: &[Document]) -> Result<(), StoreError>;

    /// Deletes a document and its passages. With `set`, deletes it only if it belongs to this set. Returns whether it was deleted.
    async fn delete(&self, slug: &Slug, set: Option<&str>) -> Result<bool, StoreError>;

    /// Returns the slugs and the hashes of at most `limit` documents of a set, sorted by slug. Slugs up to `after` are left out.
    async fn list_set(&self, set: &str, after: &str, limit: u32) -> Result<Vec<(Slug, Option<String>)>, StoreError>;

    /// Returns the slugs and the titles of at most `limit` documents whose slugs begin with `prefix`, sorted by slug. Slugs up to `after` are
    /// left out.
    async fn list(&self, prefix: &str, after: &str, limit: u32) -> Result<Vec<(Slug, String)>, StoreError>;
}

/// The documents that all requests share.
pub(crate) struct Documents {
    store: Rc<dyn Store>,
    passages: Rc<dyn PassageStore>,
}

impl Documents {
    /// Creates the documents of a store, and of the store of their passages.
    pub(crate) fn new(store: Rc<dyn Store>, passages: Rc<dyn PassageStore>) -> Self {
        Self { store, passages }
    }

    /// Returns the store that finds passages.
    pub(crate) fn passages(&self) -> Rc<dyn PassageStore> {
        self.passages.clone()
    }
}

impl Deref for Documents {
    type Target = dyn Store;

    fn deref(&self) -> &Self::Target {
        &*self.store
    }
}

#[cfg(test)]
pub(crate) mod memory {
    //! An in-memory store. A test can make its requests fail.

    use std::cell::{Cell, RefCell};
    use std::collections::BTreeMap;

    use async_trait::async_trait;
    use edge_mcp::rag::{
        self, Edge, Filter, Matches, Passage, PassageId, PassageStore, Saved, Search, Space, StoreFailure,
    };
    use futures::FutureExt;
    use futures::future::{LocalBoxFuture, ready};

    use super::{Document, Failure, Slug, Store, StoreError};
    use crate::passages::{space, with_passages};

    #[derive(Default)]
    pub(crate) struct MemoryStore {
        documents: RefCell<BTreeMap<Slug, Document>>,
        passages: rag::MemoryStore,
        pub(crate) failure: Cell<Option<Failure>>,
        /// The number of documents that the last list read.
        pub(crate) listed: Cell<usize>,
        /// The number of requests that still succeed. Later requests fail. `None` means that there is no limit.
        pub(crate) remaining: Cell<Option<usize>>,
    }

    impl MemoryStore {
        pub(crate) fn count(&self) -> usize {
            self.documents.borrow().len()
        }

        fn check(&self) -> Result<(), StoreError> {
            let failure = self.failure.get().or((self.remaining.get() == Some(0)).then_some(Failure::Unavailable));
            self.remaining.set(self.remaining.get().map(|times| times.saturating_sub(1)));
            match failure {
                Some(failure) => Err(StoreError { failure, cause: "simulated outage".into() }),
                None => Ok(()),
            }
        }

        fn check_passages(&self) -> Result<(), rag::StoreError> {
            self.check().map_err(|StoreError { failure, cause }| rag::StoreError { kind: failure.into(), cause })
        }
    }

    impl From<Failure> for StoreFailure {
        fn from(failure: Failure) -> Self {
            match failure {
                Failure::NotMigrated => Self::NotMigrated,
                Failure::Unavailable => Self::Unavailable,
                Failure::Document => Self::Document,
            }
        }
    }

    #[async_trait(?Send)]
    impl Store for MemoryStore {
        async fn read(&self, slug: &Slug) -> Result<Option<String>, StoreError> {
            self.check()?;
            Ok(self.documents.borrow().get(slug).map(|document| document.text.clone()))
        }

        async fn save(&self, documents: &[Document]) -> Result<(), StoreError> {
            self.check()?;
            for document in documents {
                let passages = with_passages(document);
                self.passages.save(&space(), &passages).await?;
                self.documents.borrow_mut().insert(document.slug.clone(), document.clone());
            }
            Ok(())
        }

        async fn delete(&self, slug: &Slug, set: Option<&str>) -> Result<bool, StoreError> {
            self.check()?;
            let of_set = |document: &Document| set.is_none_or(|set| document.set.as_deref() == Some(set));
            if !self.documents.borrow().get(slug).is_some_and(of_set) {
                return Ok(false);
            }
            self.passages.remove(&space(), slug.as_str()).await.expect("a store in memory does not fail");
            self.documents.borrow_mut().remove(slug);
            Ok(true)
        }

        async fn list_set(
            &self,
            set: &str,
            after: &str,
            limit: u32,
        ) -> Result<Vec<(Slug, Option<String>)>, StoreError> {
            self.check()?;
            let documents = self.documents.borrow();
            let listed = documents.values().filter(|one| one.set.as_deref() == Some(set) && one.slug.as_str() > after);
            Ok(listed.take(limit as usize).map(|one| (one.slug.clone(), one.hash.clone())).collect())
        }

        async fn list(&self, prefix: &str, after: &str, limit: u32) -> Result<Vec<(Slug, String)>, StoreError> {
            self.check()?;
            let documents = self.documents.borrow();
            let is_listed = |one: &&Document| one.slug.as_str().starts_with(prefix) && one.slug.as_str() > after;
            let listed = documents.values().filter(is_listed).take(limit as usize);
            let listed: Vec<_> = listed.map(|one| (one.slug.clone(), one.title.clone())).collect();
            self.listed.set(listed.len());
            Ok(listed)
        }
    }

    impl PassageStore for MemoryStore {
        fn search(&self, search: Search) -> LocalBoxFuture<'_, Result<Matches, rag::StoreError>> {
            match self.check_passages() {
                Ok(()) => self.passages.search(search),
                Err(error) => ready(Err(error)).boxed_local(),
            }
        }

        fn passages<'a>(
            &'a self,
            space: &'a Space,
            ids: &'a [PassageId],
            filter: &'a Filter,
        ) -> LocalBoxFuture<'a, Result<Vec<Passage>, rag::StoreError>> {
            match self.check_passages() {
                Ok(()) => self.passages.passages(space, ids, filter),
                Err(error) => ready(Err(error)).boxed_local(),
            }
        }

        fn edges<'a>(
            &'a self,
            space: &'a Space,
            seeds: &'a [PassageId],
            threshold: f64,
            filter: &'a Filter,
        ) -> LocalBoxFuture<'a, Result<Vec<Edge>, rag::StoreError>> {
            match self.check_passages() {
                Ok(()) => self.passages.edges(space, seeds, threshold, filter),
                Err(error) => ready(Err(error)).boxed_local(),
            }
        }

        fn save<'a>(
            &'a self,
            space: &'a Space,
            document: &'a rag::Document,
        ) -> LocalBoxFuture<'a, Result<Saved, rag::StoreError>> {
            PassageStore::save(&self.passages, space, document)
        }

        fn remove<'a>(
            &'a self,
            space: &'a Space,
            document: &'a str,
        ) -> LocalBoxFuture<'a, Result<bool, rag::StoreError>> {
            self.passages.remove(space, document)
        }
    }
}
