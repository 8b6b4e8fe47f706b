//! Support for tests: a client that calls an endpoint in the same process, and a host that the test controls.
//!
//! [`call`] calls a tool and returns its [`Answer`]:
//!
//! ```
//! use edge_mcp::testing::{self, call};
//! use edge_mcp::{BuildError, McpServer, RequestInfo, Tool};
//! use serde_json::json;
//!
//! fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
//!     let greet = Tool::new("greet", "Says hello.", || async { "Hello" });
//!     McpServer::builder("greeter", "1.0.0").tool(greet).build()
//! }
//!
//! testing::run(async {
//!     let answer = call(&testing::endpoint(server), "greet", json!({})).await;
//!     assert_eq!(answer.text(), "Hello");
//!     assert!(!answer.is_error());
//! });
//! ```
//!
//! A [`Client`] can send a token and headers, read resources, get prompts, and answer the questions of handlers. A [`TestHost`] has a clock
//! that the test advances, a network with prepared responses, and a log. A `TestDatabase` is SQLite in memory with the migrations of the
//! server, a [`TestKv`] is a store of keys and values, and a [`TestIssuer`] signs tokens. `docs/testing.md` shows how to use them. The
//! functions `passage_store_contract`, `vector_store_contract` and `token_store_contract` check your own stores.
//!
//! The futures of a client run in every executor, such as [`run`], `futures::executor::block_on` and `#[tokio::test]`. A request of a
//! client always ends: see [`TestHost::run`].

mod answer;
mod client;
mod clock;
#[cfg(not(target_arch = "wasm32"))]
mod database;
mod host;
mod issuer;
mod kv;
#[cfg(not(target_arch = "wasm32"))]
mod mathematics;
mod network;
#[cfg(feature = "rag")]
mod passage_contract;
mod running;
mod spawned;
#[cfg(feature = "tasks")]
mod tasks;
#[cfg(feature = "client")]
mod token_contract;
mod unwatched;
mod validate;
#[cfg(feature = "rag")]
mod vector_contract;

use std::collections::BTreeMap;
use std::rc::Rc;

pub use answer::Answer;
pub use client::Client;
#[cfg(not(target_arch = "wasm32"))]
pub use database::TestDatabase;
pub use host::TestHost;
pub use issuer::TestIssuer;
pub use kv::TestKv;
#[cfg(feature = "rag")]
pub use passage_contract::passage_store_contract;
pub use running::{Stalled, run};
#[cfg(feature = "tasks")]
pub use tasks::TestTasks;
#[cfg(feature = "client")]
pub use token_contract::token_store_contract;
pub use validate::validate;
#[cfg(feature = "rag")]
pub use vector_contract::vector_store_contract;

use crate::auth::StateKeys;
use crate::call::context::Context;
use crate::call::request_info::RequestInfo;
use crate::host::Environment;
use crate::http::Endpoint;
use crate::server::build_error::BuildError;
use crate::server::builder::McpServer;

/// A value of `MCP_STATE_KEY` for tests. [`endpoint`] uses it.
pub const STATE_KEY: &str = "a-key-for-tests-that-everybody-knows";

/// Calls a tool of `endpoint` as a client of the newest revision, without a token. For other requests, use [`Client`].
pub async fn call(endpoint: &Endpoint, tool: &str, arguments: serde_json::Value) -> Answer {
    Client::new(endpoint).call(tool, arguments).await
}

/// Creates the context of work that no request started, on `host`. With it, a test can call the tools of a server, other servers, and functions of
/// the program that take a context. [`TestHost::run`] runs work that may wait:
///
/// ```
/// use std::time::Duration;
///
/// use edge_mcp::Context;
/// use edge_mcp::testing::{self, TestHost};
///
/// async fn slowly(cx: &Context) -> &'static str {
///     cx.sleep(Duration::from_secs(5)).await;
///     "done"
/// }
///
/// let host = TestHost::new();
/// let cx = testing::context(&host);
/// assert_eq!(testing::run(host.run(slowly(&cx))), Ok("done"));
/// assert_eq!(host.waits(), [Duration::from_secs(5)]);
/// ```
pub fn context(host: &TestHost) -> Context {
    Context::for_program(RequestInfo::none(), Rc::new(host.clone()))
}

/// Creates an endpoint without authentication and without a rate limit, whose handlers can ask the client for input.
///
/// The test can change every setting. For example, `testing::endpoint(server).auth(tokens)` requires a token.
pub fn endpoint(server: impl Fn(&RequestInfo) -> Result<McpServer, BuildError> + 'static) -> Endpoint {
    let keys = StateKeys::from_text("MCP_STATE_KEY", Some(STATE_KEY));
    let endpoint = Endpoint::new(server).without_auth().without_rate_limit();
    Endpoint::from(keys.map(|keys| endpoint.state_keys(keys)))
}

/// Returns an environment with these variables, for [`Endpoint::configured`]. If a variable has several values, the last one applies.
///
/// ```
/// use edge_mcp::testing::{STATE_KEY, variables};
/// # use edge_mcp::{BuildError, Endpoint, McpServer, RequestInfo};
/// # fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
/// #     McpServer::builder("empty", "1.0.0").build()
/// # }
/// let endpoint = Endpoint::new(server).configured(&variables(&[("MCP_AUTH", "none"), ("MCP_STATE_KEY", STATE_KEY)]));
/// ```
pub fn variables(variables: &[(&str, &str)]) -> impl Environment + use<> {
    let variables: BTreeMap<_, _> =
        variables.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    move |name: &str| variables.get(name).cloned()
}
