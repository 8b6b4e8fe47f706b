//! One JSON-RPC request in, one response out: a function per method.
//!
//! | module | methods |
//! |---|---|
//! | `lifecycle` | `initialize`, `ping`, `logging/setLevel` |
//! | `discover` | `server/discover` |
//! | `tools` | `tools/list`, `tools/call` |
//! | `resources` | `resources/list`, `resources/templates/list`, `resources/read` |
//! | `prompts` | `prompts/list`, `prompts/get` |
//! | `completion` | `completion/complete` |
//!
//! Which methods a revision has is a table in [`protocol::method`](crate::protocol::method); what a result looks like
//! around its own members is in `envelope`; how parameters are read is in `params`; how lists are cut is in `pagination`.
//! `resolve` looks up what a request is applied to, once. A request is answered in two phases (`prepared`): its parameters are read while its
//! body is there, then its handler runs without the body. What a handler asks of the client is in `input_required`, and what the
//! client carries for it meanwhile in `request_state`.

mod completion;
mod discover;
mod envelope;
mod handler_error;
mod input_required;
mod lifecycle;
mod pagination;
mod params;
mod prepared;
mod prompts;
mod request_state;
mod resolve;
mod resources;
mod tools;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::rc::Rc;

pub(crate) use prepared::Prepared;
use prepared::{Reply, Stage, Work, within_limit};
pub(crate) use resolve::Resolved;
use resolve::Target;

use crate::auth::{ConfigError, StateKeys};
use crate::call::context::Context;
use crate::call::result::ToolResult;
use crate::call::session_required::SessionRequired;
use crate::protocol::error::{ErrorCode, RpcError, shortened};
use crate::protocol::message::Request;
use crate::protocol::method::Method;
use crate::server::access::{Access, permits};
use crate::server::builder::McpServer;

/// What answering a request needs besides its parameters. It is cheap to clone, and borrows nothing of the request.
#[derive(Clone)]
pub(crate) struct Call {
    server: McpServer,
    cx: Context,
    /// `None` if the server does not offer the method that was called.
    method: Option<Method>,
    /// The keys for request states, or why there are none.
    keys: Rc<Result<StateKeys, ConfigError>>,
    limits: CallLimits,
}

/// Bounds of one call, in bytes.
#[derive(Clone, Copy)]
pub(crate) struct CallLimits {
    pub response: usize,
    pub state: usize,
}

impl Call {
    pub(crate) fn new(
        method: Option<Method>,
        server: McpServer,
        cx: Context,
        keys: Rc<Result<StateKeys, ConfigError>>,
        limits: CallLimits,
    ) -> Self {
        Self { server, cx, method, keys, limits }
    }

    /// The method's name, for the log.
    fn method_name(&self) -> &'static str {
        self.method.map_or("unknown method", Method::name)
    }

    /// Whether this caller finds it in lists.
    fn lists(&self, access: &Access) -> bool {
        access.scopes.is_empty() || self.server.definitions.lists_all || permits(self.cx.auth(), &access.scopes)
    }
}

/// The bytes of the response that carries the result, or the error that it carries instead.
pub(crate) type Outcome = Result<Vec<u8>, RpcError>;

/// Reads the parameters of `request`. Methods without a handler are answered by that; a handler has not run yet.
pub(crate) fn prepare(call: Call, request: &Request<'_>, target: Result<Target, RpcError>) -> Prepared {
    // In a program that unwinds, a panic costs this response and nothing else.
    let stage = catch_unwind(AssertUnwindSafe(|| begin(&call, request, target)));
    let stage = stage.unwrap_or_else(|_| Err(RpcError::internal())).unwrap_or_else(|error| Stage::Ended(Err(error)));
    Prepared::new(call, stage)
}

/// What the caller gets in place of an answer of `length` bytes.
fn too_long(call: &Call, length: usize) -> Outcome {
    let message =
        format!("The answer has {length} bytes; at most {} are sent. Ask for less at once.", call.limits.response);
    if call.method == Some(Method::CallTool) {
        // A model can correct itself only from a result.
        return envelope::complete(call, ToolResult::failure(message));
    }
    Err(RpcError::new(ErrorCode::Internal, message))
}

fn begin(call: &Call, request: &Request<'_>, target: Result<Target, RpcError>) -> Result<Stage, RpcError> {
    let Some(method) = call.method else { return Err(not_found(&request.method)) };
    let target = target?;
    match method {
        Method::Initialize => at_once(call, request, lifecycle::initialize),
        Method::Ping => at_once(call, request, lifecycle::ping),
        Method::Discover => at_once(call, request, discover::discover),
        Method::ListTools => at_once(call, request, tools::list),
        Method::CallTool => by_handler(call, request, target, tools::call),
        Method::ListResources => by_handler(call, request, target, resources::list),
        Method::ListResourceTemplates => at_once(call, request, resources::list_templates),
        Method::ReadResource => by_handler(call, request, target, resources::read),
        Method::ListPrompts => at_once(call, request, prompts::list),
        Method::GetPrompt => by_handler(call, request, target, prompts::get),
        Method::Complete => by_handler(call, request, target, completion::complete),
        Method::SetLogLevel => at_once(call, request, lifecycle::set_log_level),
        // Its answer is a stream. Without streams it is not served.
        Method::Listen => Err(not_found(&request.method)),
    }
}

/// Answers by a method that runs no handler.
///
/// An engine compiles a function when it is first called, and a new isolate is first called with one method. So each method is called
/// by its address here and in `by_handler`, and does not become part of its caller.
#[inline(never)]
fn at_once(call: &Call, request: &Request<'_>, method: fn(&Call, &Request<'_>) -> Outcome) -> Result<Stage, RpcError> {
    method(call, request)
        .and_then(|response| within_limit(call, response))
        .map(|response| Stage::Ended(Ok(Reply::Response(response))))
}

/// Begins a method that runs a handler.
#[inline(never)]
fn by_handler(
    call: &Call,
    request: &Request<'_>,
    target: Target,
    method: fn(&Call, &Request<'_>, Target) -> Result<Work, RpcError>,
) -> Result<Stage, RpcError> {
    method(call, request, target).map(Stage::Working)
}

/// A method that is not served: where it needs a session, it says so.
fn not_found(method: &str) -> RpcError {
    match SessionRequired::of_method(method) {
        Some(feature) => feature.error(ErrorCode::MethodNotFound),
        None => {
            RpcError::new(ErrorCode::MethodNotFound, format!("The method {:?} is not served here.", shortened(method)))
        }
    }
}
