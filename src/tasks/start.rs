//! The start of a task, in the request that calls its tool.

use std::rc::Rc;
use std::time::Duration;

use edge_json::write::{self, ObjectWriter};
use edge_json::{Document, JsonLimits};
use futures::FutureExt;
use sha2::{Digest, Sha256};

use super::follow::{Followed, follow, service};
use super::id::{Owner, TaskId};
use super::message::{Created, TaskMessage, TaskReply, View, send};
use super::record::StoredCall;
use super::task::Task;
use super::{job_tools, methods};
use crate::base64::URL_SAFE;
use crate::call::client_need::TASK;
use crate::call::context::Context;
use crate::call::deadline::{Ended, run};
use crate::call::error::{HandlerError, ResultExt};
use crate::call::input_error::{InputError, InputProblem};
use crate::call::result::ToolResult;
use crate::call::step_memory::StepResult;
use crate::call::task_info::{Begin, TaskService};
use crate::host::{Host, log};
use crate::limits::{OPEN_TASK_SECONDS, TASK_REQUESTS_SECONDS};
use crate::protocol::error::{INTERNAL, RpcError};
use crate::protocol::revision::Era;
use crate::protocol::task::EXTENSION;
use crate::server::extension::ExtensionMethods;
use crate::server::tool_handler::ToolCall;
use crate::server::tool_task::ToolTask;
use crate::text::Text;

/// The step in which a call creates its task. A later round of the call finds the same task.
const STEP: &str = "edge-mcp: create the task";
/// The time for the requests to the object, besides the wait.
const REQUESTS: Duration = Duration::from_secs(TASK_REQUESTS_SECONDS);

/// Returns whether the client of the request can get a task.
fn client_has_tasks(cx: &Context) -> bool {
    cx.client_supports(EXTENSION).is_yes()
}

impl ToolTask for Task {
    fn begin(&self, name: &str, cx: &Context) -> Result<Begin, HandlerError> {
        if let Some(journal) = cx.rounds().journal().filter(|_| self.tolerates_changes && cx.depth() == 0) {
            journal.tolerate_changes();
        }
        // The tool of a source is not known when the server is built.
        let is_foreign = cx.tools().is_none_or(|tools| !tools.has_own_tool(name));
        let is_direct =
            is_foreign || cx.depth() > 0 || cx.rounds().journal().is_some() || cx.request().tasks().is_none();
        let is_answered_directly = is_direct || (!self.has_job && !client_has_tasks(cx));
        match () {
            () if !is_direct && self.is_required && !client_has_tasks(cx) => Err(cannot_wait()),
            () if is_answered_directly => Ok(Begin::Never),
            () if self.starts_later => Ok(Begin::AtMark),
            () => Ok(Begin::AtOnce),
        }
    }

    fn start_after(&self, call: ToolCall, name: Text, arguments: Box<str>, cx: Context) -> ToolCall {
        let task = self.clone();
        let started = async move {
            let rounds = cx.rounds();
            // An earlier round has created the task, in which the handler runs. What it does before the mark must not happen twice.
            if rounds.steps().has_finished(STEP) {
                rounds.leave_handler();
                return start(task, name, arguments, cx).await;
            }
            let end = call.await;
            let starts = rounds.starts_task() && rounds.questions().is_empty() && rounds.obstacle().is_none();
            if !starts || !matches!(end, Ok(None)) {
                return end;
            }
            rounds.leave_handler();
            start(task, name, arguments, cx).await
        };
        started.boxed_local()
    }

    fn has_job(&self) -> bool {
        self.has_job
    }

    fn is_required(&self) -> bool {
        self.is_required
    }

    fn install(&self, methods: &mut ExtensionMethods) {
        methods::install(methods);
    }
}

/// Returns the error for a client without tasks.
fn cannot_wait() -> HandlerError {
    let error: Result<(), _> = Err(InputError::from(InputProblem::MissingCapability(&TASK)));
    let sentence = "This tool answers with a task. Use a client of 2026-07-28 that declares the extension io.modelcontextprotocol/tasks.";
    error.message(sentence).err().unwrap_or_else(|| HandlerError::new(sentence))
}

