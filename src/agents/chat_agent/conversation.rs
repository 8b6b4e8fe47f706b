//! The rounds of a conversation: the model calls tools until it has an answer.

use serde_json::value::{RawValue, to_raw_value};
use serde_json::{Value, json};

use super::attempt::{Deadline, ask};
use super::failure::Failure;
use super::model::ChatModel;
use super::offered::Offered;
use super::wire::{self, ToolCall};
use crate::agents::agent::{AgentCall, AgentReply, Usage};
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::limits::{AGENT_CALLS, AGENT_RESULT, AGENT_ROUNDS};
use crate::protocol::error::shortened;

/// How far a conversation has come: what is carried by the client, encrypted, when a tool asks it for something.
pub(super) struct Conversation {
    messages: Vec<Value>,
    /// How many calls in the last message of the model are done.
    done: usize,
    rounds: u8,
    usage: Option<Usage>,
}

impl Conversation {
    /// A question, and what the model is told beforehand.
    pub(super) fn new(instructions: &str, question: &str) -> Self {
        let system = (!instructions.is_empty()).then(|| wire::message("system", instructions));
        let messages = system.into_iter().chain([wire::message("user", question)]).collect();
        Self { messages, done: 0, rounds: 0, usage: None }
    }

    /// What is kept of it.
    fn kept(&self) -> Value {
        let usage = self.usage.map(kept_usage);
        json!({ "messages": self.messages, "done": self.done, "rounds": self.rounds, "usage": usage })
    }

    /// The one that this was kept of.
    fn read(mut kept: Value) -> Option<Self> {
        let Value::Array(messages) = kept.get_mut("messages")?.take() else { return None };
        let number = |member: &str| kept.get(member)?.as_u64();
        let (done, rounds) = (usize::try_from(number("done")?).ok()?, u8::try_from(number("rounds")?).ok()?);
        Some(Self { messages, done, rounds, usage: wire::usage(&kept) })
    }

    /// Goes on with a message in which the model calls tools.
    pub(super) fn called(&mut self, message: Value) {
        self.messages.push(message);
        self.done = 0;
    }

    /// The calls of the model that are not answered yet.
    fn calls(&self) -> Vec<ToolCall> {
        let last = self.messages.len().checked_sub(self.done.saturating_add(1));
        let message = last.and_then(|last| self.messages.get(last));
        message.map_or_else(Vec::new, |message| wire::calls(message).into_iter().skip(self.done).collect())
    }

    fn count(&mut self, used: Option<Usage>) {
        let Some(Usage { input_tokens, output_tokens }) = used else { return };
        let sum = self.usage.get_or_insert_default();
        sum.input_tokens = sum.input_tokens.saturating_add(input_tokens);
        sum.output_tokens = sum.output_tokens.saturating_add(output_tokens);
    }
}

/// What earlier rounds of the call have remembered of an agent.
pub(super) enum Progress {
    /// It was asking, or calling tools.
    Talking(Conversation),
    /// It has answered.
    Answered(AgentReply),
}

impl Progress {
    pub(super) fn read(kept: &RawValue) -> Option<Self> {
        let kept = wire::json(kept.get().as_bytes())?;
        match kept.get("reply") {
            Some(text) => {
                let reply = AgentReply::new(text.as_str()?);
                Some(Self::Answered(AgentReply { usage: wire::usage(&kept), ..reply }))
            }
            None => Conversation::read(kept).map(Self::Talking),
        }
    }

    /// What is kept of an answer: without the calls that led to it.
    pub(super) fn of_reply(reply: &AgentReply) -> Value {
        json!({ "reply": reply.text, "usage": reply.usage.map(kept_usage) })
    }
}

/// What is kept of the use of a model, as an endpoint would write it.
fn kept_usage(Usage { input_tokens, output_tokens }: Usage) -> Value {
    json!({ "prompt_tokens": input_tokens, "completion_tokens": output_tokens })
}

/// What a conversation is had with.
pub(super) struct Talk<'a> {
    pub model: &'a ChatModel,
    pub cx: &'a Context,
    pub tools: &'a [Offered],
    pub deadline: Deadline,
    /// The agent's name for the log.
    pub name: &'a str,
    pub calls: Vec<AgentCall>,
    /// What the client was told of its progress.
    pub told: u32,
}

