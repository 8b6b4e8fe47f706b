//! The warm-up: a call that the Worker answers when an isolate starts.
//!
//! The engine compiles each function of a wasm module at its first call. Without a warm-up, the first answer would take ten times as long
//! as the next one. The warm-up calls most of these functions before the first request.

use std::rc::Rc;

use futures::future::LocalBoxFuture;
use http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;

use super::endpoint::Endpoint;
use super::reply::Reply;
use crate::auth::StaticTokens;
use crate::call::client_extensions::ClientDetails;
use crate::call::request_info::RequestInfo;
use crate::host::{Host, Request, log};
use crate::server::build_error::BuildError;
use crate::server::builder::McpServer;
use crate::server::tool::Tool;

/// The body of the warm-up call.
pub(crate) const CALL: &[u8] =
    br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"repeat","arguments":{"line":"Hello","times":2}}}"#;

/// The headers of the warm-up call.
pub(crate) const HEADERS: [(&str, &str); 4] = [
    ("content-type", "application/json"),
    ("accept", "application/json, text/event-stream"),
    ("authorization", "Bearer warm-up"),
    ("mcp-protocol-version", "2025-06-18"),
];

impl Endpoint {
    /// Builds the program's server once, for an unauthenticated caller, and answers the warm-up call. `request` is the HTTP request of this
    /// call.
    ///
    /// The call goes to a separate server, because the tools of the program may have effects. The log has a line only if the
    /// call fails.
    pub(crate) async fn warm_up(
        &self,
        request: Rc<dyn Request>,
        host: &Rc<dyn Host>,
        answer: impl FnOnce(Self, Rc<dyn Host>) -> LocalBoxFuture<'static, Reply>,
    ) {
        let info = self.engine.request_info(request, None, ClientDetails::default());
        // If the server function fails, the first request reports the error.
        drop(self.engine.server_for_all(&info).map(|server| server.for_caller(&info)));
        if answer(endpoint(), host.clone()).await.status() != StatusCode::OK {
            log::warning_once(host, "warm-up", "the warm-up call failed, so the first answer is slow");
        }
    }
}

/// Returns the endpoint of the warm-up server. Its token is valid only for this server.
fn endpoint() -> Endpoint {
    let tokens = r#"[{"token":"warm-up","subject":"warm-up","scopes":[]}]"#;
    let tokens = StaticTokens::from_json("", Some(tokens));
    Endpoint::from(tokens.map(|tokens| Endpoint::new(server).auth(tokens))).without_rate_limit()
}

fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    let repeat = Tool::new("repeat", "Repeats a line.", async |Repeat { line, times }| line.repeat(times));
    McpServer::builder("warm-up", "1.0.0").tool(repeat.read_only()).build()
}

#[derive(Deserialize, JsonSchema)]
struct Repeat {
    line: String,
    times: usize,
}
