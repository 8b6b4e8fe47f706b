//! Batches of revision 2025-03-26, and notifications of callers.

use std::collections::BTreeMap;

use edge_mcp_test_support::random::Random;
use futures::StreamExt;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::caller::{Called, Caller};
use crate::items;
use crate::ledger::{Invariant, mark};
use crate::network::Sent;
use crate::parts::Part;
use crate::program;

/// A message of a batch.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub enum Batched {
    Ping,
    Read(String),
    Get(String, String),
    /// A call of the tool `direct`.
    Call(Vec<Part>),
    /// A request with a method that does not exist.
    Unknown,
    /// The cancellation of a request of somebody else, or of this batch.
    Cancelled,
    /// A response to a request that nobody has made.
    Response,
}

impl Batched {
    pub fn new(random: &mut Random, parts: impl Fn(&mut Random) -> Vec<Part>) -> Self {
        match random.below(8) {
            0 => Self::Ping,
            1 => Self::Read(items::uri(random)),
            2 => Self::Get(items::prompt_name(random), format!("w{}", random.below(1000))),
            3 | 4 => Self::Call(parts(random)),
            5 => Self::Unknown,
            6 => Self::Cancelled,
            _ => Self::Response,
        }
    }
}

/// A request of a batch that waits for its answer.
enum Expected<'b> {
    Anything,
    Item(String),
    Call(Called<'b>),
}

/// An answer: its status and its body. Whether the body is complete is not known.
struct Raw {
    status: u16,
    body: Vec<u8>,
    is_complete: bool,
}

impl Caller {
    /// Sends a batch, each of whose requests must be answered once.
    pub async fn batch(&self, batch: &[Batched]) {
        let mut messages = Vec::new();
        let mut expected = BTreeMap::new();
        let mut needs_secret = false;
        for item in batch {
            let id = self.world().below(1_000_000);
            let (method, params, answer) = match item {
                Batched::Ping => ("ping", json!({}), Expected::Anything),
                Batched::Unknown => ("no/method", json!({}), Expected::Anything),
                Batched::Read(uri) => {
                    needs_secret |= uri.contains("vault");
                    ("resources/read", json!({ "uri": uri }), Expected::Item(items::content(uri, self.name())))
                }
                Batched::Get(name, word) => {
                    needs_secret |= name.contains("vault");
                    let content = items::content(&format!("{name} {word}"), self.name());
                    ("prompts/get", json!({ "name": name, "arguments": { "word": word } }), Expected::Item(content))
                }
                Batched::Call(parts) => {
                    let number = format!("{}-{}", self.name(), self.next_number());
                    let owned = mark(self.name(), &number);
                    let arguments = json!({ "caller": number, "owned": owned, "place": "", "parts": parts });
                    let params = json!({ "name": "direct", "arguments": arguments });
                    ("tools/call", params, Expected::Call(Called { arguments, parts }))
                }
                Batched::Cancelled => {
                    let other = self.overheard_id();
                    let of = messages.first().and_then(|first: &Value| first["id"].as_u64()).unwrap_or(other);
                    messages.push(
                        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": of } }),
                    );
                    continue;
                }
                Batched::Response => {
                    messages.push(json!({ "jsonrpc": "2.0", "id": id, "result": {} }));
                    continue;
                }
            };
            if expected.insert(id, answer).is_none() {
                messages.push(json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
            }
        }
        let Some(raw) = self.raw(&Value::from(messages), "2025-03-26").await else { return };
        if !raw.is_complete {
            return;
        }
        let body = String::from_utf8_lossy(&raw.body).into_owned();
        if expected.is_empty() {
            return self.check_accepted(&raw, &body);
        }
        let Ok(answer) = serde_json::from_slice::<Value>(&raw.body) else {
            // The body can end early, as if it were complete.
            return self.check_faults(&format!("a batch is answered with {} {body}", raw.status));
        };
        let is_refused = needs_secret && !self.has_scope("secret") && self.world().plan().has_vault;
        let Some(answers) = answer.as_array() else {
            if !is_refused {
                self.check_faults(&format!("a batch is answered with {} {body}", raw.status));
            }
            return;
        };
        if is_refused {
            self.violate(Invariant::OwnAccess, format!("a batch is answered without its scope: {body}"));
        }
        for answer in answers {
            let id = answer["id"].as_u64().and_then(|id| usize::try_from(id).ok()).unwrap_or(usize::MAX);
            match expected.remove(&id) {
                None => {
                    let problem = format!("a batch has no request {id}, or two answers: {body}");
                    self.violate(Invariant::OneAnswer, problem);
                }
                Some(expected) => self.check_batched(answer, &expected),
            }
        }
        if !expected.is_empty() {
            let left: Vec<_> = expected.keys().collect();
            self.violate(Invariant::OneAnswer, format!("the requests {left:?} of a batch have no answer: {body}"));
        }
    }

    fn check_batched(&self, answer: &Value, expected: &Expected<'_>) {
        let result = &answer["result"];
        if result.is_object() == answer["error"].is_object() {
            self.violate(Invariant::OneAnswer, format!("an answer of a batch is malformed: {answer}"));
        }
        match expected {
            Expected::Item(content) if result.is_object() => {
                let is_own =
                    result["contents"][0]["text"] == **content || result["messages"][0]["content"]["text"] == **content;
                self.world().ledger.check(is_own, Invariant::OwnResult, || format!("{content} is {result}"));
            }
            // Clients of this revision cannot be asked, so a call may fail.
            Expected::Call(called) if result.is_object() && result["isError"] != true => self.ended(result, called),
            _ => {}
        }
    }

    /// Sends the cancellation of a request of somebody. It has no effect on the requests of others.
    pub async fn cancel_other(&self) {
        let params = json!({ "requestId": self.overheard_id(), "reason": "no" });
        let message = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params });
        let version = if self.is_modern() { "2026-07-28" } else { "2025-11-25" };
        let Some(raw) = self.raw(&message, version).await else { return };
        if raw.is_complete {
            self.check_accepted(&raw, &String::from_utf8_lossy(&raw.body));
        }
    }

    fn check_accepted(&self, raw: &Raw, body: &str) {
        if raw.status != 202 || !raw.body.is_empty() {
            self.check_faults(&format!("notifications are answered with {} {body}", raw.status));
        }
    }

    /// Records an answer that needs a fault.
    fn check_faults(&self, problem: &str) {
        if !self.has_faults() {
            self.violate(Invariant::OneAnswer, problem.to_owned());
        }
    }

    /// Sends a message, and reads the whole answer.
    async fn raw(&self, message: &Value, version: &str) -> Option<Raw> {
        let world = self.world();
        let mut request = Sent::post(program::URL, message.to_string().into_bytes())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("authorization", &world.bearer(self.name()))
            .header("mcp-protocol-version", version);
        if let Some(method) = message["method"].as_str().filter(|_| version == "2026-07-28") {
            request = request.header("mcp-method", method);
        }
        world.trace(|| format!("{} sends {message}", self.name()));
        let mut opened = world.send(request).await.ok()?;
        let mut raw = Raw { status: opened.status, body: Vec::new(), is_complete: true };
        while let Some(chunk) = opened.body.next().await {
            match chunk {
                Ok(chunk) => raw.body.extend(chunk),
                Err(_) => raw.is_complete = false,
            }
        }
        world.schedule.record(&raw.body);
        world.ledger.scan(&raw.body, &[self.name()], self.name());
        world.trace(|| format!("{} gets {} {}", self.name(), raw.status, String::from_utf8_lossy(&raw.body)));
        Some(raw)
    }
}
