//! Settings of tools that are not valid.

use std::rc::Rc;

use edge_mcp::rag::{
    Embedder, Fields, Filter, GraphOptions, Indexer, MemoryStore, Purpose, Rerank, Retriever, SearchScope, SearchTool,
};
use edge_mcp::testing::{self, Client, TestHost};
use edge_mcp::{Context, HandlerError, McpServer, Tool};
use futures::FutureExt;
use futures::future::{LocalBoxFuture, ready};
use serde_json::json;

use crate::server::{docs, endpoint_with, ids, related, search, space, store, tool};

/// A reranker that prefers passages with the word `beans`.
async fn beans(_: String, passages: Vec<String>, _: Context) -> Result<Vec<f64>, HandlerError> {
    Ok(passages.iter().map(|passage| if passage.contains("beans") { 1.0 } else { 0.0 }).collect())
}

fn rerank() -> Rerank {
    Rerank::by(beans).position(0.0)
}

/// R78, R83: a server with an invalid setting cannot be built. The error names the setting.
#[test]
fn an_invalid_setting_is_named() {
    let docs = || Retriever::new("docs", Rc::new(MemoryStore::new()));
    let search = || tool(docs());
    let graph = |options: GraphOptions| tool(docs().graph(options)).tool();
    let options = GraphOptions::default();
    let tools: [(Tool, &str); 19] = [
        (search().name("a b").tool(), "must be named"),
        (search().description(" ").tool(), "has an empty description"),
        (tool(docs().most(0)).tool(), "has an invalid setting: `most` must be from 1 to 50 (got 0)"),
        (tool(docs().most(51)).tool(), "has an invalid setting: `most` must be from 1 to 50 (got 51)"),
        (tool(docs().per_document(0)).tool(), "has an invalid setting: `per_document` must be at least 1 (got 0)"),
        (tool(docs().context(4)).tool(), "has an invalid setting: `context` must be from 0 to 3 (got 4)"),
        (
            tool(docs().within(Filter::eq("a b", 1))).tool(),
            "has an invalid setting: the filter is invalid: `a b` is not",
        ),
        (search().filter(Fields::new().text("a", "A").text("a", "A")).tool(), "the field `a` is declared twice."),
        (
            SearchTool::new(Retriever::new(" ", Rc::new(MemoryStore::new()))).name("search").tool(),
            "has an invalid setting: the name of the index is blank",
        ),
        (tool(docs().meaning_weight(1.1)).tool(), "`meaning_weight` must be from 0 to 1 (got 1.1)"),
        (tool(docs().meaning_weight(f64::NAN)).tool(), "`meaning_weight` must be from 0 to 1 (got NaN)"),
        (tool(docs().min_score(-1.5)).tool(), "`min_score` must be from -1 to 1 (got -1.5)"),
        (tool(docs().candidates(49)).tool(), "`candidates` must be from 50 to 2000 (got 49)"),
        (tool(docs().candidates(2001)).tool(), "`candidates` must be from 50 to 2000 (got 2001)"),
        (tool(docs().diverse(-0.1)).tool(), "`diverse` must be from 0 to 1 (got -0.1)"),
        (tool(docs().rerank(rerank().vector(-1.0))).tool(), "the weight `vector` of `Rerank` must be a number from 0"),
        (
            tool(docs().rerank(rerank().semantic(0.0).vector(0.0).position(0.0))).tool(),
            "a weight of `Rerank` must be more than 0",
        ),
        (graph(GraphOptions { threshold: 2.0, ..options }), "`threshold` must be from 0 to 1 (got 2.0)"),
        (graph(GraphOptions { restart_prob: 1.0, ..options }), "`restart_prob` must be more than 0 and less than 1"),
    ];
    for (tool, problem) in tools {
        let error = McpServer::builder("docs", "1.0.0").tool(tool).build().err().expect(problem).to_string();
        assert!(error.contains(problem), "{error}");
    }
}

/// R12, R78, R83: an invalid setting of the request fails. The caller cannot change it, so only the log names it.
#[test]
fn an_invalid_setting_of_the_request_is_in_the_log() {
    for (scope, problem) in [
        (
            SearchScope::new().graph(|options| GraphOptions { random_walk_steps: 0, ..options }),
            "`random_walk_steps` must be from 1 to 1000 (got 0)",
        ),
        (
            SearchScope::new().graph(|options| GraphOptions { restart_prob: 1.5, ..options }),
            "`restart_prob` must be more than 0 and less than 1 (got 1.5)",
        ),
        (
            SearchScope::new().retriever(|docs| docs.meaning_weight(-0.5)),
            "`meaning_weight` must be from 0 to 1 (got -0.5)",
        ),
        (SearchScope::new().retriever(|docs| docs.min_score(f64::INFINITY)), "`min_score` must be from -1 to 1 (got"),
        (SearchScope::new().retriever(|docs| docs.candidates(0)), "`candidates` must be from 50 to 2000 (got 0)"),
        (
            SearchScope::new().retriever(|docs| docs.rerank(rerank().semantic(f64::NAN))),
            "the weight `semantic` of `Rerank` must be",
        ),
        (SearchScope::new().within(Filter::eq("a b", 1)), "`a b` is not the name of a field"),
    ] {
        let (store, host) = (store(), TestHost::new());
        let endpoint = endpoint_with(Some(scope), move || related(&store).tool());
        let answer = testing::run(Client::new(&endpoint).host(&host).call("related", json!({ "queryText": "tea" })));
        assert!(answer.is_error());
        assert_eq!(answer.text(), "The search failed, because a setting of this server is not valid.");
        assert!(host.log_text().contains(problem), "{}", host.log_text());
    }
}

