//! The settings of a search by meaning.

use std::rc::Rc;

use edge_mcp::rag::{
    Filter, Indexer, MemoryStore, Rerank, Retriever, Search, SearchMode, SearchResult, SearchScope, SearchStore,
    SearchTool, Space, VectorStore,
};
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{BuildError, Context, HandlerError, McpServer, RequestInfo};
use serde_json::json;

use crate::database::{self, Observed};
use crate::embedder::Synonyms;
use crate::{save, space};

async fn embed<S: VectorStore + 'static>(store: &Rc<S>, of: &Space) {
    let cx = testing::context(&TestHost::new());
    while Indexer::new(store.clone(), Synonyms::default()).embed(of, &cx).await.pending > 0 {}
}

/// Calls a test with the store in memory, and with that in SQLite.
async fn with_both(texts: &[(&str, &str)], test: impl AsyncFn(Rc<dyn SearchStore>)) {
    let (memory, sqlite) = (Rc::new(MemoryStore::new()), Rc::new(database::store_in(&database::empty())));
    let texts = || texts.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
    save(&*memory, &space(), texts()).await;
    save(&*sqlite, &space(), texts()).await;
    embed(&memory, &space()).await;
    embed(&sqlite, &space()).await;
    test(memory).await;
    test(sqlite).await;
}

async fn found(retriever: &Retriever, search: impl Into<Search>) -> SearchResult {
    retriever.retrieve(search, &testing::context(&TestHost::new())).await.expect("found")
}

fn names(found: &SearchResult) -> Vec<&str> {
    found.passages.iter().map(|found| found.passage.document.as_str()).collect()
}

const TEXTS: &[(&str, &str)] = &[
    ("tea", "Warm the pot."),
    ("hot", "Hot kettle, hot kettle."),
    ("car", "Start the engine."),
    ("fog", "Lemon fog."),
];

/// R69, R73: `min_score` cuts only passages that are found by their meaning. A passage that is found by its words also has a similarity.
#[test]
fn the_least_similarity_does_not_cut_passages_with_the_words() {
    testing::run(with_both(TEXTS, async |store| {
        let retriever = Retriever::new("docs", store).embedder(Synonyms::default());
        let all = found(&retriever, "heat lemon").await;
        assert_eq!(all.passages.len(), 4);
        assert!(all.passages.iter().all(|found| found.similarity.is_some() && found.lexical.is_some()));
        let least = found(&retriever.clone().min_score(0.99), "heat lemon").await;
        assert_eq!(names(&least), ["fog"]);
        assert!(least.passages[0].similarity.is_some_and(|cosine| cosine < 0.99));
        assert_eq!(names(&found(&retriever.clone().min_score(-1.0), "heat lemon").await), names(&all));
        let required = found(&retriever.meaning_weight(1.0).min_score(0.99), "heat lemon").await;
        assert_eq!((names(&required), required.mode), (vec![], SearchMode::Vector));
    }));
}

/// The weight 0 is a search by words that does not ask the model, and the weight 1 is a search without words.
#[test]
fn the_weights_0_and_1_are_searches_by_one_of_both() {
    testing::run(with_both(TEXTS, async |store| {
        let model = Synonyms::default();
        let retriever = Retriever::new("docs", store).embedder(model.clone());
        let by_words = found(&retriever.clone().meaning_weight(0.0), "warm kettle").await;
        assert_eq!((by_words.mode, by_words.passages.len()), (SearchMode::Lexical, 2));
        assert_eq!(model.texts(), [""; 0]);
        let by_meaning = found(&retriever.clone().meaning_weight(1.0), "warm kettle").await;
        assert_eq!((by_meaning.mode, by_meaning.passages.len()), (SearchMode::Vector, 4));
        for found in &by_meaning.passages {
            assert_eq!((found.lexical, Some(found.score)), (None, found.similarity.map(|cosine| cosine.max(0.0))));
        }
        // A question without words has a meaning.
        let found = found(&retriever, "?!").await;
        assert_eq!((found.mode, found.note), (SearchMode::Vector, None));
        assert_eq!(model.texts(), ["warm kettle", "?!"]);
    }));
}

/// R10: an unknown index is an error, also without words. A space without vectors has no results by meaning.
#[test]
fn an_unknown_index_is_an_error() {
    testing::run(with_both(TEXTS, async |store| {
        for weight in [0.0, 0.5, 1.0] {
            let retriever = Retriever::new("doc", store.clone()).embedder(Synonyms::default()).meaning_weight(weight);
            let error = retriever.retrieve("warm kettle", &testing::context(&TestHost::new())).await;
            assert_eq!(error.expect_err("unknown").message(), "Unknown index `doc`.", "{weight}");
        }
    }));
    testing::run(async {
        let empty = Retriever::new("docs", Rc::new(database::store_in(&database::empty())));
        let found = found(&empty.embedder(Synonyms::default()).meaning_weight(1.0), "warm").await;
        assert_eq!((found.passages.len(), found.mode), (0, SearchMode::Vector));
    });
}

