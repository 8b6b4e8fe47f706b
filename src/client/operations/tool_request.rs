//! The request of a call, with what the definition of the tool adds: headers that repeat arguments, permission to send the call again, and
//! the check of the result.

use std::rc::Rc;

use edge_json::{Document, JsonLimits, Value};
use futures::FutureExt;
use serde_json::value::RawValue;

use super::asked::Asked;
use super::definition::Definition;
use super::param_headers;
use super::result::CallResult;
use super::rounds;
use super::task::created;
use crate::call::context::Context;
use crate::call::request_info::ForeignSteps;
use crate::client::connection::Link;
use crate::client::error::{ClientError, Executed, Failure};
use crate::client::remote_task::RemoteTask;
use crate::client::session::channel::Channel;
use crate::client::session::outgoing::{HeaderParams, NewHeaders, Outgoing};
use crate::client::session::send::deadline;
use crate::client::wire::response::{ResultKind, RoundResult};
use crate::client::wire::task::Created;
use crate::protocol::method::Method;
use crate::protocol::task::TaskMembers;
use crate::server::list::ListKind;

/// The outcome of a call.
pub(crate) enum Called {
    Result(CallResult),
    /// The server continues the call as a task, which the program gets.
    Task(RemoteTask, TaskMembers),
}

/// Calls a tool. Without a definition, the client uses a known list of the tools.
///
/// A handler that asks its caller runs again from its beginning, so the call is a step: it is not sent again after it has finished. A
/// call that may be repeated is sent again instead, unless its questions are passed on.
pub(super) async fn call_tool(
    link: &Rc<Link>,
    mut outgoing: Outgoing,
    definition: Option<Definition>,
    mut asked: Asked,
) -> Result<Called, ClientError> {
    let channel = &*link.channel;
    outgoing.deadline = Some(deadline(channel, outgoing.timeout));
    let name = outgoing.target.clone().unwrap_or_default();
    let definition = match definition {
        Some(definition) => Some(definition),
        None => link.lists.known_tool(&name).await,
    };
    outgoing.is_repeatable |= definition.as_ref().is_some_and(|tool| is_repeatable(channel, tool));
    // In a durable task, the task of another server must be found again after each sleep.
    asked.is_kept = asked.pass.is_some() || !outgoing.is_repeatable || asked.cx.task().is_some();
    if let Some(tool) = &definition {
        outgoing.header_params = header_params(channel, tool, &outgoing.arguments)?;
    }
    outgoing.new_headers = Some(new_headers(link, &outgoing, &name));
    let RoundResult { kind, result } = rounds::answered_once(&link.session, &outgoing, &name, &asked).await?;
    if kind == ResultKind::Task {
        let Created { id, members } = created(channel, &outgoing, &result)?;
        return Ok(Called::Task(RemoteTask::new(channel.server().name.clone(), name, id), members));
    }
    checked(link, &outgoing, definition, &result, &asked.cx).await.map(Called::Result)
}

/// Reads the result of a call, and checks it against the definition of the tool.
pub(super) async fn checked(
    link: &Rc<Link>,
    outgoing: &Outgoing,
    definition: Option<Definition>,
    json: &RawValue,
    cx: &Context,
) -> Result<CallResult, ClientError> {
    let channel = &*link.channel;
    let malformed = |problem| malformed_result(channel, outgoing, problem);
    let document = Document::parse(json.get().as_bytes(), JsonLimits::MOST);
    let document = document.map_err(|_| malformed("has a result that is not JSON"))?;
    let result = CallResult::read(document.root()).map_err(malformed)?;
    // A list of this connection is newer than a definition that the program stored.
    match link.lists.known_tool(outgoing.target.as_deref().unwrap_or_default()).await.or(definition) {
        // The caller of a gateway checks the result itself.
        Some(tool) if !result.is_error() && channel.client().0.gateway.is_none() => {
            let structured = document.root().get("structuredContent");
            check_output(channel, outgoing, &tool, structured, cx.request().foreign_steps()).map(|()| result)
        }
        _ => Ok(result),
    }
}

/// Returns the source of headers for a call that a server rejects because of its headers: a new list of the tools.
fn new_headers(link: &Rc<Link>, outgoing: &Outgoing, name: &str) -> NewHeaders {
    let (link, name, arguments) = (link.clone(), name.to_owned(), outgoing.arguments.clone());
    Rc::new(move || {
        let (link, name, arguments) = (link.clone(), name.clone(), arguments.clone());
        let headers = async move {
            let list = link.lists.new_list(ListKind::Tools).await.ok()?;
            let tool = list.items.iter().find(|item| item.is_tool(&name))?;
            Some(header_params(&link.channel, tool, &arguments))
        };
        headers.boxed_local()
    })
}

/// Returns the headers that the definition of a tool requires for these arguments.
fn header_params(channel: &Channel, tool: &Definition, arguments: &str) -> Result<HeaderParams, ClientError> {
    param_headers::of_call(tool.header_params(), arguments)
        .map_err(|problem| channel.failed(Method::CallTool.name().into(), Failure::Local(problem.into()).into()))
}

/// Returns whether the annotations of a trusted server say that a second call has no further effect. Annotations that contradict one
/// another do not count.
fn is_repeatable(channel: &Channel, tool: &Definition) -> bool {
    let is_read_only = tool.has_hint("readOnlyHint");
    let is_safe = is_read_only || tool.has_hint("idempotentHint");
    channel.upstream().is_trusted && is_safe && !(is_read_only && tool.has_hint("destructiveHint"))
}

/// Checks the structured content of a result against the output schema of the tool.
fn check_output(
    channel: &Channel,
    outgoing: &Outgoing,
    tool: &Definition,
    structured: Option<Value<'_>>,
    steps: &ForeignSteps,
) -> Result<(), ClientError> {
    let Some(schema) = tool.enforced_output(&steps.compilation, channel.host()) else { return Ok(()) };
    let executed = |problem| malformed_result(channel, outgoing, problem).executed_as(Executed::Yes);
    let structured =
        structured.ok_or_else(|| executed("has no structured content, but the tool has an output schema"))?;
    let mistakes = schema.validate_for_log(structured, &steps.checks);
    if mistakes.is_empty() {
        return Ok(());
    }
    let problem = "has structured content that does not match the output schema of the tool";
    Err(executed(problem).because(mistakes.join("; ")))
}

fn malformed_result(channel: &Channel, outgoing: &Outgoing, problem: &'static str) -> ClientError {
    channel.failed(outgoing.method.clone(), Failure::Malformed(problem).into())
}
