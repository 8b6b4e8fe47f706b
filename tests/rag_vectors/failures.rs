//! Failures of the model, the database, the service and the reranker.

use std::rc::Rc;

use edge_mcp::rag::{
    Indexer, MemoryStore, Rerank, Retriever, Search, SearchMode, SearchResult, Space, SqliteVectors, StoreFailure,
    VectorStore,
};
use edge_mcp::testing::{self, TestDatabase, TestHost};
use edge_mcp::{Context, HandlerError};

use crate::embedder::{CAUSE, DIMENSIONS, FAILED, Synonyms};
use crate::{database, document, save, space, tables};

const BY_WORDS: &str = "The passages were found by their words alone, because the search by meaning failed.";
const NO_RESPONSE: &str = "The search index does not respond. Try again later.";
const OTHER_MODEL: &str =
    "The search index was made with another embedding model. Its operator must make the vectors again.";

/// A database with two documents that have vectors.
fn indexed() -> (TestDatabase, Rc<SqliteVectors>) {
    let test = database::empty();
    let store = Rc::new(database::store_in(&test));
    testing::run(async {
        save(&*store, &space(), [("tea".into(), "Warm the pot.".into()), ("car".into(), "Start the engine.".into())])
            .await;
        let indexer = Indexer::new(store.clone(), Synonyms::default());
        assert_eq!(indexer.embed(&space(), &testing::context(&TestHost::new())).await.embedded, 2);
    });
    (test, store)
}

/// Searches, and returns the log too.
fn searched(retriever: &Retriever, question: &str) -> (Result<SearchResult, HandlerError>, String) {
    let host = TestHost::new();
    let found = testing::run(retriever.retrieve(Search::new(question), &testing::context(&host)));
    (found, host.log_text())
}

fn names(found: &SearchResult) -> Vec<&str> {
    found.passages.iter().map(|found| found.passage.document.as_str()).collect()
}

/// Checks that a search finds passages by their words, and says why. Without words, the failure is an error.
fn check_fallback(retriever: &Retriever, message: &str, cause: &str) {
    let (found, log) = searched(retriever, "warm kettle");
    let found = found.expect("passages are found by their words");
    assert_eq!((names(&found), found.mode), (vec!["tea"], SearchMode::Lexical));
    assert_eq!(found.note, Some(format!("{BY_WORDS} {message}")));
    assert!(found.passages[0].similarity.is_none() && !message.contains("SECRET"));
    assert!(log.contains(cause) && !log.contains("kettle"), "{log}");
    let error = searched(&retriever.clone().meaning_weight(1.0), "warm kettle").0.expect_err("a failure");
    assert_eq!(error.message(), message);
}

/// R52, R91, R111: if the model fails, passages are found by their words, or the failure is an error. Only the log has the cause.
#[test]
fn a_failure_of_the_model_is_told() {
    let model = Synonyms::default();
    model.break_down(true);
    check_fallback(&Retriever::new("docs", indexed().1).embedder(model.clone()), FAILED, CAUSE);
    let memory = Rc::new(MemoryStore::new());
    testing::run(save(&*memory, &space(), [("tea".into(), "Warm the pot.".into())]));
    check_fallback(&Retriever::new("docs", memory).embedder(model), FAILED, CAUSE);
}

/// R44, R52: vectors of another model are not compared.
#[test]
fn a_search_with_another_model_is_by_words() {
    let cause = "the index has vectors of `synonyms-0` with 32 dimensions, and not of `synonyms-1` with 32";
    check_fallback(&Retriever::new("docs", indexed().1).embedder(Synonyms::numbered(1)), OTHER_MODEL, cause);
}

/// R37: a space with too many passages is searched by words.
#[test]
fn too_many_passages_are_searched_by_words() {
    let (_, store) = indexed();
    let store = Rc::new((*store).clone().most_scanned(1));
    let message = "The index `docs` has 2 passages in this space, and a search by meaning reads at most 1. Its operator must use a \
                   vector index such as Vectorize.";
    check_fallback(&Retriever::new("docs", store).embedder(Synonyms::default()), message, message);
}

