//! Streams with the changes of tasks (`subscriptions/listen`).

use std::pin::pin;

use futures::StreamExt;
use futures::future::{Either, select};
use serde_json::{Value, json};

use crate::caller::Caller;
use crate::ledger::Invariant;
use crate::network::Sent;
use crate::program;

/// The longest time of a stream, in milliseconds: 10 minutes, and the time for the requests to the objects.
const LONGEST_MS: u64 = 620_000;

impl Caller {
    /// Listens to a task, and answers its questions. Returns the state in which the task has ended, if the stream has it.
    pub async fn listen(&self, task: &str, others: &[String]) -> Option<Value> {
        let id = self.world().below(1_000_000);
        let ids: Vec<&str> = others.iter().map(String::as_str).take(3).chain([task, task]).collect();
        let capabilities =
            json!({ "elicitation": { "form": {} }, "extensions": { "io.modelcontextprotocol/tasks": {} } });
        let meta = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": capabilities,
        });
        let params = json!({ "_meta": meta, "notifications": { "taskIds": ids } });
        let message = json!({ "jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params });
        let request = Sent::post(program::URL, message.to_string().into_bytes())
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("authorization", &self.world().bearer(self.name()))
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", "subscriptions/listen");
        let world = self.world();
        world.trace(|| format!("{} sends {message}", self.name()));
        let mut opened = world.send(request).await.ok()?;
        let mut heard = Heard { id, task, last: None, messages: 0, is_over: false };
        let mut rest = Vec::new();
        let mut late = pin!(world.schedule.sleep(LONGEST_MS));
        loop {
            let chunk = match select(opened.body.next(), &mut late).await {
                Either::Left((Some(Ok(chunk)), _)) => chunk,
                Either::Left((Some(Err(_)), _)) => break,
                Either::Left((None, _)) => {
                    self.check_over(&heard, opened.status);
                    break;
                }
                Either::Right(_) => {
                    if !self.has_faults() {
                        self.violate(Invariant::Budget, format!("a stream of tasks is open after {LONGEST_MS} ms"));
                    }
                    break;
                }
            };
            world.schedule.record(&chunk);
            rest.extend(chunk);
            while let Some(end) = rest.windows(2).position(|bytes| bytes == b"\n\n") {
                let event: Vec<u8> = rest.drain(..end + 2).collect();
                world.ledger.scan(&event, &[self.name()], self.name());
                let text = String::from_utf8_lossy(&event).into_owned();
                let Some(data) = text.lines().find_map(|line| line.strip_prefix("data: ")) else { continue };
                world.trace(|| format!("{} hears {data}", self.name()));
                let Ok(message) = serde_json::from_str(data) else { continue };
                self.hear(&mut heard, &message);
                let questions = &message["params"]["inputRequests"];
                if message["params"]["status"] == "input_required" && questions.is_object() {
                    self.open_links(questions).await;
                    let params = json!({ "taskId": task, "inputResponses": self.answers(questions, true) });
                    self.post("tasks/update", params, Some(task)).await;
                }
            }
        }
        heard.last.filter(|task| ["completed", "failed", "cancelled"].iter().any(|status| task["status"] == *status))
    }

    /// Checks a message of a stream.
    fn hear(&self, heard: &mut Heard<'_>, message: &Value) {
        let subscription = &message["params"]["_meta"]["io.modelcontextprotocol/subscriptionId"];
        heard.messages += 1;
        let problem = match message["method"].as_str() {
            _ if heard.is_over => Some("is after the result"),
            None => {
                heard.is_over = true;
                // The stream of a client whose clock jumps ends at its deadline.
                let is_answer = message["result"].is_object() || (self.has_faults() && message["error"].is_object());
                (message["id"] != heard.id || !is_answer).then_some("is no result of the request")
            }
            Some(_) if *subscription != heard.id => Some("names another subscription"),
            Some("notifications/subscriptions/acknowledged") => {
                let ids = &message["params"]["notifications"]["taskIds"];
                let is_own = *ids == json!([heard.task]) || (self.has_faults() && *ids == json!([]));
                (heard.messages != 1 || !is_own).then_some("acknowledges other tasks")
            }
            Some("notifications/tasks") => {
                let task = &message["params"];
                let state = |task: &Value| ["status", "statusMessage", "lastUpdatedAt"].map(|name| task[name].clone());
                let is_ended = heard.last.as_ref().is_some_and(|last| {
                    ["completed", "failed", "cancelled"].iter().any(|status| last["status"] == *status)
                });
                let is_same = heard.last.as_ref().is_some_and(|last| state(last) == state(task));
                let is_older = heard
                    .last
                    .as_ref()
                    .is_some_and(|last| last["lastUpdatedAt"].as_str() > task["lastUpdatedAt"].as_str());
                heard.last = Some(task.clone());
                match () {
                    () if heard.messages == 1 => Some("is before the acknowledgement"),
                    () if task["taskId"] != heard.task => Some("is about another task"),
                    () if is_ended => Some("is about a task that has ended"),
                    () if is_same => Some("repeats a state"),
                    () if is_older => Some("has an older state"),
                    () => None,
                }
            }
            Some(_) => Some("is not a notification of tasks"),
        };
        if let Some(problem) = problem {
            self.violate(Invariant::OneAnswer, format!("a message of the stream {} {problem}: {message}", heard.id));
        }
    }

    /// Checks a stream that has ended.
    fn check_over(&self, heard: &Heard<'_>, status: u16) {
        if !self.has_faults() && (!heard.is_over || status != 200) {
            self.violate(Invariant::OneAnswer, format!("the stream {} has no result", heard.id));
        }
    }
}

/// What a stream has said so far.
struct Heard<'t> {
    id: usize,
    task: &'t str,
    /// The last state of the task.
    last: Option<Value>,
    messages: usize,
    /// Whether the result of the request has arrived.
    is_over: bool,
}
