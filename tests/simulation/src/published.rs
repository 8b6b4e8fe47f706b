//! Calls of the published tools of other servers, and the notifications that a caller gets on a stream.

use serde_json::{Value, json};

use crate::caller::Caller;
use crate::ledger::{Invariant, mark};
use crate::upstream;

/// The most notifications of a stream. The longest stream of another server has 1000 events, and a call has a few of them.
const NOTIFICATIONS: usize = 5000;

impl Caller {
    /// Calls the tool of another server that the program publishes.
    pub async fn published(&self, server: usize, asks: bool) {
        let plan = self.world().plan();
        if !plan.has_source || server >= plan.servers.len() {
            return;
        }
        let number = self.next_number();
        let call = format!("published-{}-{number}", self.name());
        let owned = mark(self.name(), &call);
        let arguments = json!({ "call": call, "number": number, "asks": asks, "owned": owned, "most": 1 });
        let tool = format!("{}_work", upstream::name(server));
        let params = json!({ "name": tool, "arguments": arguments });
        let Some(result) = self.asked(("tools/call", &tool), params, &tool).await else { return };
        if result["isError"] == true {
            return self.failed(&result, &tool);
        }
        let text = &result["content"][0]["text"];
        let is_own = *text == upstream::done(server, number);
        self.world().ledger.check(is_own, Invariant::OwnResult, || format!("{tool} {number} has the result {result}"));
        let executions = self.world().remote_calls.executions(&call, server, number);
        self.world()
            .ledger
            .check(executions > 0, Invariant::NoLostEffect, || format!("{tool} {number} was not executed"));
    }

    /// Checks the messages of a stream: its progress grows and has the token of the request, and their number has a bound.
    pub fn check_stream(&self, messages: &[Value], id: usize) {
        let mut last = f64::NEG_INFINITY;
        for message in messages.iter().filter(|message| message["method"] == "notifications/progress") {
            let progress = message["params"]["progress"].as_f64().unwrap_or(f64::NEG_INFINITY);
            if progress <= last || message["params"]["progressToken"] != id {
                self.violate(
                    Invariant::OneAnswer,
                    format!("the stream of request {id} has the notification {message}"),
                );
            }
            last = progress;
        }
        if messages.len() > NOTIFICATIONS {
            self.violate(Invariant::Budget, format!("a stream has {} messages", messages.len()));
        }
        let answered = messages.iter().position(|message| message.get("id").is_some());
        if answered.is_some_and(|at| at + 1 != messages.len()) {
            self.violate(Invariant::OneAnswer, format!("the answer {id} is not the last message of its stream"));
        }
    }
}
