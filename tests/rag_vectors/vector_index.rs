//! A service beside the database that finds the nearest vectors.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use edge_mcp::rag::{
    Filter, IndexedVector, Indexer, PassageId, Retriever, SaveStore, Search, SearchMode, Space, SqliteVectors,
    VectorIndex, VectorIndexError, VectorQuery, VectorStore,
};
use edge_mcp::testing::{self, TestDatabase, TestHost};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};

use crate::embedder::Synonyms;
use crate::{InSpace, database, save, space, tables};

/// A service that shows changes later, returns ids of other spaces, and fails.
#[derive(Default)]
struct Service {
    /// The vectors that a query sees, by their ids, with their namespaces.
    visible: RefCell<BTreeMap<PassageId, (String, Vec<f32>)>>,
    /// The vectors that a query does not see yet.
    delayed: RefCell<BTreeMap<PassageId, (String, Vec<f32>)>>,
    /// Whether a query sees changes at once.
    is_prompt: bool,
    ignores_namespaces: Cell<bool>,
    fails: Cell<bool>,
    deleted: RefCell<BTreeSet<PassageId>>,
    queries: Cell<usize>,
}

impl Service {
    fn show(&self) {
        self.visible.borrow_mut().append(&mut self.delayed.borrow_mut());
    }

    fn result<T: 'static>(&self, result: T) -> LocalBoxFuture<'static, Result<T, VectorIndexError>> {
        let failure = || Err(VectorIndexError("VECTOR_QUERY_ERROR (code = 40025): SECRET".into()));
        ready(if self.fails.get() { failure() } else { Ok(result) }).boxed_local()
    }
}

impl VectorIndex for Service {
    fn query(&self, query: VectorQuery) -> LocalBoxFuture<'_, Result<Vec<PassageId>, VectorIndexError>> {
        self.queries.set(self.queries.get() + 1);
        assert!(query.most <= 100);
        let visible = self.visible.borrow();
        let of_namespace =
            visible.iter().filter(|(_, (of, _))| self.ignores_namespaces.get() || *of == query.namespace);
        let cosine = |vector: &[f32]| vector.iter().zip(&query.vector).map(|(one, other)| one * other).sum::<f32>();
        let mut near: Vec<_> = of_namespace.map(|(id, (_, vector))| (cosine(vector), *id)).collect();
        near.sort_by(|one, other| other.partial_cmp(one).expect("numbers"));
        self.result(near.into_iter().map(|(_, id)| id).take(query.most).collect())
    }

    fn upsert(&self, namespace: &str, vectors: Vec<IndexedVector>) -> LocalBoxFuture<'_, Result<(), VectorIndexError>> {
        assert!(vectors.len() <= 500);
        if !self.fails.get() {
            let vectors = vectors.into_iter().map(|vector| (vector.id, (namespace.to_owned(), vector.vector)));
            self.delayed.borrow_mut().extend(vectors);
        }
        if self.is_prompt {
            self.show();
        }
        self.result(())
    }

    fn delete(&self, ids: &[PassageId]) -> LocalBoxFuture<'_, Result<(), VectorIndexError>> {
        if !self.fails.get() {
            self.visible.borrow_mut().retain(|id, _| !ids.contains(id));
            self.deleted.borrow_mut().extend(ids);
        }
        self.result(())
    }
}

/// Returns a service that shows changes at once.
pub(crate) fn prompt_service() -> Rc<dyn VectorIndex> {
    Rc::new(Service { is_prompt: true, ..Service::default() })
}

fn store() -> (TestDatabase, Rc<SqliteVectors>, Rc<Service>) {
    let (test, service) = (database::empty(), Rc::new(Service::default()));
    let store = Rc::new(database::store_in(&test).vector_index(service.clone()));
    (test, store, service)
}

fn texts<const N: usize>(texts: [(&str, &str); N]) -> Vec<(String, String)> {
    texts.map(|(name, text)| (name.to_owned(), text.to_owned())).into()
}

/// Returns the names of the documents that a search finds, in their order, and how it found them.
async fn found(store: &Rc<SqliteVectors>, of: &Space, search: Search) -> (Vec<String>, SearchMode, Option<String>) {
    let store = Rc::new(InSpace { store: store.clone(), space: of.clone() });
    let retriever = Retriever::new(of.index.clone(), store).embedder(Synonyms::default());
    let found = retriever.retrieve(search, &testing::context(&TestHost::new())).await.expect("found");
    let names = found.passages.into_iter().map(|found| found.passage.document).collect();
    (names, found.mode, found.note)
}

async fn indexed(store: &Rc<SqliteVectors>, of: &Space) -> usize {
    let indexer = Indexer::new(store.clone(), Synonyms::default());
    let indexed = indexer.embed(of, &testing::context(&TestHost::new())).await;
    assert_eq!((indexed.pending, indexed.note), (0, None));
    indexed.embedded
}

/// R42: passages that the service does not show yet are found by their words, and their similarity comes from the database.
#[test]
fn new_passages_are_found_before_the_service_shows_them() {
    let (_, store, service) = store();
    testing::run(async {
        save(&*store, &space(), texts([("tea", "Warm the pot."), ("car", "Start the engine.")])).await;
        assert_eq!(indexed(&store, &space()).await, 2);
        assert_eq!(found(&store, &space(), Search::new("heat kettles")).await.0, [""; 0]);
        let (names, mode, _) = found(&store, &space(), Search::new("warm")).await;
        assert_eq!((names, mode), (vec!["tea".to_owned()], SearchMode::Hybrid));
        service.show();
        assert_eq!(found(&store, &space(), Search::new("heat the kettle").top_k(1)).await.0, ["tea"]);
    });
}

