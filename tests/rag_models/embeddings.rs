//! Embedding models: requests, answers, retries, and settings.

use std::time::Duration;

use edge_mcp::host::FetchError;
use edge_mcp::rag::{Embedder, EmbeddingModel, Purpose};
use edge_mcp::testing::{self, TestHost, call, context, variables};
use edge_mcp::{Context, HandlerError, McpServer, Tool};
use serde_json::{Value, json};

use crate::fake_ai::{FakeAi, Reply, answer, failure};
use crate::fake_model::{self, asked, model, status};
use crate::network;

pub(crate) const URL: &str = "https://models.example.com/v1";
pub(crate) const KEY: &str = "sk-0123456789";

pub(crate) fn remote(name: &str) -> EmbeddingModel {
    EmbeddingModel::new(URL, name).and_then(|model| model.api_key(KEY)).expect("a model")
}

/// Asks for the vectors of texts.
pub(crate) fn embed(
    host: &TestHost,
    embedder: &impl Embedder,
    texts: &[&str],
    purpose: Purpose,
) -> Result<Vec<Vec<f32>>, HandlerError> {
    let texts = texts.iter().map(|text| (*text).to_owned()).collect();
    testing::run(host.run(embedder.embed(texts, purpose, &context(host)))).expect("it ends")
}

/// Returns an answer of `/embeddings` with these vectors, in order.
pub(crate) fn vectors(vectors: &[&[f32]]) -> Value {
    let item =
        |(index, vector): (usize, &&[f32])| json!({ "object": "embedding", "index": index, "embedding": vector });
    json!({ "object": "list", "data": vectors.iter().enumerate().map(item).collect::<Vec<_>>(), "usage": {} })
}

fn replies(values: &[Value]) -> Vec<fake_model::Reply> {
    values.iter().map(|value| status(200, &value.to_string())).collect()
}

/// R48: the vectors of an endpoint are in the order of their indexes.
#[test]
fn an_endpoint_gets_the_texts_and_returns_vectors_by_index() {
    let shuffled = json!({ "data": [
        { "index": 1, "embedding": [0, -2, 3e-1] },
        { "index": 0, "embedding": [1.5, 0, 0], "object": "embedding" },
    ] });
    let host = model(replies(&[shuffled]));
    let embedder = remote("text-embedding-3-small").parameter("dimensions", 3);
    let found = embed(&host, &embedder, &["first", "second"], Purpose::Passage).expect("vectors");
    assert_eq!(found, [vec![1.5, 0.0, 0.0], vec![0.0, -2.0, 0.3]]);
    let request = host.requests().pop().expect("a request");
    assert_eq!(request.uri(), "https://models.example.com/v1/embeddings");
    assert_eq!(request.headers()["authorization"], format!("Bearer {KEY}"));
    let body = json!({ "dimensions": 3, "model": "text-embedding-3-small", "input": ["first", "second"] });
    assert_eq!(asked(&host), [body]);
}

/// R45: the purpose chooses the prompt. The settings can replace it.
#[test]
fn prompts_are_added_to_the_texts() {
    let preset = |name: &str| remote(name);
    for (embedder, query, passage) in [
        (preset("bge-m3"), "tea", "tea"),
        (preset("embeddinggemma"), "task: search result | query: tea", "title: none | text: tea"),
        (preset("multilingual-e5-small"), "query: tea", "passage: tea"),
        (
            preset("qwen3-embedding:0.6b"),
            "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:tea",
            "tea",
        ),
        (preset("e5-small").query_prefix("").passage_prefix("p "), "tea", "p tea"),
        (preset("own").query_prefix("q ").passage_prefix(""), "q tea", "tea"),
    ] {
        for (purpose, text) in [(Purpose::Query, query), (Purpose::Passage, passage)] {
            let host = model(replies(&[vectors(&[&[1.0]])]));
            embed(&host, &embedder, &["tea"], purpose).expect("vectors");
            assert_eq!(asked(&host)[0]["input"], json!([text]), "{embedder:?}");
        }
    }
}

