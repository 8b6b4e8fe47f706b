//! The contracts of stores of passages and vectors, over all stores, and over stores that break a promise.

use std::cell::Cell;
use std::rc::Rc;

use edge_mcp::rag::{
    Document, Edge, Filter, MemoryStore, Passage, PassageId, PendingPassages, SaveCounts, SaveStore, Search,
    SearchResult, SearchStore, Space, SqlitePassages, StoreError, VectorStore, migration,
};
use edge_mcp::testing::{self, TestDatabase, passage_store_contract, vector_store_contract};
use futures::future::LocalBoxFuture;

use crate::vector_index::prompt_service;
use crate::{database, sqlite};

/// Fails with the first answer that differs, because all of them are long.
fn assert_equal(name: &str, answers: &[String], expected: &[String]) {
    for (answer, expected) in answers.iter().zip(expected) {
        assert_eq!(answer, expected, "{name}");
    }
    assert_eq!(answers.len(), expected.len(), "{name}");
}

/// R40, R103: searches, filters, spaces, removal, links, vectors and graphs have equal answers in all stores.
#[test]
fn all_stores_keep_the_contract_with_equal_answers() {
    testing::run(async {
        let expected = vector_store_contract(&Rc::new(MemoryStore::new())).await.expect("in memory");
        assert!(expected.len() > 300, "{}", expected.len());
        let answers = vector_store_contract(&sqlite()).await.expect("in SQLite");
        assert_equal("SQLite", &answers, &expected);
        let with_service = Rc::new(database::store_in(&database::empty()).vector_index(prompt_service()));
        let answers = vector_store_contract(&with_service).await.expect("with a service for vectors");
        assert_equal("with a service for vectors", &answers, &expected);

        let expected = passage_store_contract(&MemoryStore::new()).await.expect("in memory");
        let database = TestDatabase::empty();
        database.migrate(&migration("rag").expect("a prefix")).expect("the tables");
        let without_vectors = SqlitePassages::new(database.database());
        assert_equal(
            "SQLite without vectors",
            &passage_store_contract(&without_vectors).await.expect("kept"),
            &expected,
        );
    });
}

/// A store that breaks the promise with this name, once it is asked.
struct Broken(&'static str, MemoryStore, Cell<bool>);

impl Broken {
    fn breaks(&self, promise: &str) -> bool {
        self.0 == promise
    }
}

type Answer<'a, T> = LocalBoxFuture<'a, Result<T, StoreError>>;

impl SearchStore for Broken {
    fn search(&self, mut search: Search) -> Answer<'_, SearchResult> {
        if self.breaks("filter") {
            search.filter = Filter::default();
        }
        if self.breaks("space") && search.space.name == "b" {
            "a".clone_into(&mut search.space.name);
        }
        if self.breaks("most") {
            search.most = 50;
        }
        if self.breaks("containing") {
            search.containing = None;
        }
        Box::pin(async move {
            let mut found = self.1.search(search).await?;
            if self.breaks("order") {
                found.passages.reverse();
            }
            if self.breaks("metadata") {
                found.passages.iter_mut().for_each(|found| drop(found.passage.metadata.remove("page")));
            }
            Ok(found)
        })
    }

    fn passages<'a>(&'a self, space: &'a Space, ids: &'a [PassageId], filter: &'a Filter) -> Answer<'a, Vec<Passage>> {
        Box::pin(async move {
            let mut passages = self.1.passages(space, ids, filter).await?;
            if self.breaks("the order of ids") {
                passages.reverse();
            }
            Ok(passages)
        })
    }

    fn neighbours<'a>(
        &'a self,
        space: &'a Space,
        ids: &'a [PassageId],
        distance: usize,
        filter: &'a Filter,
    ) -> Answer<'a, Vec<Passage>> {
        let distance = if self.breaks("distance") { 5 } else { distance };
        self.1.neighbours(space, ids, distance, filter)
    }

    fn edges<'a>(
        &'a self,
        space: &'a Space,
        seeds: &'a [PassageId],
        threshold: f64,
        filter: &'a Filter,
    ) -> Answer<'a, Vec<Edge>> {
        Box::pin(async move {
            let all = Filter::default();
            self.1.edges(space, seeds, threshold, if self.breaks("the filter of edges") { &all } else { filter }).await
        })
    }
}

impl SaveStore for Broken {
    fn save<'a>(&'a self, space: &'a Space, document: &'a Document) -> Answer<'a, SaveCounts> {
        Box::pin(async move {
            if self.breaks("numbers") {
                self.1.remove(space, &document.name).await?;
            }
            self.1.save(space, document).await
        })
    }

    fn remove<'a>(&'a self, space: &'a Space, document: &'a str) -> Answer<'a, bool> {
        Box::pin(async move {
            if self.breaks("removal") && self.2.replace(true) {
                Ok(false)
            } else {
                self.1.remove(space, document).await
            }
        })
    }
}

impl VectorStore for Broken {
    fn pending<'a>(&'a self, space: &'a Space, model: &'a str, most: usize) -> Answer<'a, PendingPassages> {
        self.1.pending(space, model, most)
    }

    fn save_vectors<'a>(
        &'a self,
        space: &'a Space,
        model: &'a str,
        vectors: Vec<(PassageId, Vec<f32>)>,
    ) -> Answer<'a, ()> {
        let model = if self.breaks("model") { "any" } else { model };
        self.1.save_vectors(space, model, vectors)
    }

    fn refuse<'a>(&'a self, space: &'a Space, ids: &'a [PassageId]) -> Answer<'a, ()> {
        let ids = if self.breaks("refusals") { &[] } else { ids };
        self.1.refuse(space, ids)
    }

    fn remove_vectors<'a>(&'a self, index: &'a str) -> Answer<'a, ()> {
        let index = if self.breaks("removal of vectors") { "" } else { index };
        self.1.remove_vectors(index)
    }
}

#[test]
fn a_store_that_breaks_a_promise_is_told_which() {
    for (promise, sentence) in [
        ("filter", "must find exactly"),
        ("space", "must find exactly"),
        ("metadata", "must find exactly"),
        ("most", "must find at most `most` passages"),
        ("containing", "must find only passages that contain the text"),
        ("order", "must have scores from 0 to 1, best first"),
        ("the order of ids", "in the order of the numbers"),
        ("distance", "must be beside it in its section"),
        ("the filter of edges", "must not be returned"),
        ("numbers", "must return SaveCounts"),
        ("removal", "must return true"),
        ("model", "`pending` failed: OtherModel"),
        ("refusals", "that was refused 1 times"),
        ("removal of vectors", "`remove_vectors` must delete the vectors"),
    ] {
        let store = Rc::new(Broken(promise, MemoryStore::new(), Cell::new(false)));
        let error = testing::run(vector_store_contract(&store)).expect_err(promise);
        assert!(error.contains(sentence), "{promise}: {error}");
    }
}
