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
//! around its own members is in `envelope`; how parameters are read is in `params`; how lists are cut is in `page`.
//! Which scopes a request needs is in `scopes`. A handler runs in `run`; what it asks of the client is in `input_required`, and what the client carries for it meanwhile
//! in `request_state`.

mod completion;
mod discover;
mod envelope;
mod input_required;
mod lifecycle;
mod page;
mod params;
mod prompts;
mod request_state;
mod resources;
pub(crate) mod scopes;
mod tools;

use futures::FutureExt;
use futures::future::LocalBoxFuture;

use crate::auth::{ConfigError, StateKeys};
use crate::protocol::error::{ErrorCode, RpcError, shortened};
use crate::protocol::message::Request;
use crate::protocol::method::Method;
use crate::server::access::{Access, permits};
use crate::server::{Context, McpServer, SessionRequired, Tool, ToolResult};

/// A request with all that is needed to answer it.
pub(crate) struct Call<'a> {
    pub server: &'a McpServer,
    pub request: &'a Request<'a>,
    pub cx: Context,
    /// The keys for request states, or why there are none.
    pub keys: &'a Result<StateKeys, ConfigError>,
    /// How many bytes an answer may have.
    pub most: usize,
}

impl Call<'_> {
    /// Whether this caller finds it in lists.
    fn lists(&self, access: &Access) -> bool {
        access.scopes.is_empty() || self.server.lists_all || permits(self.cx.auth(), &access.scopes)
    }
}

/// The bytes of the response that carries the result, or the error that it carries instead.
pub(crate) type Outcome = Result<Vec<u8>, RpcError>;

/// The tool that a request calls, if it is there.
pub(crate) fn called_tool<'s>(request: &Request<'_>, server: &'s McpServer) -> Option<&'s Tool> {
    let name = request.param("name").filter(|_| request.method == "tools/call")?.as_str()?;
    server.tool(&name)
}

/// Answers one request.
///
/// Boxed: it is large, and would be in the module once for each place that waits for it.
pub(crate) fn dispatch<'a>(call: &'a Call<'_>) -> LocalBoxFuture<'a, Outcome> {
    async move {
        match answer(call).await {
            Ok(answer) if answer.len() > call.most => too_long(call, answer.len()),
            answered => answered,
        }
    }
    .boxed_local()
}

/// What the caller gets in place of an answer of `length` bytes.
fn too_long(call: &Call<'_>, length: usize) -> Outcome {
    let message = format!("The answer has {length} bytes; at most {} are sent. Ask for less at once.", call.most);
    if call.request.method == "tools/call" {
        // A model can correct itself only from a result.
        return envelope::complete(call, ToolResult::failure(message));
    }
    Err(RpcError::new(ErrorCode::Internal, message))
}

/// Each method stays a function of its own, those that wait by a box: an engine compiles a function when it is first called, and a new
/// isolate is called by one method first.
async fn answer(call: &Call<'_>) -> Outcome {
    let method = Method::named(&call.request.method, call.cx.revision());
    match method.filter(|method| is_offered(*method, call.server)) {
        Some(Method::Initialize) => apart(call, lifecycle::initialize),
        Some(Method::Ping) => apart(call, lifecycle::ping),
        Some(Method::Discover) => apart(call, discover::discover),
        Some(Method::ListTools) => apart(call, tools::list),
        Some(Method::CallTool) => tools::call(call).await,
        Some(Method::ListResources) => resources::list(call).boxed_local().await,
        Some(Method::ListResourceTemplates) => apart(call, resources::list_templates),
        Some(Method::ReadResource) => resources::read(call).boxed_local().await,
        Some(Method::ListPrompts) => apart(call, prompts::list),
        Some(Method::GetPrompt) => prompts::get(call).boxed_local().await,
        Some(Method::Complete) => completion::complete(call).boxed_local().await,
        Some(Method::SetLogLevel) => apart(call, lifecycle::set_log_level),
        None => Err(not_found(&call.request.method)),
    }
}

/// Calls `method` by its address, so that it does not become part of its caller.
#[inline(never)]
fn apart(call: &Call<'_>, method: fn(&Call<'_>) -> Outcome) -> Outcome {
    method(call)
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

/// What is not declared is not served either (2026-07-28, server/discover, "Capabilities").
fn is_offered(method: Method, server: &McpServer) -> bool {
    match method {
        Method::Initialize | Method::Ping | Method::Discover => true,
        Method::ListTools | Method::CallTool => server.offers_tools(),
        Method::ListResources | Method::ListResourceTemplates | Method::ReadResource => server.offers_resources(),
        Method::ListPrompts | Method::GetPrompt => server.offers_prompts(),
        Method::Complete => server.offers_completions(),
        Method::SetLogLevel => server.logging.is_some(),
    }
}