/// R45: models of Workers AI get the texts in the member for their purpose, without a prompt if they add it themselves.
#[test]
fn workers_ai_gets_the_texts_in_its_own_form() {
    let texts = json!(["tea"]);
    for (name, query, passage) in [
        (EmbeddingModel::BGE_M3, json!({ "text": texts }), json!({ "text": texts })),
        ("@cf/qwen/qwen3-embedding-0.6b", json!({ "queries": texts }), json!({ "documents": texts })),
        (
            "@cf/google/embeddinggemma-300m",
            json!({ "text": ["task: search result | query: tea"] }),
            json!({ "text": ["title: none | text: tea"] }),
        ),
    ] {
        for (purpose, inputs) in [(Purpose::Query, query), (Purpose::Passage, passage)] {
            let ai = FakeAi::new([answer(&json!({ "shape": [1, 2], "data": [[0.6, 0.8]], "pooling": "cls" }))]);
            let embedder = EmbeddingModel::workers_ai(ai.clone(), name);
            let found = embed(&TestHost::new(), &embedder, &["tea"], purpose).expect("vectors");
            assert_eq!(found, [vec![0.6, 0.8]]);
            assert_eq!(ai.asked(), [(name.to_owned(), inputs)]);
        }
    }
    let ai = FakeAi::new([answer(&json!({ "data": [[1]] }))]);
    let embedder = EmbeddingModel::workers_ai(ai.clone(), EmbeddingModel::BGE_M3).parameter("truncate_inputs", true);
    embed(&TestHost::new(), &embedder, &["tea"], Purpose::Query).expect("vectors");
    assert_eq!(ai.asked()[0].1, json!({ "truncate_inputs": true, "text": ["tea"] }));
}

