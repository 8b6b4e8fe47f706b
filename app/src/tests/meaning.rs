//! Tests of the search by meaning, with models on a test network.

use std::cell::Cell;
use std::rc::Rc;

use edge_mcp::ConfigError;
use edge_mcp::host::Fetched;
use edge_mcp::models::{Ai, AiFailure};
use edge_mcp::rag::{IndexedVector, PassageId, VectorIndex, VectorIndexError, VectorQuery};
use edge_mcp::testing::{self, Answer, Client, TestDatabase, TestHost, TestTasks, variables};
use edge_mcp::{Endpoint, StaticTokens};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};
use serde_json::{Value, json};

use super::{endpoint_with, migrated, network};
use crate::search_settings::SearchSettings;

const URL: (&str, &str) = ("KB_EMBEDDING_URL", "http://localhost:1/v1");
const MODEL: (&str, &str) = ("KB_EMBEDDING_MODEL", "small");
const RERANKER_URL: (&str, &str) = ("KB_RERANKER_URL", "http://localhost:1/v1");
const RERANKER_MODEL: (&str, &str) = ("KB_RERANKER_MODEL", "sorter");
const WORKERS_AI: (&str, &str) = ("KB_EMBEDDING", "workers-ai");
const VECTORIZE: (&str, &str) = ("KB_VECTORS", "vectorize");

/// A binding that nothing calls.
struct Unused;

impl Ai for Unused {
    fn run(&self, _: &str, _: String) -> LocalBoxFuture<'static, Result<Vec<u8>, AiFailure>> {
        ready(Err(AiFailure("unused".into()))).boxed_local()
    }
}

impl VectorIndex for Unused {
    fn query(&self, _: VectorQuery) -> LocalBoxFuture<'_, Result<Vec<PassageId>, VectorIndexError>> {
        ready(Err(VectorIndexError("unused".into()))).boxed_local()
    }

    fn upsert(&self, _: &str, _: Vec<IndexedVector>) -> LocalBoxFuture<'_, Result<(), VectorIndexError>> {
        ready(Err(VectorIndexError("unused".into()))).boxed_local()
    }

    fn delete(&self, _: &[PassageId]) -> LocalBoxFuture<'_, Result<(), VectorIndexError>> {
        ready(Err(VectorIndexError("unused".into()))).boxed_local()
    }
}

/// Reads the settings of a Worker with or without the bindings.
fn settings(pairs: &[(&str, &str)], has_bindings: bool) -> Result<SearchSettings, String> {
    let missing = |name| ConfigError::new(name, "is not a binding");
    let settings = SearchSettings::from_environment(
        &variables(pairs),
        || if has_bindings { Ok(Rc::new(Unused)) } else { Err(missing("AI")) },
        || if has_bindings { Ok(Rc::new(Unused)) } else { Err(missing("VECTORS")) },
    );
    settings.map_err(|error| error.to_string())
}

