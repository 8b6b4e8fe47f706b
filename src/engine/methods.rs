//! The function of each method.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};

use futures::FutureExt;

use super::call::{MethodCall, MethodResponse};
use super::pagination::cursor;
use super::running::{RunState, Running, Work, within_limit};
use super::target::{Item, Target, operation};
use super::{
    completion, discover, extension_methods, lifecycle, listen, prompt_methods, resource_methods, skill_methods,
    tool_methods,
};
use crate::call::session_required::SessionRequired;
use crate::protocol::error::{ErrorCode, RpcError};
use crate::protocol::message::Request;
use crate::protocol::method::Method;
use crate::server::list::ListKind;
use crate::text::shortened;

/// Reads the parameters of `request`. Answers methods without a handler. For other methods, creates the future of the handler
/// but does not poll it.
pub(super) fn begin(call: MethodCall, request: &Request<'_>, target: Target) -> Running {
    if let Some(trace) = call.cx.trace() {
        trace.start(&operation(&target, call.cx.revision()), call.cx.host());
    }
    let tool = target.tool().cloned();
    // If the program unwinds on panic, a panic fails only this request.
    let state = catch_unwind(AssertUnwindSafe(|| read(&call, request, target.item)));
    let state = state.unwrap_or_else(|_| Err(RpcError::internal())).unwrap_or_else(|error| RunState::Ended(Err(error)));
    Running { call, state, tool, receiver: None, digest: None }
}

fn read(call: &MethodCall, request: &Request<'_>, item: Result<Item, RpcError>) -> Result<RunState, RpcError> {
    let Some(method) = call.method else {
        return extension(call, request, item);
    };
    let item = item?;
    match method {
        Method::Initialize => answer_directly(call, request, lifecycle::initialize),
        Method::Ping => answer_directly(call, request, lifecycle::ping),
        Method::Discover => answer_directly(call, request, discover::discover),
        Method::ListTools => list(call, request, ListKind::Tools, tool_methods::list),
        Method::CallTool => start_handler(call, request, item, tool_methods::call),
        Method::ListResources => start_handler(call, request, item, resource_methods::list),
        Method::ListResourceTemplates => {
            list(call, request, ListKind::ResourceTemplates, resource_methods::list_templates)
        }
        Method::ReadResource => start_handler(call, request, item, resource_methods::read),
        Method::ListPrompts => list(call, request, ListKind::Prompts, prompt_methods::list),
        Method::GetPrompt => start_handler(call, request, item, prompt_methods::get),
        Method::Complete => start_handler(call, request, item, completion::complete),
        Method::SetLogLevel => answer_directly(call, request, lifecycle::set_log_level),
        Method::ListSkills | Method::GetSkill | Method::ReadDirectory => {
            start_handler(call, request, item, skill_methods::begin)
        }
        // The response is a stream. An endpoint without streams does not serve this method.
        Method::Listen if call.cx.live().is_none() => Err(not_found(&request.method)),
        #[cfg(feature = "tasks")]
        Method::Listen if matches!(item, Item::Extension(_)) => extension(call, request, Ok(item)),
        Method::Listen => answer_directly(call, request, listen::listen),
    }
}

/// Starts a method of an extension.
fn extension(call: &MethodCall, request: &Request<'_>, item: Result<Item, RpcError>) -> Result<RunState, RpcError> {
    let Ok(Item::Extension(method)) = item else { return Err(not_found(&request.method)) };
    let work = extension_methods::begin(call, request, method);
    work.unwrap_or_else(|| Err(not_found(&request.method))).map(RunState::Working)
}

/// Answers a method that runs no handler.
///
/// The engine compiles a function at its first call, and the first request of a new isolate needs only one method. So the methods must
/// stay separate functions. `#[inline(never)]` and calls by address, here and in `start_handler`, prevent the compiler from merging them.
#[inline(never)]
fn answer_directly(
    call: &MethodCall,
    request: &Request<'_>,
    method: fn(&MethodCall, &Request<'_>) -> MethodResponse,
) -> Result<RunState, RpcError> {
    method(call, request)
        .and_then(|response| within_limit(call, response))
        .map(|response| RunState::Ended(Ok(Some(response))))
}

/// Answers a list. If the server has sources, it asks them first.
#[inline(never)]
fn list(
    call: &MethodCall,
    request: &Request<'_>,
    kind: ListKind,
    list: fn(&MethodCall, Option<&str>) -> MethodResponse,
) -> Result<RunState, RpcError> {
    let cursor = cursor(request)?;
    if call.server.definitions.has_sources() {
        let (call, cursor) = (call.clone(), cursor.map(Cow::into_owned));
        let work = async move { list(&call.with_sources(kind).await?, cursor.as_deref()).map(Some) };
        return Ok(RunState::Working(work.boxed_local()));
    }
    list(call, cursor.as_deref())
        .and_then(|response| within_limit(call, response))
        .map(|response| RunState::Ended(Ok(Some(response))))
}

/// Starts a method that runs a handler.
#[inline(never)]
fn start_handler(
    call: &MethodCall,
    request: &Request<'_>,
    item: Item,
    method: fn(&MethodCall, &Request<'_>, Item) -> Result<Work, RpcError>,
) -> Result<RunState, RpcError> {
    method(call, request, item).map(RunState::Working)
}

/// Returns the error for a method that is not available. If the method needs a session, the error has the reason and an alternative.
fn not_found(method: &str) -> RpcError {
    match SessionRequired::of_method(method) {
        Some(feature) => feature.error(ErrorCode::MethodNotFound),
        None => RpcError::new(
            ErrorCode::MethodNotFound,
            format!("This server does not serve the method \"{}\".", shortened(method)),
        ),
    }
}