/// R12, R93: a request can set its reranker, or have none. A client that asks for progress learns that the passages are reranked.
#[test]
fn a_request_can_have_its_own_reranker_or_none() {
    async fn never(_: String, _: Vec<String>, _: Context) -> Result<Vec<f64>, HandlerError> {
        Err(HandlerError::new("The reranker was asked."))
    }
    let reranked = |scope: SearchScope, docs: fn(Retriever) -> Retriever| {
        let store = store();
        let endpoint = endpoint_with(Some(scope), move || tool(docs(Retriever::new("docs", store.clone()))).tool());
        let client = Client::new(&endpoint).meta("progressToken", json!("p"));
        let answer = testing::run(client.call("search", json!({ "queryText": "warm tea beans", "topK": 2 })));
        let sent: Vec<_> = answer.notifications().iter().map(|sent| sent["params"]["message"].clone()).collect();
        (ids(&answer)[0].to_owned(), sent, answer.structured()["note"].clone())
    };
    let all = vec![json!("Searching"), json!("Reranking")];
    let coffee = "coffee#1".to_owned();
    assert_eq!(reranked(SearchScope::new(), |docs| docs.rerank(rerank())), (coffee.clone(), all.clone(), json!(null)));
    let scope = SearchScope::new().retriever(|docs| docs.rerank(rerank()));
    assert_eq!(reranked(scope, |docs| docs.rerank(Rerank::by(never))), (coffee, all, json!(null)));
    let (first, sent, note) =
        reranked(SearchScope::new().retriever(Retriever::no_rerank), |docs| docs.rerank(rerank()));
    assert_eq!((first.as_str(), sent, note), ("tea#1", vec![json!("Searching")], json!(null)));
}

/// R9, R12, R13: a source has the vector of its passage only with this setting.
#[test]
fn vectors_are_included_only_if_they_are_asked_for() {
    let store = store();
    let host = TestHost::new();
    let indexer = Indexer::new(store.clone(), Letters);
    let result = testing::run(indexer.embed(&space(""), &testing::context(&host)));
    assert_eq!((result.embedded, result.note), (6, None));
    for (of_tool, of_request, expected) in
        [(false, None, false), (true, None, true), (false, Some(true), true), (true, Some(false), false)]
    {
        let store = store.clone();
        let scope = SearchScope::new();
        let scope =
            of_request.map_or(scope.clone(), |included| scope.retriever(move |docs| docs.include_vectors(included)));
        let endpoint =
            endpoint_with(Some(scope), move || tool(docs(&store).embedder(Letters).include_vectors(of_tool)).tool());
        let arguments = json!({ "queryText": "warm tea" });
        let answer = testing::run(Client::new(&endpoint).call("search", arguments));
        assert_eq!(answer.structured()["retrieval"], "hybrid");
        let sources = answer.structured()["sources"].as_array().cloned().expect("sources");
        assert_eq!(sources.len(), 6);
        for source in sources {
            let length = source["vector"].as_array().map(Vec::len);
            assert_eq!(length, expected.then_some(26), "{source}");
            assert!(source["scores"]["vector"].is_f64() && source["scores"]["lexical"].is_number(), "{source}");
        }
    }
}

/// Counts the letters of a text.
#[derive(Clone)]
struct Letters;

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
        let count = |text: &str, letter| text.matches(letter).fold(0.0, |count, _| count + 1.0);
        let vectors = texts.iter().map(|text| ('a'..='z').map(|letter| count(text, letter)).collect()).collect();
        ready(Ok(vectors)).boxed_local()
    }
}

/// The filters of the program and of the model together have a limit.
#[test]
fn a_filter_that_is_too_large_together_with_the_others_is_an_error() {
    let of_program = (0..75).fold(Filter::default(), |filter, nth| filter.and(Filter::ne("version", nth)));
    let store = store();
    let endpoint = endpoint_with(None, move || tool(docs(&store).within(of_program.clone())).tool());
    let tests: Vec<_> = (0..10).map(|nth| json!({ "version": nth })).collect();
    let arguments = json!({ "queryText": "tea", "filter": { "$nor": tests } });
    let answer = testing::run(Client::new(&endpoint).call("search", arguments));
    assert!(answer.is_error());
    assert_eq!(
        answer.text(),
        "Argument `filter` has too many tests together with the filters of this server. Use fewer tests."
    );
}

/// The tool is a tool as any other: its scopes, hooks and deadline apply.
#[test]
fn scopes_apply() {
    let store = store();
    let endpoint = endpoint_with(None, move || search(&store).tool().visible_if(|_| false));
    assert_eq!(testing::run(Client::new(&endpoint).list("tools")).names(), [""; 0]);
}