/// R98, R112: each wrong value is an error that names the variable.
#[test]
fn invalid_settings_are_rejected() {
    const KEY: (&str, &str) = ("KB_EMBEDDING_API_KEY", "k");
    const RERANKER: (&str, &str) = ("KB_RERANKER", "workers-ai");
    const RERANKER_KEY: (&str, &str) = ("KB_RERANKER_API_KEY", "k");
    for (variables, expected) in [
        (&[][..], Ok([false, false, false])),
        (&[URL, MODEL], Ok([true, false, false])),
        (&[URL, MODEL, KEY, RERANKER_URL, RERANKER_MODEL, RERANKER_KEY, VECTORIZE], Ok([true, true, true])),
        (&[WORKERS_AI, RERANKER, VECTORIZE], Ok([true, true, true])),
        (&[WORKERS_AI, ("KB_EMBEDDING_URL", " "), MODEL], Ok([true, false, false])),
        (&[RERANKER, RERANKER_MODEL], Ok([false, true, false])),
        (&[URL], Err("KB_EMBEDDING_MODEL is not set")),
        (&[MODEL], Err("KB_EMBEDDING_URL is not set")),
        (&[KEY], Err("KB_EMBEDDING_URL is not set")),
        (&[("KB_EMBEDDING_URL", "http://a.example.com"), MODEL], Err("KB_EMBEDDING_URL must be an https: URL")),
        (&[URL, MODEL, ("KB_EMBEDDING_API_KEY", "ü")], Err("KB_EMBEDDING_API_KEY has characters")),
        (&[("KB_EMBEDDING", "openai")], Err("KB_EMBEDDING must be `workers-ai`, or must not be set")),
        (&[WORKERS_AI, URL, MODEL], Err("KB_EMBEDDING_URL must not be set together with KB_EMBEDDING")),
        (&[WORKERS_AI, KEY], Err("KB_EMBEDDING_API_KEY must not be set together with KB_EMBEDDING")),
        (&[RERANKER_URL], Err("KB_RERANKER_MODEL is not set")),
        (&[RERANKER_MODEL], Err("KB_RERANKER_URL is not set")),
        (&[("KB_RERANKER_URL", "x"), RERANKER_MODEL], Err("KB_RERANKER_URL must be")),
        (&[("KB_RERANKER", "on")], Err("KB_RERANKER must be `workers-ai`, or must not be set")),
        (&[RERANKER, RERANKER_URL], Err("KB_RERANKER_URL must not be set together with KB_RERANKER")),
        (&[RERANKER, RERANKER_KEY], Err("KB_RERANKER_API_KEY must not be set together with KB_RERANKER")),
        (&[URL, MODEL, ("KB_VECTORS", "d1")], Err("KB_VECTORS must be `vectorize`, or must not be set")),
        (&[VECTORIZE], Err("KB_VECTORS needs an embedding model: set KB_EMBEDDING to `workers-ai`, or set")),
        (&[VECTORIZE, RERANKER], Err("KB_VECTORS needs an embedding model")),
    ] {
        match (settings(variables, true), expected) {
            (Ok(SearchSettings { embedder, rerank, index }), Ok(expected)) => {
                assert_eq!([embedder.is_some(), rerank.is_some(), index.is_some()], expected, "{variables:?}");
            }
            (Err(error), Err(problem)) => assert!(error.starts_with(problem), "{error}"),
            (read, _) => panic!("{variables:?}: {:?}", read.map(drop)),
        }
    }
    for (variables, binding) in
        [(&[WORKERS_AI][..], "AI is not"), (&[RERANKER], "AI is not"), (&[URL, MODEL, VECTORIZE], "VECTORS is not")]
    {
        let error = settings(variables, false).map(drop).expect_err("the binding is missing");
        assert!(error.starts_with(binding), "{error}");
    }
    assert!(settings(&[URL, MODEL], false).is_ok(), "a binding that is not used can be missing");
}

/// The answers of the models.
#[derive(Clone, Copy, PartialEq)]
enum State {
    Up,
    Down,
    /// Vectors with another number of dimensions.
    Long,
    /// Vectors that are not numbers.
    Broken,
}

/// Groups of words with the same meaning. Their places are the dimensions of the vectors.
const MEANINGS: [&[&str]; 3] = [&["tea", "infusion", "beverage"], &["car", "vehicle"], &["zebra", "stripes"]];

/// A knowledge base with an embedding model and a reranker.
struct Meaning {
    database: TestDatabase,
    network: TestHost,
    state: Rc<Cell<State>>,
    settings: SearchSettings,
}

impl Meaning {
    fn new(variables: &[(&str, &str)]) -> Self {
        let state = Rc::new(Cell::new(State::Up));
        let answers = state.clone();
        let network = network::of(move |request| {
            let body: Value = serde_json::from_str(request.body()).expect("JSON");
            let answer = match answers.get() {
                State::Down => return Ok(Fetched::new(400, "the model is ill")),
                state if request.uri().path().ends_with("/embeddings") => embeddings(&body, state),
                _ => rerank(&body),
            };
            Ok(Fetched::new(200, answer.to_string()))
        });
        Self { database: migrated(), network, state, settings: settings(variables, true).expect("settings") }
    }

    fn endpoint(&self) -> Endpoint {
        endpoint_with(&self.database, None, &self.settings)
    }

