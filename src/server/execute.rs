//! A tool call: checks of the arguments, hooks, handler and deadline, and checks of the result.

use std::any::Any;
use std::future::ready;
use std::rc::Rc;
use std::time::Duration;

use edge_json::{Document, JsonLimits, Kind, Value, write};
use futures::FutureExt;
use futures::future::LocalBoxFuture;

use super::access::permits;
use super::approval::{ApprovalFuture, Approved};
use super::builder::McpServer;
use super::executed::Executed;
use super::hook::notify;
use super::tool::Tool;
use super::tool_handler::ToolFuture;
use crate::call::clean::Clean;
use crate::call::context::{CallTools, CallableTool, Context, Hook, PassTasks, unknown_tool};
use crate::call::deadline::{Ended, late, run};
use crate::call::error::HandlerError;
use crate::call::failure;
use crate::call::result::ToolResult;
use crate::call::task_info::Begin;
use crate::call::tool_event::ToolEvent;
use crate::limits::{ARGUMENT_TREE, NESTED_CALLS, TASK_ATTEMPT_SECONDS, TASK_GRACE_SECONDS};
use crate::protocol::error::INTERNAL;
use crate::schema::{CheckSteps, Schema, SchemaError};
use crate::text::{Text, visible};

/// The longest time of an attempt of a durable task.
const LONGEST_ATTEMPT: Duration = Duration::from_secs(TASK_ATTEMPT_SECONDS.saturating_add(TASK_GRACE_SECONDS));

/// Runs a call of `tool`, a tool of `server`, or starts its durable task. The returned future owns its data.
pub(crate) fn execute(
    server: &dyn CallTools,
    tool: &Rc<Tool>,
    arguments: Value<'_>,
    cx: &Context,
) -> LocalBoxFuture<'static, Executed> {
    let Some(task) = tool.durable_task() else { return execute_directly(server, tool, arguments, cx) };
    match task.begin(&tool.metadata.name, cx) {
        Err(error) => ready(Executed::CannotAsk(error)).boxed_local(),
        Ok(Begin::Never) => execute_directly(server, tool, arguments, cx),
        Ok(begin) => {
            cx.rounds().begin_task(begin);
            let call = execute_directly(server, tool, arguments, cx);
            task.start_after(call, tool.metadata.name.clone(), arguments.text().into(), cx.clone())
        }
    }
}

/// Checks the arguments and the approval, and calls the handler of `tool`, a tool of `server`. The returned future runs the call to its
/// end, or to the point at which its durable task begins.
///
/// The future is boxed, so the wasm module contains it only once, for calls of clients and nested calls.
fn execute_directly(
    server: &dyn CallTools,
    tool: &Rc<Tool>,
    arguments: Value<'_>,
    cx: &Context,
) -> LocalBoxFuture<'static, Executed> {
    // The attempt of a durable task limits its handler, and the request that created the task had the approval.
    let is_attempt = cx.rounds().journal().is_some() && (cx.depth() == 0 || tool.durable_task().is_some());
    let called = Called {
        name: tool.metadata.name.clone(),
        deadline: if is_attempt { LONGEST_ATTEMPT } else { tool.deadline },
        hooks: [server.hooks(), &tool.hooks].concat(),
        output: tool.output_schema(),
        clean: tool.clean,
        cx: cx.clone(),
    };
    let approval = tool.approval.as_ref().filter(|_| cx.depth() > 0 || cx.rounds().journal().is_none());
    let is_observed = !called.hooks.is_empty();
    let checked = check(tool, arguments, cx).and_then(|()| {
        if is_observed || approval.is_some() {
            check_memory(tool, arguments)?;
        }
        is_observed.then(|| observed(tool, arguments)).transpose()
    });
    match (checked, approval) {
        (Ok(observed), Some(approval)) => match approval(&tool.metadata.name, arguments, cx.clone()) {
            Ok(asking) => {
                called.run_with_approval(asking, tool.clone(), arguments.text().into(), observed).boxed_local()
            }
            Err(mistake) => {
                let refused = Executed::Done(refused(&tool.metadata.name, &mistake));
                called.run_with_hooks(sent(arguments.text()), Err(refused)).boxed_local()
            }
        },
        (checked, _) => called.begin(tool, arguments, checked, false),
    }
}

