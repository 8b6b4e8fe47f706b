//! From a Workers request to the endpoint, and back.

use std::rc::Rc;

use futures::StreamExt;
use worker::{Headers, Request, Response, ResponseBuilder};

use super::body::WorkerBody;
use super::head::WorkerHead;
use crate::http::Endpoint;
use crate::http::stream::Body;

/// Answers `request` from `endpoint`.
///
/// # Errors
/// Only the runtime's own, where it cannot make a response; what is wrong with a request is an answer.
///
/// ```no_run
/// use edge_mcp::auth::StaticTokens;
/// use edge_mcp::http::Endpoint;
/// use edge_mcp::server::{BuildError, McpServer, RequestInfo};
/// use worker::{Env, Request, Response};
///
/// fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
///     McpServer::builder("empty", "1.0.0").build()
/// }
///
/// // The app marks this function with #[event(fetch)].
/// async fn fetch(request: Request, env: Env, cx: worker::Context) -> worker::Result<Response> {
///     let endpoint = Endpoint::new(server).auth(StaticTokens::from_secret(&env, "MCP_STATIC_TOKENS"));
///     edge_mcp::worker::serve(endpoint, request, cx).await
/// }
/// ```
pub async fn serve(endpoint: Endpoint, request: Request, cx: worker::Context) -> worker::Result<Response> {
    let host = super::host(cx);
    let head = Rc::new(WorkerHead::new(&request));
    respond(endpoint.handle(head, WorkerBody(request), &host).await)
}

fn respond(answer: http::Response<Body>) -> worker::Result<Response> {
    let (head, body) = answer.into_parts();
    let headers = Headers::new();
    for (name, value) in &head.headers {
        // Every value is made of ASCII by the code that sets it; one that is not is left out rather than sent mangled.
        if let Ok(value) = value.to_str() {
            headers.append(name.as_str(), value)?;
        }
    }
    let response = ResponseBuilder::new().with_status(head.status.as_u16()).with_headers(headers);
    match body {
        Body::Bytes(bytes) if bytes.is_empty() => Ok(response.empty()),
        Body::Bytes(bytes) => Ok(response.fixed(bytes)),
        Body::Stream(events) => response.from_stream(events.map(Ok::<_, worker::Error>)),
    }
}
