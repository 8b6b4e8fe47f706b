//! From a Workers request to the endpoint, and back.

use std::rc::Rc;

use worker::{Headers, Request, Response, ResponseBuilder};

use super::body::WorkerBody;
use super::head::WorkerHead;
use crate::host::{Clock, Host, Level, Log};
use crate::http::Endpoint;

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
/// async fn fetch(request: Request, env: Env, _: worker::Context) -> worker::Result<Response> {
///     let endpoint = Endpoint::new(server).auth(StaticTokens::from_secret(&env, "MCP_STATIC_TOKENS"));
///     edge_mcp::worker::serve(endpoint, request).await
/// }
/// ```
pub async fn serve(endpoint: Endpoint, request: Request) -> worker::Result<Response> {
    let host = Host { clock: Rc::new(WorkerClock), log: Rc::new(Console) };
    let head = Rc::new(WorkerHead::new(&request));
    respond(endpoint.handle(head, WorkerBody(request), &host).await)
}

fn respond(answer: http::Response<Vec<u8>>) -> worker::Result<Response> {
    let (head, body) = answer.into_parts();
    let headers = Headers::new();
    for (name, value) in &head.headers {
        // Every value is made of ASCII by the code that sets it; one that is not is left out rather than sent mangled.
        if let Ok(value) = value.to_str() {
            headers.append(name.as_str(), value)?;
        }
    }
    let response = ResponseBuilder::new().with_status(head.status.as_u16()).with_headers(headers);
    Ok(if body.is_empty() { response.empty() } else { response.fixed(body) })
}

/// The clock of the isolate. It stands still while the program runs and moves on when it waits.
struct WorkerClock;

impl Clock for WorkerClock {
    fn now_ms(&self) -> u64 {
        worker::Date::now().as_millis()
    }
}

/// The console, which `wrangler tail` and Workers Logs show. A line of JSON becomes fields there.
struct Console;

impl Log for Console {
    fn write(&self, level: Level, line: &str) {
        match level {
            Level::Info => worker::console_log!("{line}"),
            Level::Warning => worker::console_warn!("{line}"),
            Level::Error => worker::console_error!("{line}"),
        }
    }
}
