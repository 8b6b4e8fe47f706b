//! A chat model that returns prepared answers.

#![allow(clippy::unnecessary_wraps, reason = "a request to a model can also fail")]

use std::cell::RefCell;
use std::collections::VecDeque;

use edge_mcp::host::{FetchError, Fetched};
use edge_mcp::testing::TestHost;
use serde_json::{Value, json};

use crate::network;

pub type Reply = Result<Fetched, FetchError>;

/// Returns a host on whose network a model gives `answers`, one for each request.
pub fn model(answers: impl IntoIterator<Item = Reply>) -> TestHost {
    let answers: VecDeque<_> = answers.into_iter().collect();
    let answers = RefCell::new(answers);
    network::of(move |_| answers.borrow_mut().pop_front().expect("there is an answer for each request"))
}

/// Returns the body of each request that the model received.
pub fn asked(network: &TestHost) -> Vec<Value> {
    network.requests().iter().map(|request| serde_json::from_str(request.body()).expect("JSON")).collect()
}

/// Returns an answer with one choice, whose usage is 3 input tokens and 5 output tokens.
pub fn choice(message: Value, finish_reason: &str) -> Reply {
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish_reason });
    let usage = json!({ "prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8 });
    let answer = json!({ "id": "c", "object": "chat.completion", "choices": [choice], "usage": usage });
    Ok(Fetched::new(200, answer.to_string()))
}

/// Returns an answer that is a text.
pub fn text(text: &str) -> Reply {
    choice(json!({ "role": "assistant", "content": text }), "stop")
}

/// Returns a message that calls these tools. Arguments that are a string are sent unchanged.
pub fn call_message(calls: &[(&str, Value)]) -> Value {
    let call = |(nth, (name, arguments)): (usize, &(&str, Value))| {
        let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
        json!({ "id": format!("call{nth}"), "type": "function", "function": { "name": name, "arguments": arguments } })
    };
    let calls: Vec<_> = calls.iter().enumerate().map(call).collect();
    json!({ "role": "assistant", "content": null, "tool_calls": calls })
}

/// Returns an answer that calls these tools.
pub fn calls(calls: &[(&str, Value)]) -> Reply {
    choice(call_message(calls), "tool_calls")
}

/// Returns a response with this status and body.
pub fn status(status: u16, body: &str) -> Reply {
    Ok(Fetched::new(status, body))
}
