//! From a Workers request to the endpoint, and back.

use std::rc::Rc;

use worker::{Request, Response};

use super::body::WorkerBody;
use super::head::WorkerHead;
use super::host::{UNKNOWN_CALL, host};
use super::response::respond;
use crate::http::Endpoint;

/// Answers `request` from `endpoint`.
///
/// # Errors
/// Only the runtime's own, where it cannot make a response; what is wrong with a request is an answer.
///
/// ```no_run
/// use edge_mcp::auth::StaticTokens;
/// use edge_mcp::http::Endpoint;
/// use edge_mcp::{BuildError, McpServer, RequestInfo};
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
    // Another handle to the request. Its own method of that name would copy it, body and all.
    let request = Clone::clone(request.inner());
    let head = Rc::new(WorkerHead::new(&request));
    let body = WorkerBody { request, read: None };
    respond(endpoint.handle(head, body, &host).await).map(Response::from).map_err(worker::Error::from)
}
