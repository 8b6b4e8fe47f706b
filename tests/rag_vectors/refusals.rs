//! Passages that the embedding model refuses.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use edge_mcp::rag::{Embedder, IndexReport, Indexer, MemoryStore, Purpose, VectorStore};
use edge_mcp::testing::{self, TestHost};
use edge_mcp::{Context, HandlerError};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};

use crate::{database, document, save, space};

/// A model that refuses a request with a text that contains `poison`.
#[derive(Clone, Default)]
struct Delicate {
    is_down: Rc<Cell<bool>>,
    requests: Rc<RefCell<Vec<usize>>>,
}

impl Delicate {
    /// Returns the number of requests since the last call.
    fn requests(&self) -> usize {
        self.requests.take().len()
    }
}

impl Embedder for Delicate {
    fn model(&self) -> String {
        "delicate".into()
    }

    fn embed(
        &self,
        texts: Vec<String>,
        _: Purpose,
        _: &Context,
    ) -> LocalBoxFuture<'static, Result<Vec<Vec<f32>>, HandlerError>> {
        self.requests.borrow_mut().push(texts.len());
        let is_refused = self.is_down.get() || texts.iter().any(|text| text.contains("poison"));
        let answer = if is_refused { Err(HandlerError::new("No.")) } else { Ok(vec![vec![0.6, 0.8]; texts.len()]) };
        ready(answer).boxed_local()
    }
}

fn each_store(check: impl AsyncFn(Rc<dyn VectorStore>, &Context)) {
    let stores: [Rc<dyn VectorStore>; 2] =
        [Rc::new(MemoryStore::new()), Rc::new(database::store_in(&database::empty()))];
    for store in stores {
        testing::run(check(store, &testing::context(&TestHost::new())));
    }
}

fn counts(indexed: &IndexReport) -> (usize, usize, usize) {
    (indexed.embedded, indexed.pending, indexed.refused)
}

const NOTE: &str = "The embedding model refused passages of `bad`. A search finds them only by their words. Change these passages, or \
                    divide them.";

/// The first passage of all is refused: the others get vectors in the same call.
#[test]
fn a_refused_passage_does_not_keep_others_from_their_vectors() {
    each_store(async |store, cx| {
        let model = Delicate::default();
        let indexer = Indexer::new(store.clone(), model.clone());
        save(&*store, &space(), [("bad".to_owned(), "poison".to_owned())]).await;
        save(&*store, &space(), (0..119).map(|nth| (format!("d{nth}"), format!("lemon {nth}")))).await;
        let first = indexer.embed(&space(), cx).await;
        assert_eq!((counts(&first), first.note.as_deref()), ((119, 0, 1), Some(NOTE)));
        // 50, 25, 13, 7, 4, 2 and 1 texts are refused, and each other half is not. The second and the third batch follow.
        assert_eq!(model.requests(), 7 + 1 + 6 + 2);

        // It is tried twice more, after a new passage.
        for embedded in [1, 0] {
            save(&*store, &space(), [("good".to_owned(), "a new lemon".to_owned())]).await;
            let later = indexer.embed(&space(), cx).await;
            assert_eq!((counts(&later), later.note.as_deref()), ((embedded, 0, 1), Some(NOTE)));
        }
        model.requests();
        let last = indexer.embed(&space(), cx).await;
        assert_eq!((counts(&last), last.note, model.requests()), ((0, 0, 1), None, 0));

        // A changed passage is a new one.
        let changed = indexer.save(&space(), &document("bad", "harmless"), cx).await.expect("saved");
        assert_eq!((counts(&changed), changed.note), ((1, 0, 0), None));
    });
}

/// While a model is down, no passage is refused.
#[test]
fn a_model_that_is_down_refuses_no_passage() {
    each_store(async |store, cx| {
        let model = Delicate::default();
        let indexer = Indexer::new(store.clone(), model.clone());
        save(&*store, &space(), (0..60).map(|nth| (format!("d{nth}"), format!("lemon {nth}")))).await;
        model.is_down.set(true);
        for _ in 0..5 {
            let failed = indexer.embed(&space(), cx).await;
            assert_eq!((counts(&failed), failed.note.as_deref()), ((0, 60, 0), Some("No.")));
            assert_eq!(model.requests(), 2);
        }
        model.is_down.set(false);
        assert_eq!(counts(&indexer.embed(&space(), cx).await), (60, 0, 0));
    });
}

/// A call has at most 32 refused requests, and later calls go on behind the refused passages.
#[test]
fn a_call_has_a_limited_number_of_refused_requests() {
    each_store(async |store, cx| {
        let model = Delicate::default();
        let indexer = Indexer::new(store.clone(), model.clone());
        save(&*store, &space(), (0..100).map(|nth| (format!("bad{nth}"), format!("poison {nth}")))).await;
        save(&*store, &space(), [("good".to_owned(), "lemon".to_owned())]).await;
        let (mut embedded, mut calls) = (0, 0);
        while embedded == 0 {
            let indexed = indexer.embed(&space(), cx).await;
            assert!(indexed.note.is_some());
            assert!(model.requests() <= 32 + 20);
            embedded += indexed.embedded;
            calls += 1;
            assert!(calls < 20, "{indexed:?}");
        }
        // Another model may accept them.
        store.remove_vectors(&space().index).await.expect("removed");
        assert_eq!(store.pending(&space(), "other", 9).await.expect("pending").count, 101);
    });
}