/// R52, R111: malformed codes, vectors and centres in the database are failures, and not empty results.
#[test]
fn malformed_vectors_are_failures() {
    for (sql, cause) in [
        ("UPDATE rag_codes SET code = substr(code, 2) WHERE id = 1", "the codes of the vectors are malformed"),
        (
            "UPDATE rag_codes SET code = replace(hex(zeroblob(7)), '00', 'A') WHERE id = 1",
            "the codes of the vectors are malformed",
        ),
        ("UPDATE rag_codes SET code = ''", "the codes of the vectors are malformed"),
        ("UPDATE rag_vectors SET vector = '#' WHERE id = 2", "a vector is malformed"),
        ("UPDATE rag_models SET centre = 'AACAPw=='", "the centre of the vectors is malformed"),
        ("UPDATE rag_models SET centre = '#'", "the centre of the vectors is malformed"),
    ] {
        let (test, store) = indexed();
        testing::run(test.database().query(sql).run()).expect(sql);
        println!("{sql}");
        check_fallback(&Retriever::new("docs", store).embedder(Synonyms::default()), NO_RESPONSE, cause);
    }
}

/// R52, R71, R92, R111: a search has at most 5 requests to the database. A failure of any of them is told.
#[test]
fn a_failure_of_each_request_of_a_search_is_told() {
    // The second question has a word with a mistake, which needs another request.
    for (question, most) in [("heat the engine", 4), ("heat the enginr", 5)] {
        let mut outcomes = Vec::new();
        for request in 0.. {
            let (test, store) = indexed();
            let retriever = Retriever::new("docs", store).embedder(Synonyms::default());
            test.fail_after(request);
            let (found, log) = searched(&retriever, question);
            test.recover();
            let found = match found {
                Err(error) => {
                    assert_eq!(error.message(), NO_RESPONSE);
                    outcomes.push("error");
                    continue;
                }
                Ok(found) => found,
            };
            if found.mode == SearchMode::Hybrid {
                assert_eq!((found.passages.len(), found.note), (2, None));
                break;
            }
            assert_eq!(names(&found), ["car"]);
            assert_eq!(found.note, Some(format!("{BY_WORDS} {NO_RESPONSE}")));
            assert!(log.contains("a test lets it fail"), "{log}");
            outcomes.push("by words");
        }
        assert_eq!(outcomes.len(), most, "{outcomes:?}");
        assert!(outcomes.contains(&"by words") && outcomes[0] == "error", "{outcomes:?}");
    }
}

/// R62, R63, R64, R111: a failure of each request of an indexer is told. Nothing is half saved, and the next calls save the rest.
#[test]
fn an_indexer_continues_after_each_failure() {
    for request in [0, 1, 2, 4, 5, 8, 12, 13] {
        let test = database::empty();
        let (store, model) = (Rc::new(database::store_in(&test)), Synonyms::default());
        let (indexer, host) = (Indexer::new(store.clone(), model.clone()), TestHost::new());
        testing::run(async {
            let texts = (0..60).map(|nth| (format!("d{nth}"), format!("lemon {nth}")));
            save(&*store, &space(), texts).await;
            test.fail_after(request);
            let last = indexer.save(&space(), &document("tea", "Warm the pot."), &testing::context(&host)).await;
            test.recover();
            tables::check(&test.database()).await;
            let embedded = tables::count(&test.database(), "rag_vectors WHERE vector IS NOT NULL").await;
            match last {
                Err(error) => {
                    assert_eq!((error.message(), embedded), (NO_RESPONSE, 0));
                    assert!(request == 0, "only the first request saves the document");
                }
                Ok(indexed) => {
                    assert_eq!(indexed.saved.inserted, 1);
                    assert_eq!(u64::try_from(indexed.embedded), Ok(embedded));
                    let is_done = indexed.note.is_none();
                    // Before the first answer of the database, the number is not known.
                    assert_eq!(indexed.embedded + indexed.pending, if request == 1 { 0 } else { 61 }, "{request}");
                    assert_eq!(is_done, indexed.embedded == 61, "{request}");
                    assert!(is_done || host.log_text().contains("a test lets it fail"), "{}", host.log_text());
                }
            }
            let rest = indexer.embed(&space(), &testing::context(&host)).await;
            let stored = if request == 0 { 60 } else { 61 };
            assert_eq!((rest.embedded as u64 + embedded, rest.pending, rest.note), (stored, 0, None));
            // R64: equal content is embedded once, apart from the batch that failed.
            assert!(model.texts().len() <= 61 + 50);
            let again = indexer.embed(&space(), &testing::context(&host)).await;
            assert_eq!((again.embedded, again.pending), (0, 0));
            tables::check(&test.database()).await;
        });
    }
}