/// Converts the arguments for the hooks. They must see the arguments that the handler gets, so arguments that cannot be converted are
/// rejected.
fn observed(tool: &Tool, arguments: Value<'_>) -> Result<Rc<serde_json::Value>, ToolResult> {
    arguments.to_json().map(Rc::new).ok_or_else(|| refused(&tool.metadata.name, "a number is out of range"))
}

/// Checks the memory of the arguments as JSON values, which hooks and approvals can get.
fn check_memory(tool: &Tool, arguments: Value<'_>) -> Result<(), ToolResult> {
    let (bytes, limit) = (arguments.tree_bytes(), ARGUMENT_TREE);
    if bytes <= limit {
        return Ok(());
    }
    let problem = format!("their values take {bytes} bytes of memory (limit: {limit}): send fewer of them in one call");
    Err(refused(&tool.metadata.name, &problem))
}

/// Checks that the arguments fit the schema of the tool.
fn check(tool: &Tool, arguments: Value<'_>, cx: &Context) -> Result<(), ToolResult> {
    let name = &tool.metadata.name;
    let mistakes = mistakes(tool, arguments, cx)
        .map_err(|error| broken(name, cx, &error.to_string(), "The tool cannot be called as it is defined."))?;
    if mistakes.is_empty() { Ok(()) } else { Err(refused(name, &mistakes.join("\n- "))) }
}

fn mistakes(tool: &Tool, arguments: Value<'_>, cx: &Context) -> Result<Vec<String>, SchemaError> {
    let (length, limit) = (arguments.text().len(), tool.argument_limit);
    if length > limit {
        return Ok(vec![format!("the arguments have {length} bytes (limit: {limit})")]);
    }
    Ok(tool.input_schema()?.validate_within(arguments, cx.request().argument_steps()))
}

/// The data that a call needs after its handler was called. It owns all of its data, so it can outlive the request.
struct Called {
    name: Text,
    deadline: Duration,
    hooks: Vec<Hook>,
    output: Result<Option<Rc<Schema>>, SchemaError>,
    clean: Option<Clean>,
    cx: Context,
}