/// A store returns at most as many passages as it is asked for.
#[test]
fn a_store_returns_a_limited_number_of_passages() {
    testing::run(with_both(TEXTS, async |store| {
        struct Limited(Rc<dyn SearchStore>);
        impl SearchStore for Limited {
            fn search(
                &self,
                search: Search,
            ) -> futures::future::LocalBoxFuture<'_, Result<SearchResult, edge_mcp::rag::StoreError>> {
                Box::pin(async move {
                    let found = self.0.search(search.top_k(2)).await?;
                    assert_eq!(found.passages.len(), 2);
                    Ok(found)
                })
            }

            fn passages<'a>(
                &'a self,
                space: &'a Space,
                ids: &'a [edge_mcp::rag::PassageId],
                filter: &'a Filter,
            ) -> futures::future::LocalBoxFuture<'a, Result<Vec<edge_mcp::rag::Passage>, edge_mcp::rag::StoreError>>
            {
                self.0.passages(space, ids, filter)
            }
        }
        let retriever = Retriever::new("docs", Rc::new(Limited(store))).embedder(Synonyms::default());
        assert_eq!(found(&retriever, "heat heat lemon").await.passages.len(), 2);
    }));
}

/// R74: the same text again comes after other passages. R9: the vectors that this needs are not in the result.
#[test]
fn different_passages_are_preferred() {
    let texts = &[("a", "Hot pot."), ("b", "Hot pot."), ("c", "Hot pot engine.")];
    testing::run(with_both(texts, async |store| {
        let retriever = Retriever::new("docs", store).embedder(Synonyms::default());
        assert_eq!(names(&found(&retriever, "hot pot").await), ["a", "b", "c"]);
        let different = found(&retriever.clone().diverse(0.5), "hot pot").await;
        assert_eq!(names(&different), ["a", "c", "b"]);
        assert!(different.passages.iter().all(|found| found.vector.is_none()));
        assert_eq!(names(&found(&retriever.clone().diverse(0.5), Search::new("hot pot").top_k(2)).await), ["a", "c"]);
        let with_vectors = found(&retriever.diverse(1.0).include_vectors(true), "hot pot").await;
        assert_eq!(names(&with_vectors), ["a", "b", "c"]);
        assert!(with_vectors.passages.iter().all(|found| found.vector.as_ref().is_some_and(|it| it.len() == 32)));
    }));
}

/// R74, R76, R81: a reranker orders all candidates before passages of some documents, and different ones, are chosen.
#[test]
fn passages_are_chosen_from_all_that_are_reranked() {
    async fn scores(_: String, passages: Vec<String>, _: Context) -> Result<Vec<f64>, HandlerError> {
        Ok(passages.iter().map(|passage| if passage.contains("kettle") { 0.9 } else { 0.1 }).collect())
    }
    let texts = &[
        ("a", "# A\n\nHot kettle.\n\n# B\n\nHot kettle.\n\n# C\n\nHot kettle."),
        ("b", "Hot pot."),
        ("c", "Hot car."),
    ];
    testing::run(with_both(texts, async |store| {
        let retriever = Retriever::new("docs", store).embedder(Synonyms::default()).rerank(Rerank::by(scores));
        let two = || Search::new("hot").top_k(2);
        assert_eq!(names(&found(&retriever, two()).await), ["a", "a"]);
        assert_eq!(names(&found(&retriever.clone().per_document(1), two()).await)[0], "a");
        assert_eq!(found(&retriever.clone().per_document(1), two()).await.passages.len(), 2);
        assert_ne!(names(&found(&retriever.diverse(0.1), two()).await), ["a", "a"]);
    }));
}

/// R33, R71, R92: with more passages than are compared exactly, the nearest are found. A search has at most 5 requests to the database.
#[test]
fn a_large_space_is_searched_by_codes() {
    let test = database::empty();
    let store = Rc::new(database::store_in(&test));
    testing::run(async {
        let text =
            |nth: usize| format!("{} number{nth} word{}", if nth % 60 == 59 { "kettle" } else { "violin" }, nth % 50);
        save(&*store, &space(), (0..300).map(|nth| (format!("d{nth}"), text(nth)))).await;
        embed(&store, &space()).await;
        let observed = Observed::new(&test);
        let retriever = Retriever::new("docs", Rc::new(observed.store())).embedder(Synonyms::default());
        for (question, requests) in [("tea", 4), ("word7 tea", 4), ("violim tea", 5)] {
            let found = found(&retriever.clone().candidates(50), Search::new(question).top_k(5)).await;
            assert_eq!(found.mode, SearchMode::Hybrid);
            let made = observed.requests();
            assert_eq!(made, requests, "{question}");
        }
        let by_meaning = found(&retriever.meaning_weight(1.0), Search::new("tea").top_k(5)).await;
        let mut nearest = names(&by_meaning);
        nearest.sort_unstable();
        assert_eq!(nearest, ["d119", "d179", "d239", "d299", "d59"]);
    });
}

