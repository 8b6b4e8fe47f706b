//! A tool call: checks of the arguments, hooks, handler and deadline, and checks of the result.

use std::future::ready;
use std::rc::Rc;
use std::time::Duration;

use edge_json::{Document, JsonLimits, Value};
use futures::FutureExt;

use crate::call::clean::{Clean, cleaned_or_failure};
use crate::call::context::{CallTools, Context, Hook};
use crate::call::deadline::{Ended, late, run};
use crate::call::error::HandlerError;
use crate::call::failure;
use crate::call::result::ToolResult;
use crate::call::task_info::Begin;
use crate::call::tool_event::{HookData, ToolEvent};
use crate::host::log;
use crate::limits::{ARGUMENT_TREE, TASK_ATTEMPT_SECONDS, TASK_GRACE_SECONDS};
use crate::schema::{CheckSteps, Schema, SchemaError};
use crate::server::approval::{ApprovalAnswer, ApprovalFuture};
use crate::server::hook::{notify, of_result};
use crate::server::tool::Tool;
use crate::server::tool_handler::{ToolCall, ToolFuture};
use crate::text::{Text, visible};

/// The end of a call: see [`ToolCall`].
type ToolEnd = Result<Option<ToolResult>, HandlerError>;

/// The longest time of an attempt of a durable task.
const LONGEST_ATTEMPT: Duration = Duration::from_secs(TASK_ATTEMPT_SECONDS.saturating_add(TASK_GRACE_SECONDS));

/// Runs a call of `tool`, a tool of `server`, or starts its durable task. The returned future owns its data.
pub(super) fn run_tool(server: &dyn CallTools, tool: &Rc<Tool>, arguments: Value<'_>, cx: &Context) -> ToolCall {
    let Some(task) = tool.durable_task() else { return run_directly(server, tool, arguments, cx) };
    match task.begin(&tool.metadata.name, cx) {
        Err(error) => ready(Err(error)).boxed_local(),
        Ok(Begin::Never) => run_directly(server, tool, arguments, cx),
        Ok(begin) => {
            cx.rounds().begin_task(begin);
            let call = run_directly(server, tool, arguments, cx);
            task.start_after(call, tool.metadata.name.clone(), arguments.text().into(), cx.clone())
        }
    }
}