    fn call(&self, tool: &str, arguments: Value) -> Answer {
        testing::run(Client::new(&self.endpoint()).host(&self.network).call(tool, arguments))
    }

    fn save(&self, slug: &str, text: &str) -> Value {
        let saved = self.call("save-document", json!({ "slug": slug, "title": slug, "text": text }));
        assert!(!saved.is_error(), "{saved:?}");
        saved.structured().clone()
    }

    /// Returns the mode of a search, its note, and the slugs that it found.
    fn search(&self, tool: &str, question: &str) -> (String, String, Vec<String>) {
        let found = self.call(tool, json!({ "queryText": question, "topK": 2 }));
        assert!(!found.is_error(), "{found:?}");
        let found = found.structured();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let slugs =
            found["sources"].as_array().expect("sources").iter().map(|source| text(&source["metadata"]["slug"]));
        (text(&found["retrieval"]), text(&found["note"]), slugs.collect())
    }
}

fn embeddings(body: &Value, state: State) -> Value {
    let texts = body["input"].as_array().expect("texts").iter().map(|text| text.as_str().expect("a text"));
    let vector = |(index, text): (usize, &str)| {
        let text = text.to_lowercase();
        let mut vector: Vec<_> = MEANINGS
            .iter()
            .map(|words| json!(words.iter().filter(|word| text.contains(**word)).count()))
            .chain([json!(0.1)])
            .collect();
        match state {
            State::Long => vector.push(json!(1)),
            State::Broken => vector = vec![Value::Null; 4],
            _ => {}
        }
        json!({ "index": index, "embedding": vector })
    };
    json!({ "data": texts.enumerate().map(vector).collect::<Vec<_>>() })
}

/// Prefers long passages.
fn rerank(body: &Value) -> Value {
    let score = |text: &Value| if text.as_str().is_some_and(|text| text.len() > 100) { 1.0 } else { 0.0 };
    let documents = body["documents"].as_array().expect("documents").iter().enumerate();
    json!({ "results": documents.map(|(index, text)| json!({ "index": index, "relevance_score": score(text) })).collect::<Vec<_>>() })
}

const ENDPOINT: [(&str, &str); 2] = [URL, MODEL];

/// R97: all tools that search find a passage that has no word of the question.
#[test]
fn passages_are_found_by_their_meaning() {
    let base = Meaning::new(&ENDPOINT);
    let saved = base.save("tea", "Warm the tea pot.");
    assert_eq!(saved, json!({ "slug": "tea", "uri": "kb://documents/tea", "pending": 0 }));
    let documents = json!([{ "slug": "cars", "title": "Cars", "text": "A car rolls." }, { "slug": "zoo", "title": "Zoo", "text": "A zebra." }]);
    let ingested = base.call("run_ingest", json!({ "documents": documents }));
    assert_eq!(
        (&ingested.structured()["pending"], ingested.structured()["documents"].as_array().map(Vec::len)),
        (&json!(0), Some(2))
    );
    for (tool, mode) in [("search-passages", "hybrid"), ("related-passages", "graph")] {
        let (retrieval, _, slugs) = base.search(tool, "Which vehicle?");
        assert_eq!((&*retrieval, &*slugs[0]), (mode, "cars"), "{tool}");
    }
    let found = base.call("search-documents", json!({ "query": "stripes", "limit": 1 }));
    assert_eq!(found.structured()["documents"][0]["slug"], "zoo");
    assert_eq!(base.call("run_reindex", json!({})).structured(), &json!({ "embedded": 0, "pending": 0 }));
    // Deleting is one request to the database, also with vectors.
    base.database.fail_after(1);
    assert_eq!(base.call("delete-document", json!({ "slug": "zoo" })).structured(), &json!({ "existed": true }));
    base.database.recover();
    assert_ne!(base.search("search-passages", "stripes").2.first().map(String::as_str), Some("zoo"));
}

