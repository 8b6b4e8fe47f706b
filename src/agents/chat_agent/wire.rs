//! The messages of `/chat/completions` that an agent uses.
//!
//! Messages are JSON values. A message of the model is sent back unchanged, because some endpoints require members that
//! they added to it.

use edge_json::{object, write};
use serde_json::{Map, Value};

use super::failure::{cut_short, withheld};
use crate::agents::agent::Usage;
use crate::limits::AGENT_CALLS;
use crate::models::{ModelFailure, json};

/// The id of the first call, which the agent makes for the model. Some endpoints accept only ids of nine letters and
/// digits.
const FIRST_CALL: &str = "firstcall";

/// The member of an answer with the number of dropped calls.
const DROPPED: &str = "dropped_calls";
const NOT_JSON: ModelFailure = ModelFailure::Broken("it is not JSON, or it takes too much memory");

/// Returns the body of a request that begins with the members of `request`. The model may call `tools`, unless `is_last`.
pub(super) fn request(mut request: Map<String, Value>, messages: &[Value], tools: &[Value], is_last: bool) -> String {
    request.insert("messages".into(), messages.into());
    if !tools.is_empty() {
        request.insert("tools".into(), tools.into());
        if is_last {
            request.insert("tool_choice".into(), "none".into());
        }
    }
    write::text(&Value::Object(request))
}

/// Returns a message with this role: the instructions or the question.
pub(super) fn message(role: &str, content: &str) -> Value {
    object(vec![("role", role.into()), ("content", content.into())])
}

/// Returns the message with the result of a tool call.
pub(super) fn result(call: &ToolCall, content: &str) -> Value {
    object(vec![("role", "tool".into()), ("tool_call_id", call.id.as_str().into()), ("content", content.into())])
}

/// Returns a message of the model that calls this tool.
pub(super) fn first_call(name: &str, arguments: &Value) -> Value {
    let function = object(vec![("name", name.into()), ("arguments", write::text(arguments).into())]);
    let call = object(vec![("id", FIRST_CALL.into()), ("type", "function".into()), ("function", function)]);
    object(vec![("role", "assistant".into()), ("content", Value::Null), ("tool_calls", vec![call].into())])
}

/// A tool call of the model.
pub(super) struct ToolCall {
    pub id: String,
    pub name: String,
    /// The arguments, or `None` if they are not a JSON object.
    pub arguments: Option<Value>,
}

/// Returns the tool calls in a message of the model.
pub(super) fn calls(message: &Value) -> Vec<ToolCall> {
    let Some(calls) = message.get("tool_calls").and_then(Value::as_array) else { return Vec::new() };
    calls.iter().map(read_call).collect()
}

fn read_call(call: &Value) -> ToolCall {
    let string = |pointer: &str| call.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    // The arguments are JSON within a string. Some models send the object itself, and some send nothing if there are no
    // arguments.
    let arguments = match call.pointer("/function/arguments") {
        None | Some(Value::Null) => Some(object(Vec::new())),
        Some(Value::String(text)) if text.trim().is_empty() => Some(object(Vec::new())),
        Some(Value::String(text)) => json(text.as_bytes()),
        Some(value) => Some(value.clone()),
    };
    ToolCall { id: string("/id"), name: string("/function/name"), arguments: arguments.filter(Value::is_object) }
}

/// Reads an answer. Returns the members that the agent uses: the message and the finish reason of the first choice, and the token usage.
pub(super) fn read(body: &[u8]) -> Result<Value, ModelFailure> {
    answer(json(body).ok_or(NOT_JSON)?, 0)
}

