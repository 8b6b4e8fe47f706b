//! Waiting for a task on behalf of a client that does not know tasks.

use std::time::Duration;

use edge_json::{Document, JsonLimits, Value};
use futures::FutureExt;
use serde_json::value::RawValue;

use super::id::{Owner, TaskId};
use super::message::{Answers, Phase, TaskMessage, TaskReply, View, send};
use crate::auth::StateKeys;
use crate::call::context::Context;
use crate::call::error::HandlerError;
use crate::call::result::ToolResult;
use crate::call::task_info::TaskService;
use crate::parallel::try_parallel;
use crate::protocol::error::{ErrorCode, INTERNAL, RpcError};

/// The state of a task after a wait.
pub(super) enum Followed {
    Result(ToolResult),
    Error(RpcError),
    Cancelled,
    /// The task goes on, with this message.
    Running(Option<String>),
}

/// Returns the sentence for an id that is not the id of a task of the caller.
pub(super) const UNKNOWN: &str =
    "There is no such job: it has expired, or it is not yours. Use the id that the call returned.";

/// Waits for the end of the task `id` for at most `wait`. Its questions are passed on to the client.
pub(super) async fn follow(id: &str, wait: Duration, cx: &Context) -> Result<Followed, HandlerError> {
    let until = cx.now_ms().saturating_add(u64::try_from(wait.as_millis()).unwrap_or(u64::MAX));
    loop {
        let wait_ms = until.saturating_sub(cx.now_ms());
        let view = ask(id, cx, |_| TaskMessage::Get { wait_ms }).await?;
        let generation = view.generation;
        let questions = match view.state {
            Phase::Completed(result) => {
                let result = ToolResult::read(result.get());
                let unreadable = || HandlerError::new(INTERNAL).because("the result of a task cannot be read");
                return result.map(Followed::Result).ok_or_else(unreadable);
            }
            Phase::Failed(error) => return Ok(Followed::Error(read_error(&error))),
            Phase::Cancelled => return Ok(Followed::Cancelled),
            Phase::Working => return Ok(Followed::Running(message(&view.task))),
            Phase::InputRequired(questions) => questions,
        };
        // The prefix keeps the keys apart from those of nested calls.
        let document = Document::parse(questions.get().as_bytes(), JsonLimits::MOST)?;
        let mut answers = Vec::new();
        for (key, question) in document.root().members() {
            let (key, question) = (key.into_owned(), question.to_json().unwrap_or_default());
            let asked = format!("job/{key}");
            answers.push(
                async move { cx.relay_question(&asked, question).await.map(|answer| (key, answer)) }.boxed_local(),
            );
        }
        let answers = try_parallel(answers.into_iter()).await?;
        ask(id, cx, |_| TaskMessage::Update { generation, answers: Answers(answers) }).await?;
    }
}

/// Returns the service of the endpoint, and its keys.
pub(super) fn service(cx: &Context) -> Result<(&TaskService, &StateKeys), HandlerError> {
    let service = cx.request().tasks().ok_or_else(|| HandlerError::new("This server has no durable tasks."))?;
    let keys = (*service.keys).as_ref().map_err(|error| HandlerError::new(INTERNAL).because(error))?;
    Ok((service, keys))
}

/// Returns the task `id`, if the caller can use its tool.
///
/// # Errors
/// There is no such task of the caller.
pub(super) async fn view(id: &str, cx: &Context) -> Result<View, HandlerError> {
    find(id, cx).await?.ok_or_else(unknown)
}

/// Returns the task `id`, like [`view`], or `None` if there is no such task of the caller.
pub(super) async fn find(id: &str, cx: &Context) -> Result<Option<View>, HandlerError> {
    let view = send_to(id, cx, &TaskMessage::Get { wait_ms: 0 }).await?;
    // The caller may have lost the tool since it made the call.
    Ok(view.filter(|view| cx.tools().is_some_and(|tools| tools.may_use(&view.tool, cx))))
}

/// Sends a message to the object of the task `id`, and returns the task, if the caller can use its tool. `message` gets the generation of the task.
///
/// # Errors
/// There is no such task of the caller, or an answer does not fit its question.
pub(super) async fn ask(
    id: &str,
    cx: &Context,
    message: impl FnOnce(String) -> TaskMessage,
) -> Result<View, HandlerError> {
    let View { generation, .. } = view(id, cx).await?;
    send_to(id, cx, &message(generation)).await?.ok_or_else(unknown)
}

async fn send_to(id: &str, cx: &Context, message: &TaskMessage) -> Result<Option<View>, HandlerError> {
    // A server that only passes tasks on has none of its own.
    if cx.request().tasks().is_none() {
        return Ok(None);
    }
    let (service, keys) = service(cx)?;
    let owner = Owner::of(cx);
    let Some(id) = TaskId::read(id, &owner, keys) else { return Ok(None) };
    match send(&service.objects, &id.object, &owner.digest(), message).await.map_err(failed)? {
        TaskReply::Task(view) => Ok(Some(*view)),
        TaskReply::Invalid(problem) => Err(HandlerError::invalid(problem)),
        _ => Ok(None),
    }
}

pub(super) fn unknown() -> HandlerError {
    HandlerError::invalid(UNKNOWN)
}

/// Returns the error of a failure whose cause is only for the log.
pub(super) fn failed(cause: String) -> HandlerError {
    HandlerError::new(INTERNAL).because(cause)
}

fn message(task: &RawValue) -> Option<String> {
    Document::parse(task.get().as_bytes(), JsonLimits::MOST).ok()?.root().string("statusMessage")
}

/// Reads a stored error of the protocol.
fn read_error(error: &RawValue) -> RpcError {
    let Ok(document) = Document::parse(error.get().as_bytes(), JsonLimits::MOST) else { return RpcError::internal() };
    let error = document.root();
    let code = error.get("code").and_then(|code| ErrorCode::of_number(code.text().parse().ok()?));
    let message = error.string("message").unwrap_or_else(|| INTERNAL.to_owned());
    let read = RpcError::new(code.unwrap_or(ErrorCode::Internal), message);
    match error.get("data").and_then(Value::to_json) {
        Some(data) => read.with_data(data),
        None => read,
    }
}