/// R37, R85, R92: with connections and neighbours, a search has more requests to the database, but a constant number.
#[test]
fn the_requests_of_all_steps_are_limited() {
    let test = database::empty();
    let store = Rc::new(database::store_in(&test));
    testing::run(async {
        save(&*store, &space(), (0..30).map(|nth| (format!("d{nth}"), format!("hot kettle{nth} violin")))).await;
        embed(&store, &space()).await;
        let observed = Observed::new(&test);
        let retriever = Retriever::new("docs", Rc::new(observed.store())).embedder(Synonyms::default()).context(1);
        found(&retriever, "hot kettle").await;
        assert!(observed.requests() <= 6);
    });
}

/// R88, R89, R90, R109: interleaved requests of many spaces get only passages of their spaces, which match the filter of the server.
#[test]
fn interleaved_requests_stay_in_their_spaces() {
    const SPACES: usize = 50;
    async fn check<S: VectorStore + 'static>(store: Rc<S>) {
        let of = |nth: usize| Space { name: format!("tenant {nth}"), ..space() };
        for nth in 0..SPACES {
            let texts = (0..4)
                .map(|at| (format!("of-{nth}"), at))
                .map(|(name, at)| (format!("{name}-{at}"), format!("Hot pot {at} {nth}.")));
            save(&*store, &of(nth), texts).await;
            embed(&store, &of(nth)).await;
        }
        let host = TestHost::new();
        let server = move |request: &RequestInfo| -> Result<McpServer, BuildError> {
            let tenant = request.header("X-Tenant").unwrap_or_default();
            request.extend(SearchScope::new().space(format!("tenant {tenant}")));
            let docs = Retriever::new("docs", store.clone()).embedder(Synonyms::default()).spaces_required();
            let search = SearchTool::new(docs).name("search").tool();
            McpServer::builder("docs", "1.0.0").tool(search).build()
        };
        let endpoint = testing::endpoint(server);
        let calls = (0..SPACES).map(|nth| {
            let client = Client::new(&endpoint).host(&host).header("X-Tenant", nth.to_string());
            async move {
                let answer = client.call("search", json!({ "queryText": "heat the kettle", "topK": 50 })).await;
                let sources = answer.structured()["sources"].as_array().cloned().expect("sources");
                let own = format!("of-{nth}-");
                assert_eq!(sources.len(), 4);
                assert!(sources.iter().all(|source| source["id"].as_str().is_some_and(|id| id.starts_with(&own))));
            }
        });
        futures::future::join_all(calls).await;
    }
    testing::run(check(Rc::new(MemoryStore::new())));
    testing::run(check(Rc::new(database::store_in(&database::empty()))));
}

/// R27, R28: the codes of a space are on several pages, and a search reads those of its space only.
#[test]
fn a_search_reads_the_pages_of_its_space() {
    let test = database::empty();
    let store = Rc::new(database::store_in(&test));
    testing::run(async {
        let last = "INSERT INTO sqlite_sequence (name, seq) VALUES ('rag_chunks', 4090)";
        test.database().query(last).run().await.expect("the last number");
        let texts = |of: &str| (0..10).map(|nth| (format!("{of}{nth}"), format!("Hot pot {nth}."))).collect::<Vec<_>>();
        save(&*store, &space(), texts("own")).await;
        embed(&store, &space()).await;
        let pages = "SELECT count(DISTINCT page) FROM rag_codes";
        assert_eq!(test.database().query(pages).first::<u64>().await.expect("a row"), Some(2));
        let retriever = Retriever::new("docs", store.clone()).embedder(Synonyms::default()).meaning_weight(1.0);
        let search = async || {
            let before = test.steps();
            let found = found(&retriever, Search::new("heat the kettle").top_k(50)).await;
            (test.steps() - before, found.passages)
        };
        let (steps, alone) = search().await;
        assert_eq!(alone.len(), 10);
        for nth in 0..10 {
            let other = Space { name: format!("other {nth}"), ..space() };
            save(&*store, &other, texts("other")).await;
            embed(&store, &other).await;
        }
        let (steps_later, later) = search().await;
        assert_eq!(later, alone);
        assert!(steps_later < steps + 100, "{steps} steps, and {steps_later} with the passages of others");
    });
}
