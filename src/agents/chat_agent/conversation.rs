//! The conversation with a model: the model calls tools until it has an answer.
//!
//! Each answer of the model and each tool call is a step. If a tool asks the client, the next round of the call gets the results of the
//! earlier steps from the request state.

use std::cell::{Cell, RefCell};
use std::fmt::Write;

use edge_json::write;
use serde_json::Value;
use serde_json::value::RawValue;

use super::model::ChatModel;
use super::offered::AgentTool;
use super::wire::{self, ModelCall};
use crate::agents::agent::{AgentCall, AgentReply, Missing, Usage};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::limits::{AGENT_CALLS, AGENT_RESULT, AGENT_ROUNDS};
use crate::models::{Deadline, json};
use crate::protocol::error::INTERNAL;
use crate::server::source::MISSING;
use crate::text::shortened;

/// A conversation with a model.
pub(super) struct Chat<'a> {
    pub model: &'a ChatModel,
    pub cx: &'a Context,
    pub tools: &'a [AgentTool],
    pub deadline: Deadline,
    pub messages: Vec<Value>,
    /// The servers whose tools could not be used.
    pub missing: Missing,
    /// The tool calls of this round of the call.
    pub calls: RefCell<Vec<AgentCall>>,
    /// The value of the last progress notification.
    pub progress: Cell<u32>,
}

impl Chat<'_> {
    /// Runs the conversation until the model answers.
    pub(super) async fn answer(mut self) -> Result<AgentReply, HandlerError> {
        let offers: Vec<_> = self.tools.iter().map(AgentTool::offer).collect();
        let mut used: Option<Usage> = None;
        let mut dropped = 0;
        for round in 1..=AGENT_ROUNDS {
            let is_last = round == AGENT_ROUNDS;
            self.answer_calls(dropped, is_last).await?;
            let mut answer = self.ask(&offers, is_last).await?;
            if let Some(usage) = wire::usage(&answer) {
                used.get_or_insert_default().add(usage);
            }
            let message = answer.get_mut("message").map(Value::take).unwrap_or_default();
            if !is_last && !wire::calls(&message).is_empty() {
                dropped = wire::dropped_calls(&answer);
                self.messages.push(message);
                continue;
            }
            let mut text = wire::text(&message).to_owned();
            if text.is_empty() {
                break;
            }
            if wire::is_cut_short(&answer) {
                text.push_str("\n\n(The answer ends here: the model has used all of its tokens.)");
            }
            return Ok(AgentReply { text, usage: used, missing: self.missing, calls: self.calls.into_inner() });
        }
        let problem = format!(
            "The model was asked {AGENT_ROUNDS} times and called tools each time, without an answer. Ask for less in one request."
        );
        Err(HandlerError::new(problem).because(format!("the model gave no answer in {AGENT_ROUNDS} rounds")))
    }

    async fn ask(&self, offers: &[Value], is_last: bool) -> Result<Value, HandlerError> {
        let work = async || {
            self.report("asking the model".into());
            let answer = self.model.complete(&self.messages, offers, is_last, self.deadline, self.cx).await?;
            Ok(write::to_raw_value(&answer)?)
        };
        // A step with a result of type `Value` would add serde_json's own parser to the wasm module.
        let answer: Box<RawValue> = self.cx.step("ask the model", &self.messages.len(), work).await?;
        let broken = || HandlerError::new(INTERNAL).because("the state has an answer of the model that is not JSON");
        json(answer.get().as_bytes()).ok_or_else(broken)
    }

    /// Runs the tool calls in the last message of the model, one after the other. The model gets the number of `dropped` calls.
    async fn answer_calls(&mut self, dropped: u64, is_last: bool) -> Result<(), HandlerError> {
        let calls = self.messages.last().map(wire::calls).unwrap_or_default();
        let count = calls.len();
        for (nth, call) in calls.iter().enumerate() {
            // The number of messages distinguishes equal calls.
            let input = (self.messages.len(), &call.name, &call.arguments);
            let (mut content, missing) = self.cx.step("call a tool", &input, async || self.call(call).await).await?;
            self.missing.extend(missing);
            let is_last_call = nth.saturating_add(1) == count;
            if is_last_call && dropped > 0 {
                let _ = write!(
                    content,
                    "\n\n({dropped} more calls did not run: at most {AGENT_CALLS} calls of one answer run.)"
                );
            }
            if is_last_call && is_last {
                content.push_str("\n\n(You cannot call more tools. Answer now.)");
            }
            self.messages.push(wire::result(call, &content));
        }
        Ok(())
    }

    /// Calls a tool. Returns its result as text for the model, and the servers that the caller must sign in to.
    async fn call(&self, call: &ModelCall) -> Result<(String, Missing), HandlerError> {
        let Some(tool) = self.tools.iter().find(|tool| tool.is_called(&call.name)) else {
            return Ok((format!("There is no tool `{}`.", shortened(&call.name)), Missing::default()));
        };
        let name = tool.name();
        let Some(arguments) = &call.arguments else {
            let problem = format!(
                "The arguments of `{name}` are not a JSON object. Send an object that fits the schema of the tool."
            );
            return Ok((problem, Missing::default()));
        };
        self.report(format!("calling {name}"));
        let result = match tool.call(arguments.clone(), self.cx).await {
            Ok(result) => result,
            // The client gets the error, for example about a missing capability. If the revision of the client does not support questions,
            // the model gets the error and continues without the tool.
            Err(error) if error.0.input.is_some() && !error.needs_session() => return Err(error),
            Err(error) => ToolResult::failure(error.0.message),
        };
        let text = text_for_model(&result);
        let missing = result.meta.as_ref().and_then(|meta| meta.get(MISSING)?.as_object()).into_iter().flatten();
        let missing =
            missing.filter_map(|(name, problem)| Some((name.clone(), problem.as_str()?.to_owned()))).collect();
        self.calls.borrow_mut().push(AgentCall { name: name.clone(), arguments: arguments.clone(), result });
        Ok((text, missing))
    }

    /// Sends a progress notification.
    fn report(&self, doing: String) {
        self.progress.set(self.progress.get().saturating_add(1));
        self.cx.progress(f64::from(self.progress.get()), None, doing);
    }
}

/// Returns a result as text for the model, shortened to [`AGENT_RESULT`] bytes.
fn text_for_model(result: &ToolResult) -> String {
    let text = result.text();
    let structured = || result.structured_content().unwrap_or("(The result contains no text.)").to_owned();
    let text = if text.is_empty() { structured() } else { text };
    let shown = text.get(..text.floor_char_boundary(AGENT_RESULT)).unwrap_or_default();
    let failed = if result.is_error() { "The tool failed: " } else { "" };
    match text.len().saturating_sub(shown.len()) {
        0 => format!("{failed}{shown}"),
        left => format!("{failed}{shown}\n(The result is cut off here: {left} bytes are missing.)"),
    }
}
