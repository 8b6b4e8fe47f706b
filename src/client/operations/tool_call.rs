//! The request of a call, with what the definition of the tool adds: headers that repeat arguments, permission to send the call again, and
//! the check of the result.
//!
//! The input schema marks an argument that a header repeats with `x-mcp-header`. Source: 2026-07-28, server/tools, "x-mcp-header".

use std::rc::Rc;
use std::time::Duration;

use edge_json::{Kind, Value, canonical};
use futures::FutureExt;
use serde_json::value::RawValue;

use super::cancel_task::check_server;
use super::definition::Definition;
use super::respondent::Respondent;
use super::result::CallResult;
use super::rounds;
use super::step::step;
use super::task::result_of_known;
use crate::call::context::Context;
use crate::call::request_info::ForeignSteps;
use crate::client::conversation::Conversation;
use crate::client::error::{ClientError, Delivery, Failure};
use crate::client::remote_task::RemoteTask;
use crate::client::session::remote_request::{HeaderParams, NewHeaders, RemoteRequest};
use crate::client::wire::message::Params;
use crate::client::wire::response::{ResultKind, RoundResult, parsed};
use crate::client::wire::task::CreatedTask;
use crate::limits::UPSTREAM_PARAM_BYTES;
use crate::protocol::method::Method;
use crate::protocol::task::TaskMembers;
use crate::schema::HeaderParam;
use crate::server::list::ListKind;

/// The outcome of a call.
pub(crate) enum CallOutcome {
    Result(CallResult),
    /// The server continues the call as a task, which the program gets.
    Task(RemoteTask, TaskMembers),
}

impl Conversation {
    /// Calls a tool. Without a definition, the client uses a known list of the tools.
    ///
    /// A handler that asks its caller runs again from its beginning, so the call is a step: it is not sent again after it has finished. A
    /// call that may be repeated is sent again instead, unless its questions are passed on.
    pub(super) async fn call_tool(
        self: &Rc<Self>,
        mut request: RemoteRequest,
        definition: Option<Definition>,
        mut respondent: Respondent,
    ) -> Result<CallOutcome, ClientError> {
        request.deadline = Some(self.deadline(request.timeout));
        let name = request.target.clone().unwrap_or_default();
        let definition = match definition {
            Some(definition) => Some(definition),
            None => self.known_tool(&name).await,
        };
        request.is_repeatable |= definition.as_ref().is_some_and(|tool| self.is_repeatable(tool));
        // In a durable task, the task of another server must be found again after each sleep.
        respondent.is_kept = respondent.pass.is_some() || !request.is_repeatable || respondent.cx.task().is_some();
        if let Some(tool) = &definition {
            request.attempts.header_params.replace(header_params(tool.header_params(), &request)?);
        }
        request.new_headers = Some(self.new_headers(&request));
        let RoundResult { kind, result } = rounds::complete_step(self, request, &name, &respondent).await?;
        if kind == ResultKind::Task {
            let CreatedTask { id, members } = CreatedTask::read(parsed(&result)?.root()).map_err(Failure::Malformed)?;
            return Ok(CallOutcome::Task(RemoteTask::new(self.server.name.clone(), name, id), members));
        }
        self.checked(&name, definition, &result, &respondent.cx).await.map(CallOutcome::Result)
    }

    /// Waits for the result of a task that an earlier call has begun.
    pub(super) async fn continue_task(
        self: &Rc<Self>,
        task: RemoteTask,
        timeout: Duration,
        definition: Option<Definition>,
        respondent: Respondent,
    ) -> Result<CallOutcome, ClientError> {
        check_server(&task, self)?;
        let tool = task.tool().to_owned();
        let call = RemoteRequest {
            is_repeatable: true,
            target: Some(tool.clone()),
            capabilities: Some(respondent.capabilities(self)),
            ..RemoteRequest::new(Method::CallTool, Params::default(), timeout)
        };
        let work = result_of_known(self, &call, task, &respondent).boxed_local();
        let name = format!("task {}_{tool}", self.server.name);
        let result = step(self, &respondent.cx, &name, &call, work).await?.result;
        self.checked(&tool, definition, &result, &respondent.cx).await.map(CallOutcome::Result)
    }