/// R42, R66, R109: ids of deleted passages vanish from the result, and then from the service. A failure to delete them is harmless.
#[test]
fn ids_of_deleted_passages_are_deleted_from_the_service() {
    let (_, store, service) = store();
    testing::run(async {
        save(&*store, &space(), texts([("tea", "Warm the pot."), ("pot", "Hot kettle."), ("car", "Start.")])).await;
        indexed(&store, &space()).await;
        service.show();
        assert!(store.remove(&space(), "pot").await.expect("removed"));
        let (names, ..) = found(&store, &space(), Search::new("heat")).await;
        assert_eq!(names, ["tea", "car"]);
        assert_eq!(*service.deleted.borrow(), [2].into());
        assert_eq!(service.visible.borrow().keys().copied().collect::<Vec<_>>(), [1, 3]);
    });
}

/// R22, R41, R42, R88, R109: ids of another space, and of passages that the filter or the text hides, vanish from the result.
#[test]
fn the_database_decides_which_passages_are_found() {
    let (_, store, service) = store();
    let other = Space { name: "x".into(), ..space() };
    testing::run(async {
        save(&*store, &space(), texts([("tea", "Warm the pot."), ("hot", "Hot kettle.")])).await;
        save(&*store, &other, texts([("secret", "Heat the secret kettle.")])).await;
        indexed(&store, &space()).await;
        indexed(&store, &other).await;
        service.show();
        service.ignores_namespaces.set(true);
        assert_eq!(found(&store, &space(), Search::new("heat tea")).await.0, ["hot", "tea"]);
        assert_eq!(found(&store, &other, Search::new("heat tea")).await.0, ["secret"]);
        let none = Search::new("heat tea").within(Filter::eq("kind", "x"));
        assert_eq!(found(&store, &space(), none).await.0, [""; 0]);
        let search = Search { containing: Some("kettle".into()), ..Search::new("heat tea") };
        assert_eq!(found(&store, &space(), search).await.0, ["hot"]);
        assert!(service.deleted.borrow().is_empty(), "the passages of others exist");
    });
}

/// R43, R63: a vector that the service did not take is not saved, and the next call tries again.
#[test]
fn a_vector_that_the_service_did_not_take_stays_pending() {
    let (test, store, service) = store();
    testing::run(async {
        save(&*store, &space(), texts([("tea", "Warm the pot."), ("hot", "Hot kettle.")])).await;
        let indexer = Indexer::new(store.clone(), Synonyms::default());
        let host = TestHost::new();
        service.fails.set(true);
        let indexed = indexer.embed(&space(), &testing::context(&host)).await;
        assert_eq!((indexed.embedded, indexed.pending), (0, 2));
        assert_eq!(indexed.note.as_deref(), Some("The search index does not respond. Try again later."));
        assert!(host.log_text().contains("code = 40025"), "{}", host.log_text());
        assert_eq!(tables::count(&test.database(), "rag_vectors WHERE vector IS NOT NULL").await, 0);
        service.fails.set(false);
        let indexed = indexer.embed(&space(), &testing::context(&host)).await;
        assert_eq!((indexed.embedded, indexed.pending, indexed.note), (2, 0, None));
        assert!(service.visible.borrow().is_empty() && service.delayed.borrow().len() == 2);
    });
}

/// R44: the service does not get vectors of another model.
#[test]
fn the_service_does_not_get_vectors_of_another_model() {
    let (_, store, service) = store();
    testing::run(async {
        save(&*store, &space(), texts([("tea", "Warm the pot.")])).await;
        indexed(&store, &space()).await;
        save(&*store, &space(), texts([("hot", "Hot kettle.")])).await;
        let saved = store.save_vectors(&space(), "other", vec![(2, vec![1.0; 32])]).await;
        assert!(saved.is_err());
        // A vector of a passage of another space would replace that of the other space.
        let other = Space { name: "x".into(), ..space() };
        store.save_vectors(&other, "synonyms-0", vec![(1, vec![1.0; 32])]).await.expect("ignored");
        assert_eq!(
            service.delayed.borrow().iter().map(|(id, (of, _))| (*id, of.clone())).collect::<Vec<_>>(),
            [(1, space().namespace())]
        );
    });
}

/// R85: the connections of new passages come from the service, with one query for each passage.
#[test]
fn connections_come_from_the_service() {
    let (test, store, service) = store();
    testing::run(async {
        let of = |prefix: &str| {
            (0..5).map(|nth| (format!("{prefix}{nth}"), format!("Hot kettle {prefix}{nth}."))).collect::<Vec<_>>()
        };
        save(&*store, &space(), of("a")).await;
        indexed(&store, &space()).await;
        service.show();
        service.queries.set(0);
        save(&*store, &space(), of("b")).await;
        indexed(&store, &space()).await;
        assert_eq!(service.queries.get(), 5);
        assert_eq!(tables::count(&test.database(), "rag_neighbours WHERE source > 5 AND target <= 5").await, 25);
    });
}