impl Called {
    /// Calls the handler of `tool` with arguments that have been checked, and runs the call to its end. `is_approved` is whether a person
    /// approved the call.
    fn begin(
        self,
        tool: &Tool,
        arguments: Value<'_>,
        checked: Result<Option<Rc<serde_json::Value>>, ToolResult>,
        is_approved: bool,
    ) -> LocalBoxFuture<'static, Executed> {
        if checked.is_ok() && self.cx.depth() == 0 && self.cx.rounds().begin() == Begin::AtOnce {
            // The task calls the handler, and the hooks observe it there. Only this request knows of the approval.
            self.cx.rounds().start_task("");
            let approval = is_approved.then_some(ToolEvent::Approval { is_approved });
            let input = approval.map_or_else(Vec::new, |approval| [sent(arguments.text()), vec![approval]].concat());
            return self.run_with_hooks(input, Err(Executed::Waits)).boxed_local();
        }
        let call = || tool.handler.call(arguments, self.cx.clone()).map_err(|mistake| refused(&self.name, &mistake));
        let work = checked.and_then(|observed| Ok((observed, call()?)));
        let mut input = Vec::new();
        let journal = self.cx.rounds().journal();
        let is_first = self.cx.depth() > 0 || journal.is_none_or(|journal| journal.info().attempt == 1);
        if !self.hooks.is_empty() && is_first {
            input.extend(sent(arguments.text()));
            input.extend(is_approved.then_some(ToolEvent::Approval { is_approved }));
            input.extend(work.iter().filter_map(|(observed, _)| observed.clone()).map(ToolEvent::InputAvailable));
        }
        self.run_with_hooks(input, work.map(|(_, work)| work).map_err(Executed::Done)).boxed_local()
    }

    /// Waits for the approval, and then calls the handler. The approval and the handler each have the whole deadline.
    ///
    /// The arguments are read again after the approval, because the body of the request is dropped while the approval waits.
    async fn run_with_approval(
        self,
        asking: ApprovalFuture,
        tool: Rc<Tool>,
        arguments: Box<str>,
        observed: Option<Rc<serde_json::Value>>,
    ) -> Executed {
        let mut input = sent(&arguments);
        let ended = match run(&self.cx, self.deadline, asking).await {
            Ended::Done(Ok(Approved::No(error))) => {
                input.push(ToolEvent::Approval { is_approved: false });
                self.failed(error)
            }
            Ended::Done(Ok(Approved::Yes)) => return self.run_approved(true, &tool, arguments, observed).await,
            Ended::Done(Ok(Approved::NotNeeded)) => return self.run_approved(false, &tool, arguments, observed).await,
            Ended::Done(Err(error)) => self.failed(error),
            // The question ends the round before the handler is called.
            Ended::Waits => return Executed::Waits,
            Ended::Late => Executed::Done(ToolResult::failure(late(&self.cx, self.deadline))),
        };
        self.run_with_hooks(input, Err(ended)).await
    }

    /// Calls the handler after the question for approval.
    async fn run_approved(
        self,
        is_approved: bool,
        tool: &Tool,
        arguments: Box<str>,
        observed: Option<Rc<serde_json::Value>>,
    ) -> Executed {
        let work = match Document::parse(arguments.as_bytes(), JsonLimits::MOST) {
            Ok(document) => self.begin(tool, document.root(), Ok(observed), is_approved),
            // The arguments were valid before, so this is a fault of the library.
            Err(error) => return Executed::Done(broken(&self.name, &self.cx, &error.to_string(), "The call ended.")),
        };
        drop(arguments);
        work.await
    }

    /// Runs the call to its end. Hooks receive the `input` events first, and then the event for the outcome.
    async fn run_with_hooks(self, input: Vec<ToolEvent>, work: Result<ToolFuture, Executed>) -> Executed {
        if !self.hooks.is_empty() {
            for event in input {
                self.notify(event).await;
            }
        }
        let executed = match work {
            Ok(work) => self.finish(work).await,
            Err(executed) => executed,
        };
        let event = if self.hooks.is_empty() { None } else { outcome(&executed) };
        if let Some(event) = event {
            self.notify(event).await;
        }
        executed
    }

    /// Runs the handler to its end or its deadline, and checks the result.
    async fn finish(&self, work: ToolFuture) -> Executed {
        match run(&self.cx, self.deadline, work).await {
            Ended::Waits => Executed::Waits,
            Ended::Late => Executed::Done(ToolResult::failure(late(&self.cx, self.deadline))),
            Ended::Done(Ok(result)) => Executed::Done(self.checked(self.cleaned(result))),
            Ended::Done(Err(error)) => self.failed(error),
        }
    }

    #[cold]
    #[inline(never)]
    fn failed(&self, HandlerError(mut error): HandlerError) -> Executed {
        if error.input.is_some() {
            if self.clean.is_some() {
                error.message = visible(&error.message).into();
            }
            return Executed::CannotAsk(HandlerError(error));
        }
        if let Some(cause) = &error.cause {
            failure::log(self.cx.host(), &self.name, cause);
        }
        Executed::Done(self.cleaned(ToolResult { meta: error.meta, ..ToolResult::failure(error.message) }))
    }

    fn cleaned(&self, result: ToolResult) -> ToolResult {
        let Some(clean) = self.clean else { return result };
        clean(result).unwrap_or_else(|cause| {
            let cause = format!("the output cannot be cleaned: {cause}");
            broken(&self.name, &self.cx, &cause, "The tool returned output that cannot be cleaned.")
        })
    }

    /// Sends an event to the hooks. Failures of hooks are only logged.
    async fn notify(&self, event: ToolEvent) {
        for failure in notify(&self.hooks, &self.name, event, &self.cx).await {
            let cause = failure.0.cause.as_ref().map_or_else(String::new, |cause| format!(": {cause}"));
            failure::log(self.cx.host(), &self.name, &format!("a hook failed: {}{cause}", failure.message()));
        }
    }

    /// Checks the result against the output schema. If the result does not fit, the caller gets an error instead, because
    /// this is a fault of the server.
    ///
    /// Source: 2025-06-18 and later, server/tools, "Output Schema".
    fn checked(&self, result: ToolResult) -> ToolResult {
        let cause = match &self.output {
            Ok(Some(schema)) if schema.is_enforced() && !result.is_error && result.task.is_none() => {
                output_mistakes(schema, &result, self.cx.request().result_steps())
            }
            Ok(_) => None,
            Err(error) => Some(error.to_string()),
        };
        match cause {
            None => result,
            Some(cause) => {
                let cause = format!("the output does not fit its schema: {cause}");
                let message = "The tool returned output that does not fit its own output schema.";
                broken(&self.name, &self.cx, &cause, message)
            }
        }
    }
}

