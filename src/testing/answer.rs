//! The answer to a request of a test.

use futures::StreamExt;
use http::HeaderMap;
use serde_json::{Map, Value, json};

use crate::http::stream::Body;

/// The code of an error that the test client creates, not the endpoint.
const TEST_FAILED: i64 = -32000;

/// The answer to a request: a JSON-RPC message, with the status and the headers of the HTTP response.
///
/// If the endpoint does not answer, the client creates an error. The [`text`](Self::text) of this error names the change that the test
/// needs, and its [`status`](Self::status) is 0.
#[derive(Clone, Debug, Default)]
pub struct Answer {
    status: u16,
    headers: HeaderMap,
    body: Vec<u8>,
    message: Value,
    notifications: Vec<Value>,
    questions: Map<String, Value>,
    text: String,
}

impl Answer {
    pub(super) async fn read(response: http::Response<Body>) -> Self {
        let (head, body) = response.into_parts();
        let body = match body {
            Body::Bytes(bytes) => bytes,
            Body::Stream(events) => events.concat().await,
        };
        let is_stream = head.headers.get("content-type").is_some_and(|kind| kind == "text/event-stream");
        let mut notifications = if is_stream { events(&body) } else { Vec::new() };
        let message = if is_stream { notifications.pop() } else { serde_json::from_slice(&body).ok() };
        let message = message.unwrap_or_default();
        let text = text(&message).unwrap_or_else(|| String::from_utf8_lossy(&body).into_owned());
        let (status, headers) = (head.status.as_u16(), head.headers);
        Self { status, headers, body, message, notifications, text, ..Self::default() }
    }

    /// Creates the error for a request that the endpoint did not answer. `problem` names the change that the test needs.
    pub(super) fn failed(problem: String) -> Self {
        let message = json!({ "jsonrpc": "2.0", "error": { "code": TEST_FAILED, "message": problem } });
        Self { message, text: problem, ..Self::default() }
    }

    /// Sets the questions from all rounds of the call.
    pub(super) fn with_questions(mut self, questions: Map<String, Value>) -> Self {
        self.questions = questions;
        self
    }

    /// Replaces the text with `problem`, which describes a question that the test does not answer.
    pub(super) fn unanswered(mut self, problem: String) -> Self {
        self.text = problem;
        self
    }

    /// Returns the status of the HTTP response, or 0 if there is no response.
    pub fn status(&self) -> u16 {
        self.status
    }

    /// Returns the header `name` of the HTTP response.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name)?.to_str().ok()
    }

    /// Returns the headers of the HTTP response.
    pub fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    /// Returns the unchanged body of the HTTP response.
    pub fn body(&self) -> &[u8] {
        &self.body
    }

    /// Returns the JSON-RPC response, or `null` if the body is not JSON.
    pub fn json(&self) -> &Value {
        &self.message
    }

    /// Returns the `result` of the response, or `null` if the response is an error.
    pub fn result(&self) -> &Value {
        member(&self.message, "/result")
    }

    /// Returns the code and the message of a JSON-RPC error.
    pub fn error(&self) -> Option<(i64, &str)> {
        let error = self.message.get("error")?;
        Some((error.get("code")?.as_i64()?, error.get("message")?.as_str()?))
    }

    /// Returns whether the call failed: by a JSON-RPC error, by a result with `isError`, or by a question without an answer.
    pub fn is_error(&self) -> bool {
        !self.result().is_object() || self.is_question() || member(self.result(), "/isError") == true
    }

    /// Returns the texts of a tool's result, of the contents of a resource, or of the messages of a prompt, each on a separate line. For an
    /// error, returns its message.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Returns the structured content of a tool's result, or `null`.
    pub fn structured(&self) -> &Value {
        member(self.result(), "/structuredContent")
    }

    /// Returns the notifications before the response. A client gets notifications only if it asks for them: see
    /// [`Client::meta`](super::Client::meta).
    pub fn notifications(&self) -> &[Value] {
        &self.notifications
    }

    /// Returns the questions from all rounds of the call, by their keys. Each is the request to the client, with `method` and `params`.
    pub fn questions(&self) -> &Map<String, Value> {
        &self.questions
    }

    /// Returns the names of the tools or prompts in a list, or the URIs of its resources or templates.
    pub fn names(&self) -> Vec<&str> {
        let lists = self.result().as_object().into_iter().flat_map(Map::values).filter_map(Value::as_array);
        let name = |item| ["uri", "uriTemplate", "name"].iter().find_map(|key| Value::get(item, key)?.as_str());
        lists.flatten().filter_map(name).collect()
    }

    pub(super) fn is_question(&self) -> bool {
        member(self.result(), "/resultType") == "input_required"
    }

    pub(super) fn list_mut(&mut self) -> Option<&mut Vec<Value>> {
        self.message.get_mut("result")?.as_object_mut()?.values_mut().find_map(Value::as_array_mut)
    }
}

fn events(stream: &[u8]) -> Vec<Value> {
    let text = String::from_utf8_lossy(stream);
    let data = text.lines().filter_map(|line| line.strip_prefix("data: "));
    data.filter_map(|data| serde_json::from_str(data).ok()).collect()
}

/// Returns the texts in a message, or `None` if the message is not a JSON-RPC response.
fn text(message: &Value) -> Option<String> {
    if let Some(error) = message.pointer("/error/message") {
        return error.as_str().map(str::to_owned);
    }
    let result = message.get("result")?;
    let items = ["content", "contents", "messages"].iter().filter_map(|list| result.get(list)?.as_array()).flatten();
    let texts = items.filter_map(|item| {
        ["/text", "/content/text", "/resource/text", "/content/resource/text"]
            .iter()
            .find_map(|path| item.pointer(path)?.as_str())
    });
    Some(texts.collect::<Vec<_>>().join("\n"))
}

/// Returns the value at this JSON pointer, or `null`.
fn member<'a>(value: &'a Value, path: &str) -> &'a Value {
    value.pointer(path).unwrap_or(&Value::Null)
}