/// R63, R111: if the model fails, the document is saved and found by its words. R46: the text of a vector has the headings.
#[test]
fn a_document_is_saved_without_the_model() {
    let (store, model, host) = (Rc::new(database::store_in(&database::empty())), Synonyms::default(), TestHost::new());
    let indexer = Indexer::new(store.clone(), model.clone());
    testing::run(async {
        model.break_down(true);
        let text = "# Tea\n\nWarm the pot.\n\n## Cups\n\nHeat them.\n\n# Tea\n\nWarm the pot.";
        let indexed = indexer.save(&space(), &document("tea", text), &testing::context(&host)).await.expect("saved");
        assert_eq!((indexed.saved.inserted, indexed.embedded, indexed.pending), (3, 0, 3));
        assert_eq!(indexed.note.as_deref(), Some(FAILED));
        assert!(host.log_text().contains(CAUSE));
        let cx = testing::context(&host);
        let found = Retriever::new("docs", store).embedder(model.clone()).retrieve("pot", &cx).await.expect("found");
        assert_eq!(found.passages.len(), 2);
        model.break_down(false);
        let indexed = indexer.embed(&space(), &cx).await;
        assert_eq!((indexed.embedded, indexed.pending), (3, 0));
        // R62: equal texts are sent once.
        assert_eq!(model.texts(), ["Tea\nWarm the pot.", "Tea > Cups\nHeat them."]);
        indexer.save(&space(), &document("tea", text), &cx).await.expect("saved");
        assert_eq!(model.texts().len(), 2, "the same document again costs no vector");
    });
}

/// R64: one call saves at most 200 vectors. The next calls save the rest, also two at the same time.
#[test]
fn a_call_saves_a_limited_number_of_vectors() {
    let (store, cx) = (Rc::new(database::store_in(&database::empty())), testing::context(&TestHost::new()));
    let indexer = Indexer::new(store.clone(), Synonyms::default());
    testing::run(async {
        save(&*store, &space(), (0..450).map(|nth| (format!("d{nth}"), format!("lemon {nth}")))).await;
        let indexed = indexer.reindex(&space(), &cx).await.expect("vectors");
        assert_eq!((indexed.embedded, indexed.pending), (200, 250));
        let of = space();
        let both = futures::join!(indexer.embed(&of, &cx), indexer.embed(&of, &cx));
        assert!(both.0.note.is_none() && both.1.note.is_none());
        while indexer.embed(&space(), &cx).await.pending > 0 {}
        assert_eq!(store.pending(&space(), "synonyms-0", 9).await.expect("pending").count, 0);
    });
}

/// R34, R44: with another model, only `reindex` deletes the vectors and saves new ones, for all spaces of the index.
#[test]
fn another_model_needs_a_new_index() {
    let (test, store) = indexed();
    let (indexer, host) = (Indexer::new(store.clone(), Synonyms::numbered(1)), TestHost::new());
    let cx = testing::context(&host);
    testing::run(async {
        let saved = indexer.save(&space(), &document("hot", "Hot kettle."), &cx).await.expect("saved");
        assert_eq!((saved.embedded, saved.note.as_deref()), (0, Some(OTHER_MODEL)));
        assert!(host.log_text().contains("`synonyms-0` with 32 dimensions"));
        test.fail_after(1);
        assert_eq!(indexer.reindex(&space(), &cx).await.expect_err("a failure").message(), NO_RESPONSE);
        test.recover();
        tables::check(&test.database()).await;
        let indexed = indexer.reindex(&space(), &cx).await.expect("vectors");
        assert_eq!((indexed.embedded, indexed.pending), (3, 0));
        tables::check(&test.database()).await;
        let found = Retriever::new("docs", store).embedder(Synonyms::numbered(1)).retrieve("heat tea", &cx).await;
        let found = found.expect("found");
        assert_eq!((found.mode, found.note, found.passages.len()), (SearchMode::Hybrid, None, 3));
    });
}

