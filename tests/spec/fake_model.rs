//! A model that says what it is told to say.

#![allow(clippy::unnecessary_wraps, reason = "a model may also say nothing")]

use std::cell::RefCell;
use std::collections::VecDeque;

use edge_mcp::host::{FetchError, Fetched};
use edge_mcp::testing::TestHost;
use serde_json::{Value, json};

use super::network;

pub type Said = Result<Fetched, FetchError>;

/// A network on which a model gives these answers, one for each request.
pub fn model(answers: impl IntoIterator<Item = Said>) -> TestHost {
    let answers: VecDeque<_> = answers.into_iter().collect();
    let answers = RefCell::new(answers);
    network::of(move |_| answers.borrow_mut().pop_front().expect("the model is not asked so often"))
}

/// What the model was asked, each time.
pub fn asked(network: &TestHost) -> Vec<Value> {
    network.requests().iter().map(|request| serde_json::from_str(request.body()).expect("JSON")).collect()
}

/// An answer of one choice, for which three tokens were read and five written.
pub fn choice(message: Value, finish_reason: &str) -> Said {
    let choice = json!({ "index": 0, "message": message, "finish_reason": finish_reason });
    let usage = json!({ "prompt_tokens": 3, "completion_tokens": 5, "total_tokens": 8 });
    let answer = json!({ "id": "c", "object": "chat.completion", "choices": [choice], "usage": usage });
    Ok(Fetched::new(200, answer.to_string()))
}

/// A text.
pub fn text(text: &str) -> Said {
    choice(json!({ "role": "assistant", "content": text }), "stop")
}

/// The message that calls these tools. Arguments that are a string are sent as they are.
pub fn call_message(calls: &[(&str, Value)]) -> Value {
    let call = |(nth, (name, arguments)): (usize, &(&str, Value))| {
        let arguments = arguments.as_str().map_or_else(|| arguments.to_string(), str::to_owned);
        json!({ "id": format!("call{nth}"), "type": "function", "function": { "name": name, "arguments": arguments } })
    };
    let calls: Vec<_> = calls.iter().enumerate().map(call).collect();
    json!({ "role": "assistant", "content": null, "tool_calls": calls })
}

/// Calls of these tools.
pub fn calls(calls: &[(&str, Value)]) -> Said {
    choice(call_message(calls), "tool_calls")
}

/// A refusal.
pub fn status(status: u16, body: &str) -> Said {
    Ok(Fetched::new(status, body))
}