#[test]
fn a_reranker_changes_the_order() {
    let texts =
        [("short", "Tea, tea."), ("long", "Something about tea. It is much longer, so the reranker likes it a lot.")];
    for (variables, first) in [(&ENDPOINT[..], "short"), (&[URL, MODEL, RERANKER_URL, RERANKER_MODEL], "long")] {
        let base = Meaning::new(variables);
        for (slug, text) in texts {
            base.save(slug, &if slug == "long" { text.repeat(15) } else { text.to_owned() });
        }
        assert_eq!(base.search("search-passages", "short tea").2[0], first);
    }
    // A reranker also orders passages that are found by their words.
    let base = Meaning::new(&[RERANKER_URL, RERANKER_MODEL]);
    let texts = texts.map(|(slug, text)| json!({ "slug": slug, "title": "T", "text": text }));
    let saved = base.call("run_ingest", json!({ "documents": texts }));
    assert_eq!(saved.structured().get("pending"), None);
    assert_eq!(base.search("search-passages", "tea").0, "lexical");
    base.state.set(State::Down);
    let (_, note, slugs) = base.search("search-passages", "tea");
    assert!(note.contains("reranker") && slugs.len() == 2, "{note}");
}

/// R111: while the model fails, documents are saved and found by their words. The log has no question and no text.
#[test]
fn a_failing_model_leaves_the_search_by_words() {
    for state in [State::Down, State::Broken] {
        let base = Meaning::new(&ENDPOINT);
        base.save("tea", "Warm the tea pot.");
        base.state.set(state);
        let saved = base.save("cars", "A car rolls quietly.");
        assert_eq!(saved["pending"], 1);
        assert!(saved["note"].as_str().is_some_and(|note| note.contains("embedding model")), "{saved}");
        let (mode, note, slugs) = base.search("search-passages", "rolls quietly");
        assert_eq!((&*mode, slugs), ("lexical", vec!["cars".to_owned()]));
        assert!(note.starts_with("The passages were found by their words alone"), "{note}");
        let log = base.network.log_text();
        assert!(log.contains("embedding model's") && !log.contains("quietly") && !log.contains("is ill"), "{log}");
        let failed = base.call("run_reindex", json!({}));
        assert!(failed.result()["isError"] == true && failed.text().contains("embedding model"), "{failed:?}");
        base.state.set(State::Up);
        assert_eq!(base.call("run_reindex", json!({})).structured(), &json!({ "embedded": 1, "pending": 0 }));
        assert_eq!(base.search("search-passages", "vehicle").0, "hybrid");
    }
}

/// R44: vectors of two models are never compared.
#[test]
fn another_model_needs_new_vectors() {
    let mut base = Meaning::new(&ENDPOINT);
    base.save("tea", "Warm the tea pot.");
    base.save("cars", "A car rolls.");
    base.state.set(State::Long);
    for model in ["small", "large"] {
        base.settings = settings(&[URL, ("KB_EMBEDDING_MODEL", model)], true).expect("settings");
        let (mode, note, _) = base.search("search-passages", "infusion pot");
        assert!(mode == "lexical" && note.contains("another embedding model"), "{model}: {mode} {note}");
        let saved = base.save("zoo", &format!("A zebra of {model}."));
        assert!(saved["note"].as_str().is_some_and(|note| note.contains("another embedding model")), "{saved}");
    }
    assert_eq!(base.call("run_reindex", json!({})).structured(), &json!({ "embedded": 3, "pending": 0 }));
    let (mode, note, slugs) = base.search("search-passages", "infusion");
    assert_eq!((&*mode, &*note, &*slugs[0]), ("hybrid", "", "tea"));
}

/// The vectors of 1 000 documents are made by one call. An interruption repeats at most one step.
#[test]
fn reindex_is_a_durable_task() {
    let base = Meaning::new(&ENDPOINT);
    base.state.set(State::Down);
    for nth in 0..40 {
        let documents: Vec<_> = (0..25)
            .map(|of| json!({ "slug": format!("d{nth}-{of}"), "title": "T", "text": format!("Car {nth} {of}.") }))
            .collect();
        base.call("run_ingest", json!({ "documents": documents }));
    }
    base.state.set(State::Up);
    let tasks = TestTasks::new(&base.network);
    let endpoint = tasks.serve(base.endpoint());
    let client = Client::new(&endpoint)
        .host(&base.network)
        .capabilities(json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } }));
    let call = async {
        let task = client.call("run_reindex", json!({})).await.result()["taskId"].clone();
        tasks.kill_at_write(6);
        tasks.run().await.expect("the task ends");
        assert!(tasks.has_failed());
        tasks.run().await.expect("the task ends");
        client.request("tasks/get", json!({ "taskId": task })).await.result().clone()
    };
    let task = testing::run(call);
    // The interrupted attempt has saved vectors, which the next one does not make again.
    assert_eq!(task["result"]["structuredContent"], json!({ "embedded": 800, "pending": 0 }), "{task}");
    assert_eq!(base.call("run_reindex", json!({})).structured(), &json!({ "embedded": 0, "pending": 0 }));
}