impl Talk<'_> {
    /// Goes on to the answer.
    pub(super) async fn go_on(mut self, mut conversation: Conversation) -> Result<AgentReply, HandlerError> {
        let offers: Vec<_> = self.tools.iter().map(Offered::offer).collect();
        loop {
            self.answer_calls(&mut conversation).await?;
            conversation.rounds = conversation.rounds.saturating_add(1);
            let is_last = conversation.rounds >= AGENT_ROUNDS;
            let body = wire::request(self.model, &conversation.messages, &offers, is_last);
            let turn = self.turn(&conversation);
            let _running = turn.begin(self.name).await;
            self.tell("asking the model".into());
            let said = ask(self.model, &body, self.deadline, self.cx).await?;
            conversation.count(said.usage);
            if is_last || wire::calls(&said.message).is_empty() {
                if said.text.is_empty() {
                    return Err(Failure::NoAnswer(AGENT_ROUNDS).after(1));
                }
                let mut text = said.text;
                if said.is_cut_short {
                    text.push_str("\n\n(The answer ends here: the model had no more tokens to go on with.)");
                }
                return Ok(AgentReply { text, usage: conversation.usage, calls: self.calls });
            }
            conversation.called(said.message);
            self.remember(&conversation)?;
        }
    }

    /// Calls what the model has called, one after the other.
    async fn answer_calls(&mut self, conversation: &mut Conversation) -> Result<(), HandlerError> {
        let calls = conversation.calls();
        let last = calls.len().checked_sub(1).filter(|_| conversation.rounds.saturating_add(1) >= AGENT_ROUNDS);
        for (nth, call) in calls.iter().enumerate() {
            let turn = self.turn(conversation);
            let _running = turn.begin(self.name).await;
            let mut content = if conversation.done < AGENT_CALLS {
                self.call(call, &turn).await?
            } else {
                "It was not called: too many calls at once.".to_owned()
            };
            if last == Some(nth) {
                content.push_str("\n\n(No tool can be called any more. Answer now.)");
            }
            conversation.messages.push(wire::result(call, &content));
            conversation.done = conversation.done.saturating_add(1);
            self.remember(conversation)?;
        }
        Ok(())
    }

    /// The context of the next message. Its place keeps equal calls apart also in a later round, in which the calls before it are
    /// not made again.
    fn turn(&self, conversation: &Conversation) -> Context {
        self.cx.within_step("turn", &conversation.messages.len().to_string())
    }

    /// Remembers how far it has come, and forgets what a tool has remembered that has now given its result: after each step, and not
    /// before a call, which may have begun in an earlier round.
    pub(super) fn remember(&self, conversation: &Conversation) -> Result<(), HandlerError> {
        if self.cx.has_rounds() {
            self.cx.remember(self.name, to_raw_value(&conversation.kept())?);
        }
        Ok(())
    }

    /// What the model is told of a call.
    async fn call(&mut self, call: &ToolCall, turn: &Context) -> Result<String, HandlerError> {
        let Some(tool) = self.tools.iter().find(|tool| tool.is_called(&call.name)) else {
            return Ok(format!("There is no tool `{}`.", shortened(&call.name)));
        };
        let name = tool.name();
        let Some(arguments) = &call.arguments else {
            return Ok(format!("The arguments of `{name}` are no JSON object. Write them as its schema says."));
        };
        self.tell(format!("calling {name}"));
        let result = match turn.call_tool(name, arguments.clone()).await {
            Ok(result) => result,
            // A client that could answer has to be told what is missing; one that could not is no reason to give up.
            Err(error) if error.input.as_ref().is_some_and(|input| input.session_required().is_none()) => {
                return Err(error);
            }
            Err(error) => ToolResult::failure(error.message),
        };
        let told = told(&result);
        self.calls.push(AgentCall { name: name.clone(), arguments: arguments.clone(), result });
        Ok(told)
    }

    fn tell(&mut self, doing: String) {
        self.told = self.told.saturating_add(1);
        self.cx.progress(f64::from(self.told), None, doing);
    }
}

/// A result, as the model is told it.
fn told(result: &ToolResult) -> String {
    let text = result.text();
    let structured = || result.structured_content().map_or("(nothing that is text)", RawValue::get).to_owned();
    let text = if text.is_empty() { structured() } else { text };
    let shown = text.get(..text.floor_char_boundary(AGENT_RESULT)).unwrap_or_default();
    let failed = if result.is_error() { "The tool failed: " } else { "" };
    match text.len().saturating_sub(shown.len()) {
        0 => format!("{failed}{shown}"),
        left => format!("{failed}{shown}\n(Cut off here, {left} bytes before its end.)"),
    }
}
