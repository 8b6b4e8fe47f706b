//! One answer of a chat model.

use serde_json::Value;

use super::model::ChatModel;
use super::wire;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::models::{Deadline, ask};

/// Returns the answer to these messages: the message, the finish reason and the token usage. The model may call `tools`, unless `is_last`.
pub(super) async fn complete(
    model: &ChatModel,
    messages: &[Value],
    tools: &[Value],
    is_last: bool,
    deadline: Deadline,
    cx: &Context,
) -> Result<Value, HandlerError> {
    let body = wire::request(model.model().request(), messages, tools, is_last);
    ask(model.model(), &body, model.reader(), deadline, cx).await
}

/// Returns the text with which the model answers one message. It cannot call tools.
pub(crate) async fn answer(
    model: &ChatModel,
    instructions: &str,
    message: &str,
    deadline: Deadline,
    cx: &Context,
) -> Result<String, HandlerError> {
    let messages = [wire::message("system", instructions), wire::message("user", message)];
    let answer = complete(model, &messages, &[], true, deadline, cx).await?;
    Ok(answer.get("message").map_or("", wire::text).to_owned())
}
