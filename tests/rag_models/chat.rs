//! Chat models on Workers AI.

use std::rc::Rc;
use std::time::Duration;

use edge_mcp::agents::{ChatAgent, ChatModel};
use edge_mcp::testing::{self, Answer, Client, TestHost};
use edge_mcp::{McpServer, Tool};
use serde_json::{Value, json};

use crate::fake_ai::{FakeAi, Reply, answer, failure};

const MODEL: &str = "@cf/meta/llama-3.3-70b-instruct-fp8-fast";

/// Asks an agent with the tool `times`.
fn ask(ai: &Rc<FakeAi>, host: &TestHost) -> Answer {
    let ai = ai.clone();
    let endpoint = testing::endpoint(move |_| {
        let model = ChatModel::workers_ai(ai.clone(), MODEL).max_tokens(500);
        let agent =
            ChatAgent::new("clerk", "The clerk", "Knows.", model).tools(["times"]).time_limit(Duration::from_secs(20));
        let times = Tool::new("times", "Returns the times.", || async { "At five." });
        McpServer::builder("s", "1").tool(times).agent(agent).build()
    });
    testing::run(Client::new(&endpoint).host(host).call("ask_clerk", json!({ "message": "my question" })))
}

/// R49: a chat model of Workers AI answers with a text, or calls tools, in both forms of its answers.
#[test]
fn both_forms_of_answers_are_read() {
    let usage = json!({ "prompt_tokens": 3, "completion_tokens": 5 });
    let legacy = json!({ "response": null, "tool_calls": [{ "name": "times", "arguments": {} }], "usage": usage });
    let function = json!({ "id": "c1", "type": "function", "function": { "name": "times", "arguments": "{}" } });
    let mixed = json!({ "response": "", "tool_calls": [function] });
    let message = json!({ "role": "assistant", "content": null, "tool_calls": [function] });
    let openai = json!({ "choices": [{ "message": message, "finish_reason": "tool_calls" }], "usage": usage });
    let text = json!({ "response": "They come at five.", "tool_calls": [], "usage": usage });
    let content = json!({ "role": "assistant", "content": "They come at five." });
    let openai_text = json!({ "choices": [{ "message": content, "finish_reason": "stop" }], "usage": usage });
    for (calls, last) in [(legacy, &text), (mixed, &openai_text), (openai, &text)] {
        let ai = FakeAi::new([answer(&calls), answer(last)]);
        let found = ask(&ai, &TestHost::new());
        assert_eq!((found.text(), found.is_error()), ("They come at five.", false), "{calls}");
        let asked = ai.asked();
        assert_eq!(asked.len(), 2, "{calls}");
        assert!(asked.iter().all(|(model, inputs)| model == MODEL && inputs.get("model").is_none()));
        assert_eq!(asked[0].1["max_tokens"], 500);
        assert_eq!(asked[0].1["tools"][0]["function"]["name"], "times");
        // The second request has the call of the model and its result.
        let messages = asked[1].1["messages"].as_array().expect("messages");
        let [.., call, result] = messages.as_slice() else { panic!("{messages:?}") };
        assert_eq!(call["tool_calls"][0]["function"], json!({ "name": "times", "arguments": "{}" }));
        assert_eq!(result["tool_call_id"], call["tool_calls"][0]["id"]);
        assert_eq!(result["content"], "At five.");
        let used = &found.result()["_meta"]["edge-mcp/usage"];
        let expected = if calls.get("usage").is_some() { 6 } else { 3 };
        assert_eq!(used["inputTokens"], expected, "{calls}");
    }
}

/// R51, R91: the failures of Workers AI have the sentences of chat models. The log has the code, and not the message of the platform.
#[test]
fn failures_have_sentences() {
    let oversized = Reply::Answer(vec![b' '; (1 << 20) + 1]);
    let queued = answer(&json!({ "request_id": "q" }));
    let value = |value: Value| answer(&json!({ "response": value }));
    for (reply, sentence, logged) in [
        (failure("5007: my question"), "This server cannot use its model.", "answers with code 5007"),
        (failure("3036: my question"), "The model's endpoint is overloaded.", "answers with code 3036"),
        (failure("Binding AI needs to be run remotely"), "The model cannot be reached.", "needs a remote binding"),
        (
            failure("AiError: 5006: 'my question'"),
            "The model's endpoint rejected the request.",
            "answers with code 5006",
        ),
        (failure("Type mismatch: 'my question'"), "The model cannot be reached.", "fails without a code"),
        (Reply::Silence, "The model did not answer within 20 s.", "within 20 s"),
        (oversized, "The model gave an answer that cannot be used.", "longer than the limit"),
        (queued, "The model gave an answer that cannot be used.", "neither text nor calls"),
        (value(json!("")), "The model gave an answer that cannot be used.", "neither text nor calls"),
        (Reply::Answer(b"[".to_vec()), "The model gave an answer that cannot be used.", "not JSON"),
        (Reply::Answer(b"7".to_vec()), "The model gave an answer that cannot be used.", "neither text nor calls"),
    ] {
        let host = TestHost::new();
        let found = ask(&FakeAi::new([reply]), &host);
        assert!(found.is_error() && found.text().starts_with(sentence), "{}", found.text());
        let log = host.log_text();
        assert!(log.contains(logged) && !log.contains("my question"), "{sentence}: {log}");
    }
    // With a JSON schema, the response is a JSON value.
    let found = ask(&FakeAi::new([value(json!({ "time": 5 }))]), &TestHost::new());
    assert_eq!(found.text(), r#"{"time":5}"#);
}
