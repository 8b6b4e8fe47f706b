//! The start of a task, in the request that calls its tool.

use std::time::Duration;

use edge_json::write::{self, ObjectWriter};
use sha2::{Digest, Sha256};

use super::follow::{Followed, follow};
use super::id::{Owner, TaskId};
use super::job_tools;
use super::message::{Created, Message, Reply, View, send};
use super::record::StoredCall;
use super::task::Task;
use crate::base64::URL_SAFE;
use crate::call::context::Context;
use crate::call::deadline::{Ended, late, run};
use crate::call::error::HandlerError;
use crate::call::failure;
use crate::call::result::ToolResult;
use crate::call::task::TaskService;
use crate::limits::OPEN_TASK_SECONDS;
use crate::protocol::capabilities::ClientCapabilities;
use crate::protocol::error::INTERNAL;
use crate::protocol::revision::Era;
use crate::server::execute::Executed;
use crate::text::Text;

/// The step in which a call creates its task. A later round of the call finds the same task.
const STEP: &str = "edge-mcp: create the task";
/// The time for the requests to the object, besides the wait.
const REQUESTS: Duration = Duration::from_secs(10);

/// Starts the task of a call of the tool `name`. A client with tasks gets the task. For others, waits for the result.
pub(super) async fn start(task: Task, name: Text, arguments: Box<str>, has_tasks: bool, cx: Context) -> Executed {
    let started = async {
        if has_tasks {
            return create(&task, &name, &arguments, &cx).await.map(|(id, view)| Executed::Task(view.describe(&id)));
        }
        let id: String =
            cx.step(STEP, &(), async || create(&task, &name, &arguments, &cx).await.map(|(id, _)| id)).await?;
        let mut abandoned = CancelOnDrop { cx: cx.clone(), id: Some(id.clone()) };
        let followed = follow(&id, task.wait, &cx).await;
        // After an error, the caller does not have the handle.
        if followed.is_ok() {
            abandoned.id = None;
        }
        followed.map(|followed| match followed {
            Followed::Result(result) => Executed::Done(result),
            Followed::Error(error) => Executed::TaskFailed(error),
            Followed::Running(message) => Executed::Done(job_tools::handle(&id, message.as_deref())),
            Followed::Cancelled => Executed::Done(ToolResult::failure("The call was cancelled.")),
        })
    };
    let limit = task.wait.saturating_add(REQUESTS);
    match run(&cx, limit, started).await {
        Ended::Done(Ok(executed)) => executed,
        Ended::Done(Err(HandlerError(error))) if error.input.is_some() => Executed::CannotAsk(HandlerError(error)),
        Ended::Done(Err(HandlerError(error))) => {
            if let Some(cause) = &error.cause {
                failure::log(cx.host(), &name, cause);
            }
            Executed::Done(ToolResult::failure(error.message))
        }
        Ended::Waits => Executed::Waits,
        Ended::Late => Executed::Done(ToolResult::failure(late(&cx, limit))),
    }
}

/// Creates a task, and returns it with its id, unless the caller has too many.
async fn create(task: &Task, name: &str, arguments: &str, cx: &Context) -> Result<(String, View), HandlerError> {
    let service = service(cx)?;
    let owner = Owner::of(cx);
    let key = task.dedupe.as_ref().map(|key| key(arguments)).transpose();
    let key =
        key.map_err(|problem| HandlerError::invalid(format!("The arguments of `{name}` are not valid: {problem}")))?;
    let key = key.map(|key| format!("{name}\0{key}"));
    let id = TaskId::new(key.as_deref(), &owner, service, cx)?;
    let ttl = match cx.request().caller() {
        Some(_) => task.ttl,
        // The id is then the only secret.
        None => task.ttl.min(Duration::from_secs(OPEN_TASK_SECONDS)),
    };
    let ttl_ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
    let failed = |cause: String| HandlerError::new(INTERNAL).because(cause);
    let quota = URL_SAFE.encode(Sha256::digest(format!("edge-mcp task quota\0{}\0{name}", owner.digest())));
    let expires_ms = cx.now_ms().saturating_add(ttl_ms);
    let enter = Message::Enter { task: id.object.clone(), most: task.per_caller, expires_ms };
    match send(service, &quota, &enter).await.map_err(failed)? {
        Reply::Entered => {}
        Reply::Full(free_ms) => {
            let seconds = free_ms.saturating_sub(cx.now_ms()).div_ceil(1000);
            return Err(HandlerError::new(format!(
                "`{name}` was not called: you already have {} running jobs of it. Wait until one has ended, or cancel one. \
                 A place becomes free in {seconds} s at the latest.",
                task.per_caller
            )));
        }
        _ => return Err(failed("the count of tasks did not answer as expected".to_owned())),
    }
    let created = Created {
        tool: name.to_owned(),
        owner: owner.digest(),
        ttl_ms,
        quota: quota.clone(),
        call: stored_call(&id.text, name, arguments, cx)?,
        steps: cx.rounds().steps().finished().iter().map(crate::call::step_memory::Finished::parts).collect(),
        answers: cx
            .rounds()
            .answers()
            .iter()
            .map(|it| (it.key.clone(), it.question.clone(), it.answer.clone()))
            .collect(),
    };
    let reply = send(service, &id.object, &Message::Create(Box::new(created))).await;
    let is_running = matches!(&reply, Ok(Reply::Task(view)) if !view.state.is_final());
    if !is_running {
        let leave = Message::Leave { task: id.object.clone() };
        send(service, &quota, &leave).await.map_err(failed)?;
    }
    match reply.map_err(failed)? {
        Reply::Task(view) => Ok((id.text, *view)),
        _ => Err(failed("a task was not created as expected".to_owned())),
    }
}

fn stored_call(id: &str, name: &str, arguments: &str, cx: &Context) -> Result<StoredCall, HandlerError> {
    let mut params = ObjectWriter::new().text("name", name).json("arguments", arguments);
    if let Some(meta) = cx.request().meta() {
        params = params.json("_meta", meta);
    }
    let ClientCapabilities { elicitation_form, elicitation_url, sampling, roots } = cx.client_capabilities();
    Ok(StoredCall {
        id: id.to_owned(),
        params: write::raw_value(params.finish()),
        call_id: cx.rounds().call_id(cx.host())?,
        principal: cx.request().caller().cloned(),
        capabilities: [elicitation_form, elicitation_url, sampling, roots],
        is_modern: cx.revision().era() == Era::Modern,
        url: cx.url(),
    })
}

/// Returns the service of the endpoint.
pub(super) fn service(cx: &Context) -> Result<&TaskService, HandlerError> {
    cx.request().tasks().ok_or_else(|| HandlerError::new("This server has no durable tasks."))
}

/// Cancels a task if its call ends before the client of 2026-07-28 has the handle. Nothing else can then find the task.
struct CancelOnDrop {
    cx: Context,
    /// `None` if the caller does not have to know the handle.
    id: Option<String>,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        let cx = self.cx.clone();
        // A round that ends with a question is also dropped. The next round continues.
        if cx.revision().era() == Era::Legacy || cx.rounds().is_waiting() {
            return;
        }
        let Some(service) = cx.request().tasks().cloned() else { return };
        let owner = Owner::of(&cx);
        if let Some(id) = self.id.take().and_then(|id| TaskId::read(&id, &owner, &service.0.keys)) {
            let cancel = async move {
                let cancel = Message::Cancel { owner: owner.digest() };
                if let Err(cause) = send(&service, &id.object, &cancel).await {
                    failure::log(cx.host(), "tasks", &cause);
                }
            };
            self.cx.wait_until(cancel);
        }
    }
}