    /// Reads the result of a call of the tool `name`, and checks it against the definition of the tool.
    pub(super) async fn checked(
        &self,
        name: &str,
        definition: Option<Definition>,
        result: &RawValue,
        cx: &Context,
    ) -> Result<CallResult, ClientError> {
        // A list of this connection is newer than a definition that the program stored.
        let definition = self.known_tool(name).await.or(definition);
        let document = parsed(result)?;
        let result = CallResult::read(document.root()).map_err(Failure::Malformed)?;
        match definition {
            // The caller of a gateway checks the result itself.
            Some(tool) if !result.is_error() && self.client.0.gateway.is_none() => {
                let structured = document.root().get("structuredContent");
                self.check_output(&tool, structured, cx.request().foreign_steps())?;
                Ok(result)
            }
            _ => Ok(result),
        }
    }

    /// Returns the source of headers for a call that a server rejects because of its headers: a new list of the tools.
    fn new_headers(self: &Rc<Self>, request: &RemoteRequest) -> NewHeaders {
        let (conversation, request) = (self.clone(), request.clone());
        Rc::new(move || {
            let (conversation, request) = (conversation.clone(), request.clone());
            let headers = async move {
                let list = conversation.new_list(ListKind::Tools).await.ok()?;
                let name = request.target.as_deref().unwrap_or_default();
                let tool = list.items.iter().find(|item| item.is_tool(name))?;
                Some(header_params(tool.header_params(), &request))
            };
            headers.boxed_local()
        })
    }

    /// Returns whether the annotations of a trusted server say that a second call has no further effect. Annotations that contradict one
    /// another do not count.
    fn is_repeatable(&self, tool: &Definition) -> bool {
        let is_read_only = tool.has_hint("readOnlyHint");
        let is_safe = is_read_only || tool.has_hint("idempotentHint");
        self.server.upstream.is_trusted && is_safe && !(is_read_only && tool.has_hint("destructiveHint"))
    }

    /// Checks the structured content of a result against the output schema of the tool.
    fn check_output(
        &self,
        tool: &Definition,
        structured: Option<Value<'_>>,
        steps: &ForeignSteps,
    ) -> Result<(), ClientError> {
        let Some(schema) = tool.enforced_output(&steps.compilation, self.cx.host()) else { return Ok(()) };
        let executed =
            |problem, cause| ClientError::new(Failure::Malformed(problem), cause).delivered_as(Delivery::Executed);
        let structured =
            structured.ok_or_else(|| executed("has no structured content, but the tool has an output schema", None))?;
        let mistakes = schema.validate_for_log(structured, &steps.checks);
        if mistakes.is_empty() {
            return Ok(());
        }
        let problem = "has structured content that does not match the output schema of the tool";
        Err(executed(problem, Some(mistakes.join("; "))))
    }
}

/// Returns the headers of a call of a tool with these marks. An argument that is null or absent has no header.
fn header_params(marks: &[HeaderParam], request: &RemoteRequest) -> Result<HeaderParams, ClientError> {
    let mut headers = Vec::new();
    let arguments = request.params.get("arguments").filter(|_| !marks.is_empty());
    let Some(Ok(document)) = arguments.map(parsed) else { return Ok(headers) };
    let mut bytes = 0_usize;
    for HeaderParam { header, path, .. } in marks {
        let argument = path.iter().try_fold(document.root(), |value, step| value.get(step));
        let Some(value) = argument.and_then(header_value) else { continue };
        bytes = bytes.saturating_add(value.len());
        headers.push((header.clone(), value));
    }
    if bytes > UPSTREAM_PARAM_BYTES {
        let problem = "was not called: the arguments that headers must repeat are too long.";
        return Err(Failure::Local(problem.to_owned()).into());
    }
    Ok(headers)
}

/// Returns an argument as text, or `None` for an object, an array or null.
fn header_value(argument: Value<'_>) -> Option<String> {
    match argument.kind() {
        Kind::String => argument.as_str().map(Into::into),
        // 42.0 is the integer 42.
        Kind::Number => Some(canonical::number(argument.text()).into_owned()),
        Kind::Boolean => Some(argument.text().to_owned()),
        Kind::Null | Kind::Array | Kind::Object => None,
    }
}