/// Returns the first events of a call for its hooks.
fn sent(arguments: &str) -> Vec<ToolEvent> {
    vec![ToolEvent::InputStart, ToolEvent::InputDelta(arguments.into())]
}

/// Returns the last event of a call for its hooks. Returns `None` for a call that asks the client, or that another server continues as a task.
#[cold]
#[inline(never)]
fn outcome(executed: &Executed) -> Option<ToolEvent> {
    match executed {
        Executed::Done(result) if result.task.is_some() => None,
        Executed::Done(result) if result.is_error => Some(ToolEvent::Error(result.text().into())),
        Executed::Done(result) => Some(ToolEvent::Output(Rc::new(result.clone()))),
        Executed::CannotAsk(error) => Some(ToolEvent::Error(error.message().into())),
        Executed::Waits | Executed::TaskFailed(_) => None,
    }
}

#[inline(never)]
fn output_mistakes(schema: &Schema, result: &ToolResult, steps: &CheckSteps) -> Option<String> {
    let Some(structured) = &result.structured_content else { return Some("there is no structured content".to_owned()) };
    // The server produced this value, so no limits apply.
    match Document::parse(structured.as_bytes(), JsonLimits::MOST) {
        Ok(document) => {
            let mistakes = schema.validate_for_log(document.root(), steps);
            (!mistakes.is_empty()).then(|| mistakes.join("; "))
        }
        Err(error) => Some(error.to_string()),
    }
}

/// Logs a failure of the tool `name` that is a fault of the server, and returns its result.
#[cold]
#[inline(never)]
fn broken(name: &str, cx: &Context, cause: &str, message: &str) -> ToolResult {
    failure::log(cx.host(), name, cause);
    ToolResult::failure(format!("{message} This is a fault of the server. Its log has the details."))
}

#[cold]
#[inline(never)]
fn refused(name: &str, mistakes: &str) -> ToolResult {
    ToolResult::failure(format!("The arguments of `{name}` do not fit its input schema:\n- {mistakes}"))
}

impl McpServer {
    /// Calls the tool `name` from the program, like a call of a client. The arguments, the scopes of the caller in `cx` and
    /// the output are checked. Hooks run, and the deadline applies.
    ///
    /// If the tool fails, or if the arguments do not fit its schema, the result has [`is_error`](ToolResult::is_error).
    ///
    /// # Errors
    /// The tool does not exist, the caller lacks a scope, `arguments` is not an object, or tool calls are nested too
    /// deeply.
    ///
    /// ```
    /// use edge_mcp::{Context, HandlerError, McpServer, Tool};
    /// use serde_json::json;
    ///
    /// async fn greeting(cx: &Context) -> Result<String, HandlerError> {
    ///     let greet = Tool::new("greet", "Says hello.", || async { "Hello" });
    ///     let server = McpServer::builder("greeter", "1.0.0").tool(greet).build()?;
    ///     Ok(server.execute_tool("greet", json!({}), cx).await?.text())
    /// }
    /// ```
    pub async fn execute_tool(
        &self,
        name: &str,
        arguments: serde_json::Value,
        cx: &Context,
    ) -> Result<ToolResult, HandlerError> {
        let tool = self.tool(name).ok_or_else(|| HandlerError::new(unknown_tool(name)))?;
        execute_nested(Rc::new(self.clone()), &tool, arguments, cx).await
    }
}