/// The sentence for a caller if the object of its task does not answer.
const LATE: &str =
    "The server did not answer in time. It is not known whether the job runs. Check its effect before you call again.";

/// Starts the task of a call of the tool `name`. A client with tasks gets the task. For others, waits for the result.
async fn start(task: Task, name: Text, arguments: Box<str>, cx: Context) -> Result<Option<ToolResult>, HandlerError> {
    let started = async {
        if client_has_tasks(&cx) {
            return create(&task, &name, &arguments, &cx)
                .await
                .map(|(id, view)| ToolResult::of_task(view.describe(&id)));
        }
        let id: String =
            cx.step(STEP, &(), async || create(&task, &name, &arguments, &cx).await.map(|(id, _)| id)).await?;
        // With a key, a repeated call finds the task.
        let is_lost = task.dedupe.is_none();
        let mut abandoned = CancelOnDrop { cx: cx.clone(), id: is_lost.then(|| id.clone()) };
        let followed = follow(&id, task.wait, &cx).await;
        // After an error, the caller does not have the id of the job.
        let id_of_lost = abandoned.id.take().filter(|_| followed.is_err());
        cancel_lost(&cx, id_of_lost);
        match followed? {
            Followed::Result(result) => Ok(result),
            Followed::Error(error) => Err(task_failed(error)),
            Followed::Running(message) => Ok(job_tools::running(&id, message.as_deref())),
            Followed::Cancelled => Ok(ToolResult::failure("The call was cancelled.")),
        }
    };
    let limit = task.wait.saturating_add(REQUESTS);
    match run(&cx, limit, started).await {
        Ended::Done(Ok(result)) => Ok(Some(result)),
        Ended::Done(Err(HandlerError(error))) if error.input.is_some() => Err(HandlerError(error)),
        Ended::Done(Err(HandlerError(error))) => {
            if let Some(cause) = &error.cause {
                log::failure(cx.host(), &name, cause);
            }
            Ok(Some(ToolResult::failure(error.message)))
        }
        Ended::Waits => Ok(None),
        Ended::Late => Ok(Some(ToolResult::failure(LATE))),
    }
}

/// Returns the error for a task that failed with an error of the protocol, which the caller gets as it is.
fn task_failed(error: RpcError) -> HandlerError {
    InputError::from(InputProblem::TaskFailed(error)).into()
}

/// Creates a task, and returns it with its id, unless the caller has too many.
async fn create(task: &Task, name: &str, arguments: &str, cx: &Context) -> Result<(String, View), HandlerError> {
    let (service, keys) = service(cx)?;
    let owner = Owner::of(cx);
    let key = task.dedupe.as_ref().map(|key| key(arguments)).transpose();
    let key =
        key.map_err(|problem| HandlerError::invalid(format!("The arguments of `{name}` are not valid: {problem}")))?;
    // Without authentication, all callers are one, and would share a task.
    let key = key.filter(|_| cx.request().caller().is_some()).map(|key| format!("{name}\0{key}"));
    let id = TaskId::new(key.as_deref(), &owner, keys, cx)?;
    let ttl = match cx.request().caller() {
        Some(_) => task.ttl,
        // The id is then the only secret.
        None => task.ttl.min(Duration::from_secs(OPEN_TASK_SECONDS)),
    };
    let ttl_ms = u64::try_from(ttl.as_millis()).unwrap_or(u64::MAX);
    let failed = |cause: String| HandlerError::new(INTERNAL).because(cause);
    let quota = URL_SAFE.encode(Sha256::digest(format!("edge-mcp task quota\0{}\0{name}", owner.digest())));
    let mut generation = [0; 16];
    cx.host().fill_random(&mut generation)?;
    let created = Created {
        tool: name.to_owned(),
        generation: URL_SAFE.encode(generation),
        ttl_ms,
        quota,
        most: task.per_caller.into(),
        call: stored_call(&id.text, name, arguments, cx)?,
        steps: cx.rounds().steps().finished().iter().map(StepResult::parts).collect(),
        answers: cx
            .rounds()
            .answers()
            .iter()
            .map(|it| (it.key.clone(), it.question.clone(), it.answer.clone()))
            .collect(),
    };
    let owner = owner.digest();
    let reply = send(&service.objects, &id.object, &owner, &TaskMessage::Create(Box::new(created))).await;
    // The task may exist, and only its answer is lost. Without a key, no repeated call finds it.
    if reply.is_err() && task.dedupe.is_none() {
        cancel(service, &id.object, &owner, cx.host()).await;
    }
    match reply.map_err(failed)? {
        TaskReply::Task(view) => Ok((id.text, *view)),
        TaskReply::Full(free_ms) => {
            let seconds = free_ms.saturating_sub(cx.now_ms()).div_ceil(1000);
            Err(HandlerError::new(format!(
                "`{name}` was not called: you already have {} running jobs of it. Wait until one has ended, or cancel one. \
                 A place becomes free in {seconds} s at the latest.",
                task.per_caller
            )))
        }
        _ => Err(failed("a task was not created as expected".to_owned())),
    }
}

