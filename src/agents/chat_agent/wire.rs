//! The messages of `/chat/completions`, as far as an agent needs them.
//!
//! They are values, not types of their own: a message of the model goes back with all that is in it, since some endpoints want to see
//! again what they have put there.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::failure::Failure;
use super::model::ChatModel;
use crate::agents::agent::Usage;
use crate::json::{Document, JsonLimits};

/// The id of a call that the model has not made itself. Some endpoints take ids of nine letters and digits alone.
const FIRST_CALL: &str = "firstcall";

/// What the model is asked. It may call `tools`, unless this `is_last`.
pub(super) fn request(model: &ChatModel, messages: &[Value], tools: &[Value], is_last: bool) -> String {
    let mut request = model.parameters().clone();
    request.insert("model".into(), model.name().into());
    request.insert("messages".into(), messages.into());
    if !tools.is_empty() {
        request.insert("tools".into(), tools.into());
        if is_last {
            request.insert("tool_choice".into(), "none".into());
        }
    }
    Value::Object(request).to_string()
}

/// A message of this side: the instructions, or the question.
pub(super) fn message(role: &str, content: &str) -> Value {
    json!({ "role": role, "content": content })
}

/// The result of a call.
pub(super) fn result(call: &ToolCall, content: &str) -> Value {
    json!({ "role": "tool", "tool_call_id": call.id, "content": content })
}

/// The message in which a model would have called this tool.
pub(super) fn first_call(name: &str, arguments: &Value) -> Value {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    let call = json!({ "id": FIRST_CALL, "type": "function", "function": function });
    json!({ "role": "assistant", "content": null, "tool_calls": [call] })
}

/// A call that the model wants to be made.
pub(super) struct ToolCall {
    pub id: String,
    pub name: String,
    /// `None`, where what it wrote is no object.
    pub arguments: Option<Value>,
}

/// The calls in a message of the model.
pub(super) fn calls(message: &Value) -> Vec<ToolCall> {
    let calls = message.get("tool_calls").and_then(Value::as_array);
    calls.into_iter().flatten().map(read_call).collect()
}

fn read_call(call: &Value) -> ToolCall {
    let string = |pointer: &str| call.pointer(pointer).and_then(Value::as_str).unwrap_or_default().to_owned();
    // They are JSON within a string; some models write the object itself, and some nothing where there is nothing to say.
    let arguments = match call.pointer("/function/arguments") {
        None | Some(Value::Null) => Some(json!({})),
        Some(Value::String(text)) if text.trim().is_empty() => Some(json!({})),
        Some(Value::String(text)) => json(text.as_bytes()),
        Some(value) => Some(value.clone()),
    };
    ToolCall { id: string("/id"), name: string("/function/name"), arguments: arguments.filter(Value::is_object) }
}

/// What another server has sent, if it is JSON.
pub(super) fn json(text: &[u8]) -> Option<Value> {
    Document::parse(text, JsonLimits::MOST).ok()?.root().to_json()
}

/// What the model answered.
#[derive(Serialize, Deserialize)]
pub(super) struct Said {
    /// The whole message.
    pub message: Value,
    pub text: String,
    /// It had no more tokens to go on with.
    pub is_cut_short: bool,
    pub usage: Option<Usage>,
}

/// Reads what came with a 200.
pub(super) fn read(body: &[u8]) -> Result<Said, Failure> {
    let mut answer = json(body).ok_or(Failure::Broken("it is no JSON"))?;
    let message = answer.pointer_mut("/choices/0/message").map(Value::take);
    let message = message.filter(Value::is_object).ok_or(Failure::Broken("it has no choice with a message"))?;
    let finish_reason = answer.pointer("/choices/0/finish_reason").and_then(Value::as_str).unwrap_or_default();
    if finish_reason == "content_filter" {
        return Err(Failure::Withheld);
    }
    let is_cut_short = finish_reason == "length";
    let texts = ["content", "refusal"].into_iter().filter_map(|member| message.get(member)?.as_str());
    let text = texts.into_iter().find(|text| !text.trim().is_empty()).unwrap_or_default().to_owned();
    if text.is_empty() && calls(&message).is_empty() {
        return Err(if is_cut_short { Failure::CutShort } else { Failure::Broken("it has neither text nor calls") });
    }
    Ok(Said { message, text, is_cut_short, usage: usage(&answer) })
}

/// What an answer says of the tokens that it has used. Not all endpoints count, and nothing rests on it.
pub(super) fn usage(answer: &Value) -> Option<Usage> {
    let tokens = |member: &str| answer.get("usage")?.get(member)?.as_u64();
    let (input, output) = (tokens("prompt_tokens"), tokens("completion_tokens"));
    let is_counted = input.is_some() || output.is_some();
    is_counted.then(|| Usage { input_tokens: input.unwrap_or_default(), output_tokens: output.unwrap_or_default() })
}