/// Calls `tool`, a tool of `server` or of a source, as a nested call of `cx`.
pub(crate) async fn execute_nested(
    server: Rc<dyn CallTools>,
    tool: &Rc<Tool>,
    arguments: serde_json::Value,
    cx: &Context,
) -> Result<ToolResult, HandlerError> {
    let text = write::text(&arguments);
    // Free the arguments before the tool runs.
    drop(arguments);
    execute_nested_text(server, tool, text, cx).await
}

/// Calls `tool` like [`execute_nested`]. The arguments are JSON text.
pub(crate) async fn execute_nested_text(
    server: Rc<dyn CallTools>,
    tool: &Rc<Tool>,
    text: String,
    cx: &Context,
) -> Result<ToolResult, HandlerError> {
    let name = &*tool.metadata.name;
    if !permits(cx.request(), &tool.access.scopes) {
        let scopes = tool.access.scopes.join(" ");
        return Err(HandlerError::new(format!("`{name}` needs the scope {scopes}, which the caller does not have.")));
    }
    if cx.depth() >= NESTED_CALLS {
        let message = format!("`{name}` was not called: tool calls are nested too deeply (limit: {NESTED_CALLS}).");
        return Err(HandlerError::new(message));
    }
    let document = Document::parse(text.as_bytes(), JsonLimits::MOST)
        .ok()
        .filter(|document| document.root().kind() == Kind::Object)
        .ok_or_else(|| HandlerError::new(format!("The arguments of `{name}` must be an object.")))?;
    let inner = cx.within(server.clone(), name, &text);
    let work = execute(&*server, tool, document.root(), &inner);
    // Free the arguments before the tool runs.
    drop(document);
    drop(text);
    match work.await {
        // A nested call never becomes a task.
        Executed::Done(result) if result.task.is_some() => Err(HandlerError::new(INTERNAL)),
        Executed::Done(result) => Ok(result),
        Executed::CannotAsk(error) => Err(error),
        Executed::TaskFailed(_) => Err(HandlerError::new(INTERNAL)),
        // The questions also end the outermost call.
        Executed::Waits => std::future::pending().await,
    }
}

impl CallTools for McpServer {
    fn name(&self) -> &str {
        &self.definitions.info.name
    }

    fn hooks(&self) -> &[Hook] {
        &self.definitions.hooks
    }

    fn has_own_tool(&self, name: &str) -> bool {
        self.has_own_tool(name)
    }

    fn may_use(&self, name: &str, cx: &Context) -> bool {
        self.tool(name).is_some_and(|tool| permits(cx.request(), &tool.access.scopes))
    }

    fn passed_tasks(&self) -> Option<&Rc<dyn PassTasks>> {
        // Without the feature, the compiler then removes the code for tasks.
        if cfg!(feature = "tasks") { self.definitions.passed_tasks.as_ref() } else { None }
    }

    fn mount_of(&self, name: &str) -> Option<Rc<dyn Any>> {
        self.tool(name)?.handler.mount()
    }

    fn callable(&self, name: &str, cx: &Context) -> Option<CallableTool> {
        let is_callable = |tool: &Rc<Tool>| !tool.is_for_app_only() && permits(cx.request(), &tool.access.scopes);
        let tool = self.tool(name).filter(is_callable)?;
        tool.callable()
    }

    fn call<'a>(
        &'a self,
        name: &'a str,
        arguments: serde_json::Value,
        cx: &'a Context,
    ) -> LocalBoxFuture<'a, Result<ToolResult, HandlerError>> {
        // Boxed, because a tool may call itself, and a future cannot contain itself.
        self.execute_tool(name, arguments, cx).boxed_local()
    }
}