/// R44: the record of a model has every setting that changes its vectors, and nothing else.
#[test]
fn the_record_of_a_model_has_its_settings() {
    let other = EmbeddingModel::new("http://localhost:1/v1", "bge-m3").expect("a model");
    let mut records = vec![
        (remote("bge-m3"), "bge-m3"),
        (other, "bge-m3"),
        (remote("small").parameter("dimensions", 512), r#"small {"dimensions":512}"#),
        (remote("small").parameter("b", 1).parameter("a", 2), r#"small {"a":2,"b":1}"#),
        (remote("small").parameter("a", 2).parameter("b", 1), r#"small {"a":2,"b":1}"#),
        (remote("small").query_prefix("q "), r#"small {"query prefix":"q "}"#),
        (remote("e5-small"), r#"e5-small {"passage prefix":"passage: ","query prefix":"query: "}"#),
        (remote("e5-small").query_prefix("").passage_prefix(""), "e5-small"),
    ];
    let ai = FakeAi::new([]);
    records.push((EmbeddingModel::workers_ai(ai, EmbeddingModel::BGE_M3), "@cf/baai/bge-m3"));
    for (embedder, record) in records {
        assert_eq!(embedder.model(), record);
    }
}

/// R49, R51, R91: failures that may be temporary are retried until the deadline. Every failure has a sentence for the caller. Neither
/// it nor the log has the key, the texts, or text of the service that quotes them.
#[test]
fn failures_have_sentences_without_private_text() {
    const TEXT: &str = "my letters";
    let echo = format!(r#"{{"error":{{"message":"Bad key {KEY} for {TEXT}","code":"{KEY}"}}}}"#);
    let good = || status(200, &vectors(&[&[1.0]]).to_string());
    let failed = || Err(FetchError::Failed("reset".into()));
    let cases: Vec<(Vec<fake_model::Reply>, &str, &str)> = vec![
        (vec![status(429, &echo), status(500, ""), good()], "", ""),
        (vec![failed(), good()], "", ""),
        (vec![status(401, &echo)], "The embedding model's endpoint rejected this server's key.", "status 401"),
        (vec![status(404, &echo)], "The embedding model's endpoint rejected the request.", "status 404"),
        (vec![status(302, "")], "The embedding model's endpoint rejected the request.", "status 302"),
        (vec![Err(FetchError::TooSlow)], "The embedding model did not answer within 10 s.", "within 10 s"),
        (vec![Err(FetchError::TooLarge)], "The embedding model gave an answer that cannot be used.", "limit"),
        (vec![status(200, &echo), status(200, &echo)], "The embedding model gave an answer", "(asked 2 times)"),
    ];
    for (replies, sentence, cause) in cases {
        let (case, count) = (format!("{replies:?}"), replies.len());
        let host = model(replies);
        let outcome = embed(&host, &remote("large"), &[TEXT], Purpose::Query);
        assert_eq!(host.requests().len(), count, "{case}");
        let Err(error) = outcome else {
            assert_eq!(sentence, "", "{case}");
            continue;
        };
        let shown = format!("{error:?} {}", host.log_text());
        assert!(!sentence.is_empty() && error.message().starts_with(sentence), "{case}: {shown}");
        assert!(shown.contains(cause), "{case}: {shown}");
        assert!(!shown.contains(KEY) && !shown.contains(TEXT), "{case}: {shown}");
    }

    let ai = |replies: &[Reply]| EmbeddingModel::workers_ai(FakeAi::new(replies.to_vec()), EmbeddingModel::BGE_M3);
    let good = answer(&json!({ "data": [[1]] }));
    for (replies, sentence, cause) in [
        (vec![failure("3040: No more capacity"), good.clone()], "", ""),
        (vec![failure("9999: odd"), good], "", ""),
        (vec![failure(format!("5007: No such model {TEXT}"))], "This server cannot use its embedding model.", "5007"),
        (vec![failure("3007: Timeout")], "The embedding model did not answer in time.", "ended the request"),
        (vec![failure(format!("3006: {TEXT}"))], "The embedding model's endpoint rejected the request.", "3006"),
        (vec![Reply::Silence], "The embedding model did not answer within 10 s.", "within 10 s"),
    ] {
        let host = TestHost::new();
        let outcome = embed(&host, &ai(&replies), &[TEXT], Purpose::Query);
        let shown = format!("{outcome:?} {}", host.log_text());
        let message = outcome.as_ref().err().map_or("", HandlerError::message);
        assert!(message.starts_with(sentence) && outcome.is_ok() == sentence.is_empty(), "{replies:?}: {shown}");
        assert!(shown.contains(cause) && !shown.contains(TEXT), "{replies:?}: {shown}");
    }
}

/// R51: a request that the service refuses is not sent again. An indexer divides it.
#[test]
fn a_refused_batch_is_not_sent_again() {
    for reply in
        ["3006: Request is too large", "5004: Invalid data", "AiError: 5006: Type mismatch", "5007: No such model"]
    {
        let ai = FakeAi::new([failure(reply)]);
        let embedder = EmbeddingModel::workers_ai(ai.clone(), EmbeddingModel::BGE_M3);
        assert!(embed(&TestHost::new(), &embedder, &["a", "b", "c"], Purpose::Passage).is_err(), "{reply}");
        assert_eq!(ai.asked().len(), 1, "{reply}");
    }
    let host = model([status(413, "")]);
    assert!(embed(&host, &remote("large"), &["a", "b"], Purpose::Passage).is_err());
    assert_eq!(host.requests().len(), 1);
}

/// R49: a query may take 10 s and a batch of passages 60 s. An answer may have 8 MiB.
#[test]
fn requests_have_limits() {
    for (purpose, seconds) in [(Purpose::Query, 10), (Purpose::Passage, 60)] {
        let host = model(replies(&[vectors(&[&[1.0]])]));
        embed(&host, &remote("large"), &["tea"], purpose).expect("vectors");
        let limits = network::limits(&host).expect("limits");
        assert_eq!((limits.time, limits.bytes), (Duration::from_secs(seconds), 8 << 20));

        let host = network::answering(500, "");
        assert!(embed(&host, &remote("large"), &["tea"], purpose).is_err());
        let waited: Duration = host.waits().iter().sum();
        assert!(waited < Duration::from_secs(seconds) && waited > Duration::from_secs(seconds) / 2, "{waited:?}");
    }
}

/// R93: a model has the time that the call has left, without its last second. This also holds for a call within another one.
#[test]
fn the_deadline_of_the_call_limits_the_time() {
    async fn ask(cx: Context) -> Result<&'static str, HandlerError> {
        remote("large").embed(vec!["tea".into()], Purpose::Passage, &cx).await?;
        Ok("found")
    }
    async fn nested(cx: Context) -> Result<String, HandlerError> {
        Ok(cx.call_tool("ask", json!({})).await?.text())
    }
    for (tool, outer, inner, left) in [
        ("ask", 30, 30, 29_000),
        ("ask", 30, 8, 7_000),
        ("nested", 5, 30, 4_000),
        ("nested", 40, 8, 7_000),
        ("ask", 30, 200, 60_000),
    ] {
        let endpoint = testing::endpoint(move |_| {
            let deadline = |seconds| Duration::from_secs(seconds);
            let inner = Tool::new("ask", "Asks.", ask).deadline(deadline(inner));
            McpServer::builder("s", "1")
                .tool(inner)
                .tool(Tool::new("nested", "Calls.", nested).deadline(deadline(outer)))
                .build()
        });
        let host = model(replies(&[vectors(&[&[1.0]])]));
        let answer = testing::run(testing::Client::new(&endpoint).host(&host).call(tool, json!({})));
        assert_eq!(answer.text(), "found");
        assert_eq!(network::limits(&host).expect("limits").time, Duration::from_millis(left), "{tool} {outer} {inner}");
    }
    // Without time for the model, nothing is sent.
    let endpoint = testing::endpoint(|_| {
        McpServer::builder("s", "1").tool(Tool::new("ask", "Asks.", ask).deadline(Duration::from_secs(1))).build()
    });
    let answer = testing::run(call(&endpoint, "ask", json!({})));
    assert!(answer.text().starts_with("The embedding model did not answer"), "{}", answer.text());
}

/// R50: the variables have the meaning of those of chat models. Each error names its variable, and no error or debug output has the key.
#[test]
fn settings_are_checked() {
    const NAMES: [&str; 3] = ["E_URL", "E_MODEL", "E_KEY"];
    let read = |values: [&str; 3]| {
        let pairs: Vec<_> = NAMES.into_iter().zip(values).filter(|(_, value)| *value != "-").collect();
        EmbeddingModel::from_environment(&variables(&pairs), NAMES)
    };
    assert!(read(["-", " ", "-"]).expect("no error").is_none());
    let model = read([URL, "large", KEY]).expect("no error").expect("a model");
    assert!(!format!("{model:?}").contains(KEY));
    for (values, problem) in [
        ([URL, "-", "-"], "E_MODEL is not set, but E_URL or E_KEY is"),
        (["http://models.example.com", "m", "-"], "E_URL must be an https: URL, unless it is on localhost"),
        (
            ["https://models.example.com/v1/embeddings", "m", "-"],
            "E_URL must be the base URL before /embeddings, such as https://models.example.com/v1",
        ),
        ([URL, "m", "k\u{e9}"], "E_KEY has characters that are not printable ASCII"),
    ] {
        assert_eq!(read(values).expect_err("an error").to_string(), problem);
    }
}

/// R53: equal queries are two requests.
#[test]
fn vectors_are_not_cached() {
    let host = network::of(|_| Ok(edge_mcp::host::Fetched::new(200, vectors(&[&[1.0]]).to_string())));
    let embedder = remote("large");
    for count in 1..=2 {
        embed(&host, &embedder, &["tea"], Purpose::Query).expect("vectors");
        assert_eq!(host.requests().len(), count);
    }
}
