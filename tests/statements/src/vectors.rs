//! The statements of the store of vectors.

use std::cell::RefCell;
use std::fmt::Debug;
use std::rc::Rc;

use edge_mcp::rag::{
    Chunk, Document, Embedder, Filter, IndexedVector, PassageId, Purpose, Retriever, SaveStore, Search, SearchMode,
    SearchStore, Space, SqliteVectors, StoreError, StoreFailure, VectorIndex, VectorIndexError, VectorQuery,
    VectorStore,
};
use edge_mcp::storage::Database;
use edge_mcp::{Context, HandlerError};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};
use serde_json::json;

use crate::Failure;

/// The number of passages of the first document. The centre is calculated after 64 vectors.
const MANY: usize = 70;
/// A number that no passage has.
const STALE: PassageId = 9_000_000;

/// Runs each statement of the store at least once.
pub(crate) async fn check(store: &SqliteVectors, cx: &Context) -> Vec<Failure> {
    let space = Space { index: "vectors".into(), name: String::new() };
    let mut checks = Checks { store: Rc::new(store.clone()), space, cx, failures: Vec::new() };
    if let Err(error) = checks.run().await {
        checks.failures.push(format!("vectors: {error:?}"));
    }
    checks.failures
}

/// Counts the letters of a text.
#[derive(Clone)]
struct Letters;

fn vector(text: &str) -> Vec<f32> {
    ('a'..='z').map(|letter| text.matches(letter).fold(0.0, |count, _| count + 1.0)).collect()
}

impl Embedder for Letters {
    fn model(&self) -> String {
        "letters".into()
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

/// A service that finds one passage, and one that does not exist.
#[derive(Default)]
struct Service(RefCell<Vec<PassageId>>);

impl VectorIndex for Service {
    fn query(&self, _: VectorQuery) -> LocalBoxFuture<'_, Result<Vec<PassageId>, VectorIndexError>> {
        ready(Ok(vec![STALE])).boxed_local()
    }

    fn upsert(&self, _: &str, _: Vec<IndexedVector>) -> LocalBoxFuture<'_, Result<(), VectorIndexError>> {
        ready(Ok(())).boxed_local()
    }

    fn delete(&self, ids: &[PassageId]) -> LocalBoxFuture<'_, Result<(), VectorIndexError>> {
        self.0.borrow_mut().extend(ids);
        ready(Ok(())).boxed_local()
    }
}

fn document(name: &str, kind: &str, texts: impl IntoIterator<Item = String>) -> Document {
    let chunk = |text: String| Chunk { heading: vec!["Title".into()], range: 0..text.len(), text, ..Chunk::default() };
    Document {
        name: name.to_owned(),
        metadata: [("kind".to_owned(), json!(kind))].into_iter().collect(),
        chunks: texts.into_iter().map(chunk).collect(),
    }
}

struct Checks<'s> {
    store: Rc<SqliteVectors>,
    space: Space,
    cx: &'s Context,
    failures: Vec<Failure>,
}