/// Checks the arguments and the approval, and calls the handler of `tool`, a tool of `server`. The returned future runs the call to its
/// end, or to the point at which its durable task begins.
///
/// The future is boxed, so the wasm module contains it only once, for calls of clients and nested calls.
fn run_directly(server: &dyn CallTools, tool: &Rc<Tool>, arguments: Value<'_>, cx: &Context) -> ToolCall {
    // The attempt of a durable task limits its handler, and the request that created the task had the approval.
    let is_attempt = cx.rounds().journal().is_some() && (cx.depth() == 0 || tool.durable_task().is_some());
    let hooks = [server.hooks(), &tool.hooks].concat();
    let is_observed = !hooks.is_empty();
    let mut call = CheckedCall {
        name: tool.metadata.name.clone(),
        deadline: if is_attempt { LONGEST_ATTEMPT } else { tool.deadline },
        observed: HookData { began_ms: if is_observed { cx.now_ms() } else { 0 }, arguments: None },
        hooks,
        output: tool.output_schema(),
        clean: tool.clean,
        cx: cx.clone(),
    };
    let approval = tool.approval.as_ref().filter(|_| cx.depth() > 0 || cx.rounds().journal().is_none());
    let checked = check(tool, arguments, cx).and_then(|()| {
        if is_observed || approval.is_some() {
            check_memory(tool, arguments)?;
        }
        call.observed.arguments = is_observed.then(|| observed(tool, arguments)).transpose()?;
        Ok(())
    });
    match (checked, approval) {
        (Ok(()), Some(approval)) => match approval(&tool.metadata.name, arguments, cx.clone()) {
            Ok(asking) => call.run_with_approval(asking, tool.clone(), arguments.text().into()).boxed_local(),
            Err(mistake) => {
                let refused = refused(&tool.metadata.name, &mistake);
                call.run_with_hooks(sent(arguments.text()), Err(Some(refused))).boxed_local()
            }
        },
        (checked, _) => call.begin(tool, arguments, checked, false),
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
    let mistakes = mistakes(tool, arguments, cx).map_err(|error| {
        failure::of_tool(cx.host(), name, &error.to_string(), "The tool cannot be called as it is defined.")
    })?;
    if mistakes.is_empty() { Ok(()) } else { Err(refused(name, &mistakes.join("\n- "))) }
}

fn mistakes(tool: &Tool, arguments: Value<'_>, cx: &Context) -> Result<Vec<String>, SchemaError> {
    let (length, limit) = (arguments.text().len(), tool.argument_limit);
    if length > limit {
        return Ok(vec![format!("the arguments have {length} bytes (limit: {limit})")]);
    }
    Ok(tool.input_schema()?.validate_within(arguments, cx.request().argument_steps()))
}

/// The data that a call needs after its handler was call. It owns all of its data, so it can outlive the request.
struct CheckedCall {
    name: Text,
    deadline: Duration,
    hooks: Vec<Hook>,
    observed: HookData,
    output: Result<Option<Rc<Schema>>, SchemaError>,
    clean: Option<Clean>,
    cx: Context,
}

impl CheckedCall {
    /// Calls the handler of `tool` with arguments that have been checked, and runs the call to its end. `is_approved` is whether a person
    /// approved the call.
    fn begin(self, tool: &Tool, arguments: Value<'_>, checked: Result<(), ToolResult>, is_approved: bool) -> ToolCall {
        if checked.is_ok() && self.cx.depth() == 0 && self.cx.rounds().begin() == Begin::AtOnce {
            // The task calls the handler, and the hooks observe it there. Only this request knows of the approval.
            self.cx.rounds().start_task("");
            let mut input = Vec::new();
            if is_approved {
                input.extend(sent(arguments.text()));
                input.push(ToolEvent::Approval { is_approved });
            }
            return self.run_with_hooks(input, Err(None)).boxed_local();
        }
        let call = || tool.handler.call(arguments, self.cx.clone()).map_err(|mistake| refused(&self.name, &mistake));
        let work = checked.and_then(|()| call());
        let mut input = Vec::new();
        let journal = self.cx.rounds().journal();
        let is_first = self.cx.depth() > 0 || journal.is_none_or(|journal| journal.info().attempt == 1);
        if !self.hooks.is_empty() && is_first {
            input.extend(sent(arguments.text()));
            input.extend(is_approved.then_some(ToolEvent::Approval { is_approved }));
            input.extend(self.observed.arguments.clone().filter(|_| work.is_ok()).map(ToolEvent::InputAvailable));
        }
        self.run_with_hooks(input, work.map_err(Some)).boxed_local()
    }

    /// Waits for the approval, and then calls the handler. The approval and the handler each have the whole deadline.
    ///
    /// The arguments are read again after the approval, because the body of the request is dropped while the approval waits.
    async fn run_with_approval(self, asking: ApprovalFuture, tool: Rc<Tool>, arguments: Box<str>) -> ToolEnd {
        let mut input = sent(&arguments);
        let end = match run(&self.cx, self.deadline, asking).await {
            Ended::Done(Ok(ApprovalAnswer::No(error))) => {
                input.push(ToolEvent::Approval { is_approved: false });
                self.failed(error)
            }
            Ended::Done(Ok(ApprovalAnswer::Yes)) => return self.run_approved(true, &tool, arguments).await,
            Ended::Done(Ok(ApprovalAnswer::NotNeeded)) => return self.run_approved(false, &tool, arguments).await,
            Ended::Done(Err(error)) => self.failed(error),
            // The question ends the round before the handler is called.
            Ended::Waits => return Ok(None),
            Ended::Late => Ok(Some(ToolResult::failure(late(&self.cx, self.deadline)))),
        };
        self.observe(input).await;
        self.observe_end(end).await
    }

    /// Calls the handler after the question for approval.
    async fn run_approved(self, is_approved: bool, tool: &Tool, arguments: Box<str>) -> ToolEnd {
        let work = match Document::parse(arguments.as_bytes(), JsonLimits::MOST) {
            Ok(document) => self.begin(tool, document.root(), Ok(()), is_approved),
            // The arguments were valid before, so this is a fault of the library.
            Err(error) => {
                let cause = error.to_string();
                return Ok(Some(failure::of_tool(self.cx.host(), &self.name, &cause, "The call ended.")));
            }
        };
        drop(arguments);
        work.await
    }

    /// Runs the call to its end. Hooks receive the `input` events first, and then the event for the end. The call has already ended if there is no
    /// `work`.
    async fn run_with_hooks(self, input: Vec<ToolEvent>, work: Result<ToolFuture, Option<ToolResult>>) -> ToolEnd {
        self.observe(input).await;
        let end = match work {
            Ok(work) => self.finish(work).await,
            Err(result) => Ok(result),
        };
        self.observe_end(end).await
    }

    /// Sends events to the hooks.
    async fn observe(&self, events: Vec<ToolEvent>) {
        if !self.hooks.is_empty() {
            for event in events {
                self.notify(event).await;
            }
        }
    }

    /// Sends the event for the end of the call to the hooks, and returns the end.
    async fn observe_end(&self, end: ToolEnd) -> ToolEnd {
        let event = if self.hooks.is_empty() { None } else { last_event(&end) };
        if let Some(event) = event {
            self.notify(event).await;
        }
        end
    }

    /// Runs the handler to its end or its deadline, and checks the result.
    async fn finish(&self, work: ToolFuture) -> ToolEnd {
        match run(&self.cx, self.deadline, work).await {
            Ended::Waits => Ok(None),
            Ended::Late => Ok(Some(ToolResult::failure(late(&self.cx, self.deadline)))),
            Ended::Done(Ok(result)) => Ok(Some(self.checked(self.cleaned(result)))),
            Ended::Done(Err(error)) => self.failed(error),
        }
    }

    #[cold]
    #[inline(never)]
    fn failed(&self, HandlerError(mut error): HandlerError) -> ToolEnd {
        if error.input.is_some() {
            if self.clean.is_some() {
                error.message = visible(&error.message).into();
            }
            return Err(HandlerError(error));
        }
        if let Some(cause) = &error.cause {
            log::failure(self.cx.host(), &self.name, cause);
        }
        Ok(Some(self.cleaned(ToolResult { meta: error.meta, ..ToolResult::failure(error.message) })))
    }

    fn cleaned(&self, result: ToolResult) -> ToolResult {
        match self.clean {
            Some(clean) => cleaned_or_failure(clean, result, &self.name, self.cx.host()),
            None => result,
        }
    }

    async fn notify(&self, event: ToolEvent) {
        notify(&self.hooks, &self.name, event, Some(&self.observed), &self.cx).await;
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
                failure::of_tool(self.cx.host(), &self.name, &cause, message)
            }
        }
    }
}

/// Returns the first events of a call for its hooks.
fn sent(arguments: &str) -> Vec<ToolEvent> {
    vec![ToolEvent::InputStart, ToolEvent::InputDelta(arguments.to_owned().into())]
}

/// Returns the last event of a call for its hooks. Returns `None` for a call that asks the client, or that another server continues as a task.
#[cold]
#[inline(never)]
fn last_event(end: &ToolEnd) -> Option<ToolEvent> {
    match end {
        Ok(Some(result)) => of_result(result),
        Ok(None) => None,
        Err(error) => Some(ToolEvent::Error(error.0.message.clone())),
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

#[cold]
#[inline(never)]
fn refused(name: &str, mistakes: &str) -> ToolResult {
    ToolResult::failure(format!("The arguments of `{name}` do not fit its input schema:\n- {mistakes}"))
}
