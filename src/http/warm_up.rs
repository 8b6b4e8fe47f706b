//! The call that an endpoint answers before any other.
//!
//! The engine compiles each function of a module when it is first called, which makes the first answer ten times as slow as the next.
//! An endpoint that has rehearsed has called most of what an answer needs, at a time when nobody waits.

use std::rc::Rc;

use futures::future::LocalBoxFuture;
use http::{Response, StatusCode};
use schemars::JsonSchema;
use serde::Deserialize;

use super::endpoint::Endpoint;
use super::stream::Body;
use crate::auth::StaticTokens;
use crate::call::request_info::RequestInfo;
use crate::host::warning;
use crate::host::{Host, Level, Log, RequestHead};
use crate::server::build_error::BuildError;
use crate::server::builder::McpServer;
use crate::server::tool::Tool;

/// The body of the call.
pub(crate) const CALL: &[u8] =
    br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"repeat","arguments":{"line":"Hello","times":2}}}"#;

/// The headers of the call.
pub(crate) const HEADERS: [(&str, &str); 4] = [
    ("content-type", "application/json"),
    ("accept", "application/json, text/event-stream"),
    ("authorization", "Bearer warm-up"),
    ("mcp-protocol-version", "2025-06-18"),
];

impl Endpoint {
    /// Builds the server, as nobody in particular finds it, and has the call answered, for which `head` is the head: from a server
    /// that is there for this alone, since the tools of the program may do anything. The log is told only if it fails.
    pub(crate) async fn warm_up(
        &self,
        head: Rc<dyn RequestHead>,
        host: &Host,
        answer: impl FnOnce(Self, Host) -> LocalBoxFuture<'static, Response<Body>>,
    ) {
        let silent = Host { log: Rc::new(Nowhere), ..host.clone() };
        let info = RequestInfo::new(head, None);
        // What is wrong with the server is told to those who call it.
        drop((self.server)(&info).map(|server| server.for_caller(&info)));
        if answer(stage(), silent).await.status() != StatusCode::OK {
            warning::once(host, "warm-up", "has failed: the first answer is slow");
        }
    }
}

/// Returns the endpoint of the warm-up server. Its token is valid only there.
fn stage() -> Endpoint {
    let tokens = r#"[{"token":"warm-up","subject":"nobody","scopes":[]}]"#;
    let tokens = StaticTokens::from_json("", Some(tokens));
    Endpoint::from(tokens.map(|tokens| Endpoint::new(server).auth(tokens))).without_rate_limit()
}

fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
    let repeat = Tool::new("repeat", async |Repeat { line, times }| line.repeat(times)).description("Says it again.");
    McpServer::builder("warm-up", "1.0.0").tool(repeat).build()
}

#[derive(Deserialize, JsonSchema)]
struct Repeat {
    line: String,
    times: usize,
}

struct Nowhere;

impl Log for Nowhere {
    fn write(&self, _: Level, _: &str) {}
}
