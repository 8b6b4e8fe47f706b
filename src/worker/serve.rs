//! The answer to one Workers request, for programs with their own fetch handler.

use worker::{Request, Response};

use super::host::{UNKNOWN_CALL, host};
use super::request::WorkerRequest;
use super::response::respond;
use crate::http::Endpoint;

/// Answers `request` from `endpoint`.
///
/// # Errors
/// Fails only if the runtime cannot create a response. An invalid request gets an answer with the error.
///
/// ```no_run
/// use edge_mcp::{BuildError, Endpoint, McpServer, RequestInfo, StaticTokens};
/// use worker::{Env, Request, Response};
///
/// fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
///     McpServer::builder("empty", "1.0.0").build()
/// }
///
/// // The app marks this function with #[event(fetch)].
/// async fn fetch(request: Request, env: Env, cx: worker::Context) -> worker::Result<Response> {
///     let tokens = StaticTokens::from_secret(&env, "MCP_STATIC_TOKENS");
///     edge_mcp::worker::serve(tokens.map(|tokens| Endpoint::new(server).auth(tokens)), request, cx).await
/// }
/// ```
pub async fn serve(endpoint: impl Into<Endpoint>, request: Request, cx: worker::Context) -> worker::Result<Response> {
    let endpoint = endpoint.into();
    let host = host(cx, UNKNOWN_CALL);
    // `Clone::clone` creates another handle of the request. The method `clone` of the type would copy the request and its body.
    let request = WorkerRequest::new(Clone::clone(request.inner()), None);
    respond(endpoint.reply(request, &host).await).map(Response::from).map_err(worker::Error::from)
}