/// R36, R48, R107: vectors that cannot be compared are not saved, in neither store.
#[test]
fn hostile_vectors_are_not_saved() {
    let good = vec![1.0; DIMENSIONS];
    let (infinite, nan) = ([&good[1..], &[f32::INFINITY]].concat(), [&good[1..], &[f32::NAN]].concat());
    for vectors in [
        vec![good.clone(), vec![0.0; DIMENSIONS]],
        vec![good.clone(), infinite],
        vec![nan],
        vec![good.clone(), good[1..].to_vec()],
        vec![vec![]],
        vec![vec![1.0; 4097]],
    ] {
        let vectors: Vec<_> = (1..).zip(vectors).collect();
        let test = database::empty();
        let (sqlite, memory) = (database::store_in(&test), MemoryStore::new());
        let stores: [&dyn VectorStore; 2] = [&sqlite, &memory];
        for store in stores {
            testing::run(async {
                let texts = [("tea", "Warm the pot."), ("car", "Start the engine.")];
                for (name, text) in texts {
                    store.save(&space(), &document(name, text)).await.expect("saved");
                }
                let error = store.save_vectors(&space(), "m", vectors.clone()).await.expect_err("they are not valid");
                assert_eq!(error.kind, StoreFailure::Unavailable);
                assert_eq!(store.pending(&space(), "n", 9).await.expect("no model is recorded").count, 2);
                // Numbers of passages that do not exist.
                let ids = [i64::MIN, -1, 0, 77, i64::MAX].map(|id| (id, vec![0.5; DIMENSIONS]));
                store.save_vectors(&space(), "m", ids.into()).await.expect("ignored");
                let unknown = Space { name: "unknown".into(), ..space() };
                store.save_vectors(&unknown, "m", vec![(1, vec![0.5; DIMENSIONS])]).await.expect("ignored");
                assert_eq!(store.pending(&space(), "n", 9).await.expect("no model is recorded").count, 2);
                // The largest and the smallest numbers have a direction.
                let most = vec![f32::MAX; 4096];
                let least = vec![f32::from_bits(1); 4096];
                store.save_vectors(&space(), "m", vec![(1, most), (2, least)]).await.expect("saved");
                assert_eq!(store.pending(&space(), "m", 9).await.expect("pending").count, 0);
            });
        }
        testing::run(tables::check(&test.database()));
    }
}

/// R81, R82, R111: if the reranker fails, the order stays, and only the log has the cause. A reranker needs no vectors.
#[test]
fn a_failure_of_the_reranker_is_told() {
    async fn fails(_: String, _: Vec<String>, _: Context) -> Result<Vec<f64>, HandlerError> {
        Err(HandlerError::new("The reranker is busy.").because("status 429 SECRET"))
    }
    async fn reversed(_: String, passages: Vec<String>, _: Context) -> Result<Vec<f64>, HandlerError> {
        Ok(passages.iter().map(|passage| if passage.contains("engine") { 1.0 } else { 0.0 }).collect())
    }
    let (_, store) = indexed();
    for is_by_meaning in [true, false] {
        let retriever = Retriever::new("docs", store.clone());
        let retriever = if is_by_meaning { retriever.embedder(Synonyms::default()) } else { retriever };
        let (found, log) = searched(&retriever.clone().rerank(Rerank::by(fails)), "warm pot engine");
        let found = found.expect("the order stays");
        assert_eq!(names(&found), ["tea", "car"]);
        let note = "The passages are in the order of the search, because the reranker failed.";
        assert_eq!(found.note.as_deref(), Some(note));
        assert!(log.contains("SECRET") && !log.contains("pot"), "{log}");
        let rerank = Rerank::by(reversed).semantic(1.0).vector(0.0).position(0.0);
        let found = searched(&retriever.rerank(rerank), "warm pot engine").0.expect("found");
        assert_eq!((names(&found), found.passages[0].rerank), (vec!["car", "tea"], Some(1.0)));
    }
}