/// Reads an answer of Workers AI. Newer models answer as [`read`] expects. Other models answer with the text, the tool calls and the usage.
pub(super) fn read_workers_ai(body: &[u8]) -> Result<Value, ModelFailure> {
    let mut whole = json(body).ok_or(NOT_JSON)?;
    if whole.get("choices").is_some() {
        return answer(whole, 0);
    }
    let dropped = drop_calls(&mut whole);
    let mut take = |member: &str| whole.get_mut(member).map(Value::take).unwrap_or_default();
    // With a JSON schema as `response_format`, the response is a JSON value and not a text.
    let content = match take("response") {
        Value::Null => "".into(),
        Value::String(text) => Value::String(text),
        value => write::text(&value).into(),
    };
    let mut message = vec![("role", "assistant".into()), ("content", content)];
    if let Value::Array(calls) = take("tool_calls") {
        let calls: Vec<_> = calls.into_iter().enumerate().map(|(nth, call)| workers_ai_call(nth, call)).collect();
        message.push(("tool_calls", calls.into()));
    }
    let choice = object(vec![("message", object(message))]);
    answer(object(vec![("choices", vec![choice].into()), ("usage", take("usage"))]), dropped)
}

/// Returns a tool call of Workers AI in the form of chat completions. Calls of some models have this form already. Those of other models
/// are a name and arguments, without an id.
fn workers_ai_call(nth: usize, mut call: Value) -> Value {
    if call.get("function").is_some() {
        return call;
    }
    let mut take = |member: &str| call.get_mut(member).map(Value::take).unwrap_or_default();
    let arguments = match take("arguments") {
        Value::String(text) => text,
        Value::Null => "{}".into(),
        value => write::text(&value),
    };
    let function = object(vec![("name", take("name")), ("arguments", arguments.into())]);
    object(vec![("id", format!("call{nth}").into()), ("type", "function".into()), ("function", function)])
}

/// Drops the tool calls that do not run, and returns their number. They would be in each later request, and a step of the call each.
fn drop_calls(message: &mut Value) -> usize {
    let Some(Value::Array(calls)) = message.get_mut("tool_calls") else { return 0 };
    let dropped = calls.len().saturating_sub(AGENT_CALLS);
    calls.truncate(AGENT_CALLS);
    dropped
}

/// Returns the members of a whole answer that the agent uses, and the number of calls that are dropped: `dropped` of them already.
fn answer(mut answer: Value, dropped: usize) -> Result<Value, ModelFailure> {
    let mut take = |pointer: &str| answer.pointer_mut(pointer).map(Value::take).unwrap_or_default();
    let (mut message, finish_reason) = (take("/choices/0/message"), take("/choices/0/finish_reason"));
    let dropped = drop_calls(&mut message).saturating_add(dropped);
    let usage = take("/usage");
    if !message.is_object() {
        return Err(ModelFailure::Broken("it has no choice with a message"));
    }
    if finish_reason == "content_filter" {
        return Err(ModelFailure::Own(withheld()));
    }
    let is_empty = text(&message).is_empty() && calls(&message).is_empty();
    let members = [("message", message), ("finish_reason", finish_reason), ("usage", usage), (DROPPED, dropped.into())];
    let answer = object(members.into());
    match is_empty {
        true if is_cut_short(&answer) => Err(ModelFailure::Own(cut_short())),
        true => Err(ModelFailure::Broken("it has neither text nor calls")),
        false => Ok(answer),
    }
}

/// Returns the number of tool calls of an answer that do not run.
pub(super) fn dropped_calls(answer: &Value) -> u64 {
    answer.get(DROPPED).and_then(Value::as_u64).unwrap_or_default()
}

/// Returns the text of a message of the model.
pub(super) fn text(message: &Value) -> &str {
    let texts = ["content", "refusal"].into_iter().filter_map(|member| message.get(member)?.as_str());
    texts.into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default()
}

/// Returns whether the model ran out of tokens.
pub(super) fn is_cut_short(answer: &Value) -> bool {
    answer.get("finish_reason").is_some_and(|reason| reason == "length")
}

/// Returns the token usage in an answer, if the endpoint reports it.
pub(super) fn usage(answer: &Value) -> Option<Usage> {
    let tokens = |member: &str| answer.get("usage")?.get(member)?.as_u64();
    let (input, output) = (tokens("prompt_tokens"), tokens("completion_tokens"));
    let is_counted = input.is_some() || output.is_some();
    is_counted.then(|| Usage { input_tokens: input.unwrap_or_default(), output_tokens: output.unwrap_or_default() })
}