/// R111: the database fails at each of its requests in turn. A saved document stays saved, and nothing else changes.
#[test]
fn a_failing_database_leaves_no_partial_state() {
    let is_told = |answer: &Answer| {
        let note = answer.structured()["note"].as_str().unwrap_or_default();
        answer.result()["isError"] == true || note.contains("does not respond")
    };
    for (tool, arguments) in [
        ("save-document", json!({ "slug": "cars", "title": "Cars", "text": "A car rolls." })),
        ("search-passages", json!({ "queryText": "vehicle" })),
        ("related-passages", json!({ "queryText": "vehicle" })),
        ("run_reindex", json!({})),
    ] {
        let mut requests = 0;
        loop {
            let base = Meaning::new(&ENDPOINT);
            base.save("tea", "Warm the tea pot.");
            base.state.set(State::Down);
            base.save("zoo", "A zebra.");
            base.state.set(State::Up);
            base.database.fail_after(requests);
            let answer = base.call(tool, arguments.clone());
            assert!(!format!("{answer:?}").contains("lets it fail"), "{answer:?}");
            base.database.recover();
            let has_failed = is_told(&answer);
            let again = base.call(tool, arguments.clone());
            assert!(!is_told(&again), "{tool} after {requests}: {again:?}");
            let pending = base.call("run_reindex", json!({}));
            assert_eq!(pending.structured()["pending"], 0, "{tool} after {requests}");
            assert_eq!(base.search("search-passages", "stripes").2[0], "zoo", "{tool} after {requests}");
            if !has_failed {
                break;
            }
            requests += 1;
        }
        assert!((1..20).contains(&requests), "{tool}: {requests} requests");
    }
}

/// The most bytes of the definition of `run_reindex`. A model reads it in each conversation.
const REINDEX: usize = 500;

/// Only servers with an embedding model publish `run_reindex`, and the members about vectors.
#[test]
fn the_catalogue_grows_only_with_a_model() {
    let tools = |settings: &SearchSettings| {
        let list = testing::run(Client::new(&endpoint_with(&TestDatabase::empty(), None, settings)).list("tools"));
        list.result()["tools"].as_array().expect("tools").clone()
    };
    let (before, with) = (tools(&SearchSettings::default()), tools(&Meaning::new(&ENDPOINT).settings));
    let changed: Vec<_> = with.iter().filter(|tool| !before.contains(tool)).map(|tool| &tool["name"]).collect();
    assert_eq!(changed, ["search-documents", "save-document", "run_ingest", "run_reindex"]);
    let reindex = with.iter().find(|tool| tool["name"] == "run_reindex").expect("the tool").to_string();
    assert!(reindex.len() <= REINDEX, "{} bytes: {reindex}", reindex.len());
}

/// R94: the vectors are a part of writing.
#[test]
fn reindex_needs_the_scope_of_writing() {
    let token = |scope: &str| json!({ "token": scope, "subject": scope, "scopes": [scope] });
    let tokens = json!([token("kb:read"), token("kb:write")]).to_string();
    let tokens = StaticTokens::from_json("TOKENS", Some(&tokens)).expect("tokens");
    let base = Meaning::new(&ENDPOINT);
    let endpoint = base.endpoint().auth(tokens);
    for (caller, status) in [("kb:read", 403), ("kb:write", 200)] {
        let answer =
            testing::run(Client::new(&endpoint).token(caller).host(&base.network).call("run_reindex", json!({})));
        assert_eq!(answer.status(), status, "{caller}");
    }
}