fn stored_call(id: &str, name: &str, arguments: &str, cx: &Context) -> Result<StoredCall, HandlerError> {
    let mut params = ObjectWriter::new().text("name", name).json("arguments", arguments);
    if let Some(meta) = stored_meta(cx) {
        params = params.json("_meta", &meta);
    }
    Ok(StoredCall {
        id: id.to_owned(),
        params: write::raw_value(params.finish()),
        call_id: cx.rounds().call_id(cx.host())?,
        principal: cx.request().caller().cloned(),
        capabilities: cx.client_capabilities(),
        is_modern: cx.revision().era() == Era::Modern,
        url: cx.url(),
    })
}

/// Returns the `_meta` for the attempts of the task: that of the request, but with the trace context of this server. So the span of each
/// attempt is a child of the span of the request, also if the client sent no trace context.
fn stored_meta(cx: &Context) -> Option<String> {
    let meta = cx.request().meta();
    let Some(parent) = cx.traceparent() else { return meta.map(str::to_owned) };
    let document = meta.and_then(|meta| Document::parse(meta.as_bytes(), JsonLimits::MOST).ok());
    let members = document.iter().flat_map(|document| document.root().members());
    let others = members.filter(|(name, _)| !matches!(&**name, "traceparent" | "tracestate"));
    let stored = others.fold(ObjectWriter::new(), |stored, (name, value)| stored.json(&name, value.text()));
    let mut stored = stored.text("traceparent", &parent);
    if let Some(state) = cx.tracestate() {
        stored = stored.text("tracestate", &state);
    }
    Some(stored.finish())
}

/// Cancels a task if its call ends before the client of 2026-07-28 has the id of the job. Nothing else can then find the task.
struct CancelOnDrop {
    cx: Context,
    /// `None` if the caller does not have to know the id of the job.
    id: Option<String>,
}

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        // A round that ends with a question is also dropped. The next round continues.
        if self.cx.revision().era() != Era::Legacy && !self.cx.rounds().is_waiting() {
            cancel_lost(&self.cx, self.id.take());
        }
    }
}

/// Cancels a task whose id does not reach its caller. The request does not wait for it.
fn cancel_lost(cx: &Context, id: Option<String>) {
    let (Some(id), Some(service)) = (id, cx.request().tasks().cloned()) else { return };
    let Ok(keys) = &*service.keys else { return };
    let owner = Owner::of(cx);
    let Some(id) = TaskId::read(&id, &owner, keys) else { return };
    let (service, host) = (service.clone(), cx.host().clone());
    cx.wait_until(async move { cancel(&service, &id.object, &owner.digest(), &host).await });
}

/// Asks an object to cancel its task, which no other task replaces. A failure is only logged, because no caller waits for the answer.
async fn cancel(service: &TaskService, object: &str, owner: &str, host: &Rc<dyn Host>) {
    let cancel = TaskMessage::Cancel { generation: None };
    if let Err(cause) = send(&service.objects, object, owner, &cancel).await {
        log::failure(host, "tasks", &cause);
    }
}