impl Checks<'_> {
    fn equal<T: Debug + PartialEq>(&mut self, what: &str, got: &T, expected: &T) {
        if got != expected {
            self.failures.push(format!("{what}: {got:?}, expected {expected:?}"));
        }
    }

    async fn run(&mut self) -> Result<(), StoreError> {
        let many = document("many", "x", (0..MANY).map(|nth| format!("lemon {nth}")));
        self.store.save(&self.space, &many).await?;
        self.store.save(&self.space, &document("b", "y", ["zzzz quiz lemon".to_owned()])).await?;
        self.save(MANY).await?;
        self.finds("zz", Filter::default(), None, &["many"]).await;
        self.save(1).await?;
        let saved = "SELECT generation FROM rag_models WHERE index_name = 'vectors' AND saved = 71 AND centre <> ''";
        let generation: Option<u64> = self.database().query(saved).first().await?;
        self.equal("the centre", &generation, &Some(1));

        self.finds("zz", Filter::default(), None, &["b", "many"]).await;
        self.finds("zz", Filter::eq("kind", "x"), None, &["many"]).await;
        self.finds("zz", Filter::default(), Some("quiz"), &["b"]).await;
        self.finds("zz", Filter::eq("kind", "x"), Some("quiz"), &[]).await;
        self.connected().await?;
        self.service().await;
        self.other_model().await?;
        self.remove().await
    }

    fn database(&self) -> Database {
        // The trait `SearchStore` has a method of this name too.
        SqliteVectors::passages(&self.store).database().clone()
    }

    /// Saves the vectors of passages that have none.
    async fn save(&mut self, most: usize) -> Result<(), StoreError> {
        let pending = self.store.pending(&self.space, "letters", most).await?;
        self.equal("pending", &pending.passages.len(), &most);
        let vectors = pending.passages.iter().map(|passage| (passage.id, vector(&passage.text))).collect();
        self.store.save_vectors(&self.space, "letters", vectors).await
    }

    /// Checks the names of the documents that a search by meaning finds.
    async fn finds(&mut self, question: &str, filter: Filter, containing: Option<&str>, expected: &[&str]) {
        let search = Search { containing: containing.map(str::to_owned), ..Search::new(question).within(filter) };
        let retriever = Retriever::new(self.space.index.clone(), self.store.clone()).per_document(1);
        match retriever.embedder(Letters).meaning_weight(1.0).retrieve(search, self.cx).await {
            Ok(found) => {
                let names: Vec<_> = found.passages.iter().map(|found| found.passage.document.as_str()).collect();
                self.equal("found by meaning", &(names, found.mode), &(expected.to_vec(), SearchMode::Vector));
            }
            Err(error) => self.failures.push(format!("a search by meaning: {error:?}")),
        }
    }

    /// Passages of different documents that contain the same letters are connected.
    async fn connected(&mut self) -> Result<(), StoreError> {
        let pending = self.store.pending(&self.space, "letters", 9).await?;
        self.equal("nothing is pending", &pending.count, &0);
        let last: Option<PassageId> = self.database().query("SELECT max(id) FROM rag_vectors").first().await?;
        let seed = last.unwrap_or_default();
        let edges = self.store.edges(&self.space, &[seed], 0.3, &Filter::default()).await?;
        let is_between = edges.iter().all(|edge| edge.source == seed || edge.target == seed);
        self.equal(
            "connections of similar passages, between documents",
            &(is_between, edges.is_empty()),
            &(true, false),
        );
        Ok(())
    }

    async fn service(&mut self) {
        let (service, own) = (Rc::new(Service::default()), self.store.clone());
        self.store = Rc::new((*own).clone().vector_index(service.clone()));
        self.finds("zz", Filter::default(), None, &[]).await;
        self.equal("deleted from the service", &*service.0.borrow(), &vec![STALE]);
        self.store = own;
    }

    async fn other_model(&mut self) -> Result<(), StoreError> {
        let other = self.store.pending(&self.space, "other", 9).await.err().map(|error| error.kind);
        self.equal("another model", &other, &Some(StoreFailure::OtherModel));
        self.store.remove_vectors(&self.space.index).await?;
        let pending = self.store.pending(&self.space, "other", 9).await?;
        self.equal("without vectors", &(pending.passages.len(), pending.count), &(9, MANY + 1));
        self.save(3).await
    }

    async fn remove(&mut self) -> Result<(), StoreError> {
        for name in ["many", "b"] {
            self.store.remove(&self.space, name).await?;
        }
        self.store.remove_vectors(&self.space.index).await?;
        for table in ["rag_vectors", "rag_codes", "rag_neighbours", "rag_models"] {
            let database = self.database();
            let count = database.query(format!("SELECT count(*) FROM {table}")).first::<u64>().await?;
            self.equal(table, &count, &Some(0));
        }
        Ok(())
    }
}
