//! Hostile answers of embedding models and rerankers.

use edge_mcp::host::Fetched;
use edge_mcp::rag::{EmbeddingModel, Purpose, RerankModel};
use edge_mcp::testing::TestHost;

use crate::embeddings::{URL, embed, remote};
use crate::fake_ai::{FakeAi, Reply};
use crate::network;
use crate::rerankers::score;

/// Returns a host whose endpoint always gives this answer.
fn answering(body: &str) -> TestHost {
    let body = body.as_bytes().to_vec();
    network::of(move |_| Ok(Fetched::new(200, body.clone())))
}

/// Returns the beginning of an answer.
fn shown(answer: &str) -> &str {
    answer.get(..80).unwrap_or(answer)
}

/// Returns the answers that no service may give: values in the place of the list, and texts that are not JSON.
fn anywhere(list: &str) -> Vec<String> {
    let mut answers: Vec<String> =
        ["", "[]", "null", "{}", "<h1>Hello</h1>", "\u{0}", "{\"data\":", "{\"request_id\":\"q\"}"]
            .map(Into::into)
            .to_vec();
    answers
        .extend(["{}", "null", "7", "\"x\"", "[null]", "[7]", "[[[]]]"].map(|value| format!("{{\"{list}\":{value}}}")));
    answers.push(format!("{{\"{list}\":{}{}}}", "[".repeat(100), "]".repeat(100)));
    answers.push(format!("{{\"{list}\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000)));
    answers.push(format!("{{\"{list}\":[{}0]}}", "0,".repeat(600_000)));
    answers.push(format!("{{\"{list}\":[\"{}\"]}}", "x".repeat(9 << 20)));
    answers
}

/// R48, R107: an unusable answer of an embedding model is an error after at most two requests.
#[test]
fn hostile_vectors_are_rejected() {
    let item = |index: &str, embedding: &str| format!(r#"{{"index":{index},"embedding":{embedding}}}"#);
    let list = |items: &[String]| format!(r#"{{"data":[{}]}}"#, items.join(","));
    let many = format!("[{}1]", "1,".repeat(300_000));
    let mut answers = anywhere("data");
    answers.extend([
        list(&[item("0", "[NaN]"), item("1", "[1]")]),
        list(&[item("0", "[1e999]"), item("1", "[1]")]),
        list(&[item("0", "[\"1\"]"), item("1", "[1]")]),
        list(&[item("0", "7"), item("1", "[1]")]),
        list(&[item("0", "[1]")]),
        list(&[]),
        list(&[item("0", "[1]"), item("0", "[1]")]),
        list(&[item("0", "[1]"), item("0", "[1]"), item("1", "[1]")]),
        list(&[item("0", &many), item("1", &many)]),
        list(&[item("0", "[1]"), item("2", "[1]")]),
        list(&[item("0", "[1]"), item("1", "[1]"), item("2", "[1]")]),
        list(&[item("0", "[1]"), item("-1", "[1]")]),
        list(&[item("0", "[1]"), item("\"1\"", "[1]")]),
        list(&[item("0", "[1]"), item("99999999999999999999999", "[1]")]),
        list(&["{\"embedding\":[1]}".into(), "{\"embedding\":[1]}".into()]),
        list(&[item("0", "[1]"), "{\"index\":1,\"index\":1,\"embedding\":[1]}".into()]),
    ]);
    for answer in answers {
        let host = answering(&answer);
        let error = embed(&host, &remote("large"), &["a", "b"], Purpose::Query).expect_err(shown(&answer));
        assert!(error.message().starts_with("The embedding model gave an answer that cannot be used."), "{error:?}");
        assert!(host.requests().len() <= 2);
    }

    let mut answers = anywhere("data");
    answers.extend(
        [
            r#"{"shape":[2,1],"data":[[1]]}"#,
            r#"{"data":[[1],[1],[1]]}"#,
            r#"{"data":[[1],[1e999]]}"#,
            r#"{"data":[[1],["1"]]}"#,
            r#"{"data":[1,2]}"#,
        ]
        .map(Into::into),
    );
    for answer in answers {
        let ai = FakeAi::new([Reply::Answer(answer.clone().into_bytes())]);
        let embedder = EmbeddingModel::workers_ai(ai.clone(), EmbeddingModel::BGE_M3);
        let error = embed(&TestHost::new(), &embedder, &["a", "b"], Purpose::Query).expect_err(shown(&answer));
        assert!(error.message().starts_with("The embedding model gave an answer that cannot be used."), "{error:?}");
        assert!(ai.asked().len() <= 2);
    }
}

/// R81, R107: an unusable answer of a reranker is an error after at most two requests.
#[test]
fn hostile_scores_are_rejected() {
    let bad = |index: &'static str, score: &'static str| {
        let item = |position: &str, value: &str| format!(r#"{{"{index}":{position},"{score}":{value}}}"#);
        let good = item("0", "0.5");
        vec![
            item("2", "0.5"),
            item("-1", "0.5"),
            item("1.0", "0.5"),
            item("\"1\"", "0.5"),
            item("18446744073709551616", "0.5"),
            item("1", "NaN"),
            item("1", "1e999"),
            item("1", "-1e999"),
            item("1", "\"0.5\""),
            item("1", "null"),
            format!("{good},{good}"),
            format!(r#"{{"{score}":1}}"#),
            format!(r#"{{"{index}":1}}"#),
            "null".into(),
        ]
    };
    let at_endpoint = RerankModel::new(URL, "reranker").expect("a model");
    let answers = bad("index", "relevance_score").into_iter().map(|items| format!(r#"{{"results":[{items}]}}"#));
    for answer in answers.chain(anywhere("results")) {
        let host = answering(&answer);
        let error = score(&host, &at_endpoint, &["a", "b"]).expect_err(shown(&answer));
        assert!(error.message().starts_with("The reranker gave an answer that cannot be used."), "{error:?}");
        assert!(host.requests().len() <= 2);
    }
    let answers = bad("id", "score").into_iter().map(|items| format!(r#"{{"response":[{items}]}}"#));
    for answer in answers.chain(anywhere("response")) {
        let ai = FakeAi::new([Reply::Answer(answer.clone().into_bytes())]);
        let reranker = RerankModel::workers_ai(ai.clone(), RerankModel::BGE_RERANKER_BASE);
        let error = score(&TestHost::new(), &reranker, &["a", "b"]).expect_err(shown(&answer));
        assert!(error.message().starts_with("The reranker gave an answer that cannot be used."), "{error:?}");
        assert!(ai.asked().len() <= 2);
    }
}
