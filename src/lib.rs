//! A framework for MCP servers at the edge.
//!
//! A server is built anew for every request, answers it with one JSON response, and keeps nothing. It speaks all five
//! revisions of the protocol at one address: 2026-07-28, and for clients that still send `initialize`, 2025-11-25,
//! 2025-06-18, 2025-03-26 and 2024-11-05.
//!
//! # Tools
//!
//! A tool is a plain async function. What it takes is a type, whose JSON Schema is published and enforced: the function
//! is called with arguments that fit, or not at all.
//!
//! ```
//! use edge_mcp::{Json, Tool, HandlerError};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Division {
//!     /// What is divided
//!     dividend: f64,
//!     /// What it is divided by
//!     divisor: f64,
//! }
//!
//! #[derive(Serialize, JsonSchema)]
//! struct Quotient {
//!     quotient: f64,
//! }
//!
//! async fn divide(Division { dividend, divisor }: Division) -> Result<Json<Quotient>, HandlerError> {
//!     if divisor == 0.0 {
//!         return Err(HandlerError::new("Nothing can be divided by zero. Give another divisor."));
//!     }
//!     Ok(Json(Quotient { quotient: dividend / divisor }))
//! }
//!
//! let tool = Tool::new("divide", divide).description("Divides one number by another.").read_only();
//! ```
//!
//! The function may take nothing, its arguments, the [`Context`], or both; it may return text, [`Json`], content blocks or
//! nothing, or a `Result` of one of them: [`server::tool_result`] has the table.
//!
//! # Resources
//!
//! A resource has a URI of its own; a template stands for many. Either is read by an async function.
//!
//! ```
//! use edge_mcp::{Resource, ResourceTemplate};
//! use serde::Deserialize;
//!
//! #[derive(Deserialize)]
//! struct Chapter {
//!     number: String,
//! }
//!
//! async fn chapter(Chapter { number }: Chapter) -> Option<String> {
//!     (number == "1").then(|| "It was a dark and stormy night.".to_owned())
//! }
//!
//! let title = Resource::new("book://title", || async { "Paul Clifford" }).name("Title").mime_type("text/plain");
//! let chapters = ResourceTemplate::new("book://chapters/{number}", chapter).name("Chapter");
//! ```
//!
//! # A server
//!
//! A [server](McpServer) is put together by a function that is called for each request, and so may depend on who calls.
//! What would not hold (a name twice, a schema that cannot be enforced) is refused there, by name.
//!
//! ```
//! use edge_mcp::{BuildError, McpServer, RequestInfo, Tool};
//!
//! fn server(request: &RequestInfo) -> Result<McpServer, BuildError> {
//!     let greet = Tool::new("greet", || async { "Hello" }).description("Says hello.");
//!     let server = McpServer::builder("greeter", "1.0.0").tool(greet);
//!     let is_admin = request.principal().is_some_and(|caller| caller.has_scope("admin"));
//!     let reset = || Tool::new("reset", || async {}).description("Forgets all greetings.");
//!     if is_admin { server.tool(reset()).build() } else { server.build() }
//! }
//! ```
//!
//! # An endpoint
//!
//! An [endpoint](Endpoint) gives a server its place on the web, and says who may call. Until it is told, it serves
//! nobody. On Cloudflare Workers, `worker::serve` connects it with a request; natively, [`Endpoint::handle`]
//! takes a request and a host and returns an `http::Response`. [`testing`] has a host for tests.
//!
//! # Layers
//!
//! [`protocol`] → [`schema`] → [`host`] → [`auth`] → [`server`] → `rpc` → [`http`](mod@http) → `worker`, each knowing only
//! those before it. Only the last, behind the feature `worker`, knows Cloudflare Workers.

mod agents;
pub mod auth;
mod bounded_cache;
mod call;
pub mod host;
pub mod http;
pub mod json;
pub mod limits;
pub mod protocol;
pub mod registry;
mod rpc;
pub mod schema;
mod server;
pub mod testing;
pub mod uri_template;
#[cfg(feature = "worker")]
pub mod worker;

#[cfg(doctest)]
mod documentation;

pub use agents::agent::{Agent, AgentCall, AgentReply, Usage};
pub use agents::chat_agent::{ChatAgent, ChatModel};
pub use agents::workflow::Workflow;
pub use auth::{
    AnyOf, ConfigError, Introspection, Jwt, Presented, Principal, ProtectedResource, StateKeys, StaticTokens,
    TokenRefusal, TokenValidator,
};
pub use call::context::Context;
pub use call::elicitation::Elicited;
pub use call::error::{HandlerError, IntoHandlerError, ResultExt};
pub use call::handler::Handler;
pub use call::input_error::InputError;
pub use call::request_info::RequestInfo;
pub use call::result::{IntoToolResult, Json, ToolResult};
pub use call::roots::Root;
pub use call::sampling::{Sampled, Sampling};
pub use call::session_required::SessionRequired;
pub use call::step::Step;
pub use http::{AllowedOrigins, Endpoint, Limits};
pub use protocol::content::{Content, PromptMessage, ResourceContents};
pub use protocol::description::{Annotations, Icon, PromptArgument, ResourceDescription, Role, Theme};
pub use protocol::log_level::LogLevel;
pub use server::about::{ToolInfo, ToolList, ToolType};
pub use server::build_error::BuildError;
pub use server::builder::{McpServer, McpServerBuilder};
pub use server::cache::{CacheHint, Cacheable};
pub use server::completion::{Completion, CompletionRequest};
pub use server::hook::ToolEvent;
pub use server::list::IntoList;
pub use server::prompt::{IntoPromptResult, Prompt, PromptResult};
pub use server::resource::{IntoContents, Resource, ResourceTemplate};
pub use server::tool::Tool;
