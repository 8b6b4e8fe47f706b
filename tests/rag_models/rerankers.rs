//! Rerankers: requests, answers, and settings.

use std::time::Duration;

use edge_mcp::agents::ChatModel;
use edge_mcp::rag::{ChatScorer, RerankModel, Scorer};
use edge_mcp::testing::{self, TestHost, context, variables};
use edge_mcp::{Context, HandlerError};
use serde_json::{Value, json};

use crate::embeddings::{KEY, URL};
use crate::fake_ai::{FakeAi, Reply, answer, failure};
use crate::fake_model::{asked, model, status, text};
use crate::network;

/// Asks for the scores of passages.
pub(crate) fn score(host: &TestHost, scorer: &impl Scorer, passages: &[&str]) -> Result<Vec<f64>, HandlerError> {
    let passages = passages.iter().map(|passage| (*passage).to_owned()).collect();
    testing::run(host.run(scorer.score("my question", passages, &context(host)))).expect("it ends")
}

fn remote() -> RerankModel {
    RerankModel::new(URL, "reranker").and_then(|model| model.api_key(KEY)).expect("a model")
}

fn chat() -> ChatScorer {
    ChatScorer::new(ChatModel::new(URL, "small").and_then(|model| model.api_key(KEY)).expect("a model"))
}

/// R80, R81: an endpoint gets one request for all passages. The scores are in the order of the passages, and a passage without a score has
/// negative infinity.
#[test]
fn an_endpoint_scores_passages_by_index() {
    let results = json!({ "results": [
        { "index": 2, "relevance_score": 0.9, "document": { "text": "c" } },
        { "index": 0, "relevance_score": -1.5 },
    ] });
    let host = model([status(200, &results.to_string())]);
    let scores = score(&host, &remote().parameter("return_documents", false), &["a", "b", "c"]).expect("scores");
    assert_eq!(scores, [-1.5, f64::NEG_INFINITY, 0.9]);
    let request = host.requests().pop().expect("a request");
    assert_eq!(request.uri(), "https://models.example.com/v1/rerank");
    assert_eq!(request.headers()["authorization"], format!("Bearer {KEY}"));
    let body = json!({
        "return_documents": false, "model": "reranker", "query": "my question", "top_n": 3, "documents": ["a", "b", "c"],
    });
    assert_eq!(asked(&host), [body]);
    let limits = network::limits(&host).expect("limits");
    assert_eq!((limits.time, limits.bytes), (Duration::from_secs(10), 1 << 20));
}

/// R80: a reranker of Workers AI gets the passages as contexts.
#[test]
fn workers_ai_scores_contexts() {
    let ai = FakeAi::new([answer(&json!({ "response": [{ "id": 1, "score": 0.25 }, { "id": 0, "score": 1 }] }))]);
    let reranker = RerankModel::workers_ai(ai.clone(), RerankModel::BGE_RERANKER_BASE);
    assert_eq!(score(&TestHost::new(), &reranker, &["a", "b"]).expect("scores"), [1.0, 0.25]);
    let inputs = json!({ "query": "my question", "top_k": 2, "contexts": [{ "text": "a" }, { "text": "b" }] });
    assert_eq!(ai.asked(), [("@cf/baai/bge-reranker-base".to_owned(), inputs)]);
}

/// R80: a chat model gets one request, with the passages as JSON data. Its answer is an array, also in a code fence.
#[test]
fn a_chat_model_scores_passages() {
    let host = model([text("```json\n[0.2, 1]\n```")]);
    assert_eq!(score(&host, &chat(), &["a \"quoted\"", "b"]).expect("scores"), [0.2, 1.0]);
    let request = &asked(&host)[0];
    assert_eq!(request.get("tools"), None);
    assert_eq!(request["messages"][0]["role"], "system");
    let data: Value = serde_json::from_str(request["messages"][1]["content"].as_str().expect("a text")).expect("JSON");
    assert_eq!(data, json!({ "question": "my question", "passages": ["a \"quoted\"", "b"] }));
    assert_eq!(network::limits(&host).expect("limits").time, Duration::from_secs(10));
    for answer in ["[0.2]", "[0.2, 1, 1]", "[0.2, \"1\"]", "[0.2, 1e999]", "Both are good.", "{\"a\": 1}"] {
        let error = score(&model([text(answer)]), &chat(), &["a", "b"]).expect_err(answer);
        assert!(error.message().starts_with("The model gave an answer that cannot be used."), "{error:?}");
    }
}

/// R80: an async function is a scorer.
#[test]
fn an_async_function_is_a_scorer() {
    async fn lengths(question: String, passages: Vec<String>, _: Context) -> Result<Vec<f64>, HandlerError> {
        assert_eq!(question, "my question");
        Ok(passages.iter().map(|passage| if passage.len() > 1 { 1.0 } else { 0.0 }).collect())
    }
    assert_eq!(score(&TestHost::new(), &lengths, &["a", "bb"]).expect("scores"), [0.0, 1.0]);
}

/// R81, R91: a failure is an error. Neither its sentence nor the log has the key, the question or a passage.
#[test]
fn failures_have_sentences_without_private_text() {
    let echo = format!(r#"{{"error":{{"message":"{KEY} my question my passage","code":"{KEY}"}}}}"#);
    let hosts = [status(401, &echo), status(400, &echo), status(200, &echo)]
        .map(|reply| (model([reply.clone(), reply]), remote()));
    let mut shown = Vec::new();
    for (host, reranker) in hosts {
        let error = score(&host, &reranker, &["my passage"]).expect_err("a failure");
        shown.push(format!("{error:?} {}", host.log_text()));
    }
    for reply in [failure(format!("5007: {echo}")), failure(format!("3006: {echo}")), Reply::Silence] {
        let reranker = RerankModel::workers_ai(FakeAi::new([reply]), RerankModel::BGE_RERANKER_BASE);
        let host = TestHost::new();
        let error = score(&host, &reranker, &["my passage"]).expect_err("a failure");
        assert!(host.waits().iter().sum::<Duration>() <= Duration::from_secs(10));
        shown.push(format!("{error:?} {}", host.log_text()));
    }
    let host = model([text(&echo)]);
    shown.push(format!("{:?} {}", score(&host, &chat(), &["my passage"]).expect_err("a failure"), host.log_text()));
    for shown in shown {
        assert!(shown.contains("reranker") || shown.contains("model"), "{shown}");
        for private in [KEY, "my question", "my passage"] {
            assert!(!shown.contains(private), "{shown}");
        }
    }
}

/// The settings of a reranker have the meaning of those of chat models.
#[test]
fn settings_are_checked() {
    const NAMES: [&str; 3] = ["R_URL", "R_MODEL", "R_KEY"];
    let read = |url| RerankModel::from_environment(&variables(&[("R_URL", url), ("R_MODEL", "m")]), NAMES);
    assert!(read(URL).expect("no error").is_some());
    let error = read("https://models.example.com/v1/rerank").expect_err("an error").to_string();
    assert_eq!(error, "R_URL must be the base URL before /rerank, such as https://models.example.com/v1");
    assert!(!format!("{:?}", remote()).contains(KEY));
}
