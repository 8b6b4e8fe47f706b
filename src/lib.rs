//! A framework for MCP servers at the edge.
//!
//! A fetch handler builds a fresh server for each request, answers with one JSON response, or with a stream if the handler reports
//! progress, and keeps nothing. One endpoint serves all five revisions of the protocol: 2026-07-28 and, for clients that still send
//! `initialize`, 2025-11-25, 2025-06-18, 2025-03-26 and 2024-11-05.
//!
//! # Tools
//!
//! A [`Tool`] is an async function. Its argument type has a JSON Schema, which is published and enforced. The function runs only if the
//! arguments are valid.
//!
//! ```
//! use edge_mcp::{HandlerError, Json, Tool};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//!
//! #[derive(Deserialize, JsonSchema)]
//! struct Division {
//!     /// The number to divide
//!     dividend: f64,
//!     /// The number to divide by
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
//!         return Err(HandlerError::new("`divisor` must not be 0."));
//!     }
//!     Ok(Json(Quotient { quotient: dividend / divisor }))
//! }
//!
//! let tool = Tool::new("divide", "Divides one number by another.", divide).read_only();
//! ```
//!
//! The function takes its arguments, the [`Context`] of the call, both, or nothing. It returns text, [`Json`], [`Content`], a
//! [`ToolResult`], nothing, or a `Result` of one of these. [`IntoToolResult`] lists the return types.
//!
//! # Resources and prompts
//!
//! A [`Resource`] has one URI. A [`ResourceTemplate`] has a [URI template](uri_template) and serves every URI that matches it. An async
//! function reads either.
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
//! A [`Prompt`] is an async function that returns messages. [`Completion`] suggests values for its arguments and for the variables of a
//! template. An [`Agent`] or a [`Workflow`] is served as a tool.
//!
//! # Server
//!
//! A function builds the [`McpServer`] of each request, so a server can depend on its caller. [`build`](McpServerBuilder::build) rejects
//! a definition that cannot work, for example a name that is used twice or a schema that cannot be enforced. The [`BuildError`] names it.
//!
//! ```
//! use edge_mcp::{BuildError, McpServer, RequestInfo, Tool};
//!
//! fn server(request: &RequestInfo) -> Result<McpServer, BuildError> {
//!     let greet = Tool::new("greet", "Says hello.", || async { "Hello" });
//!     let server = McpServer::builder("greeter", "1.0.0").tool(greet);
//!     let is_admin = request.principal().is_some_and(|caller| caller.has_scope("admin"));
//!     let reset = || Tool::new("reset", "Deletes all greetings.", || async {});
//!     if is_admin { server.tool(reset()).build() } else { server.build() }
//! }
//! ```
//!
//! # Endpoint
//!
//! An [`Endpoint`] serves the function at an HTTP path, with authentication and limits. It answers every request with 503 until its
//! authentication is set. On Cloudflare Workers, `worker::entry!` exports the fetch handler that calls it. Natively,
//! [`Endpoint::handle`] takes a request and a [`Host`](host::Host) and returns an `http::Response`. [`testing`] has a host for tests.
//!
//! # Rooms
//!
//! The source is divided into rooms. Each room uses only rooms above it in this table. The names of a private room are exported at the
//! root of the crate.
//!
//! | room | content |
//! |---|---|
//! | [`json`] | the JSON reader and writer |
//! | `protocol` | the messages of the protocol as types |
//! | [`uri_template`] | URI templates (RFC 6570) |
//! | [`schema`] | JSON Schema 2020-12: generated from Rust types, compiled, enforced |
//! | [`host`] | the interface to the machine, as three traits |
//! | `auth` | the OAuth resource server |
//! | `call` | one call of a handler: context, errors, results, questions, steps |
//! | [`registry`] | what a server says about itself: packages, remotes, `server.json` |
//! | `server` | tools, resources, prompts, completion, and the builder |
//! | `agents` | agents and workflows |
//! | `rpc` | one JSON-RPC request in, one response out |
//! | `http` | streamable HTTP without I/O |
//! | `worker` | Cloudflare Workers as the host (feature `worker`) |
//!
//! [`limits`] is the table of all bounds. Every room may use it.

mod agents;
mod auth;
mod base64;
mod bounded_cache;
mod call;
#[cfg(feature = "client")]
pub mod client;
pub mod host;
mod http;
pub mod json;
pub mod limits;
mod protocol;
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

/// Functions that the fuzz targets call directly: they parse headers and bodies of which a caller or another server chooses every byte.
#[doc(hidden)]
pub mod parsers {
    pub use crate::auth::bearer::{Malformed, is_in_query, is_token, token};
    pub use crate::auth::introspection::parse_answer;
    pub use crate::protocol::header_value::{BadEncoding, decode};
}

pub use agents::agent::{Agent, AgentCall, AgentReply, Usage};
pub use agents::chat_agent::{ChatAgent, ChatModel};
pub use agents::workflow::Workflow;
pub use auth::{
    Algorithm, AnyOf, ConfigError, Introspection, Jwt, Presented, Principal, ProtectedResource, SecureUrl, StateKeys,
    StaticTokens, TokenRefusal, TokenValidator,
};
pub use call::context::Context;
pub use call::elicitation::Elicited;
pub use call::error::{Cause, HandlerError, IntoHandlerError, ResultExt};
pub use call::handler::{AbsentArguments, Arguments, Handler, Parameters};
pub use call::input_error::InputError;
pub use call::request_info::RequestInfo;
pub use call::result::{IntoToolResult, Json, ToolResult};
pub use call::roots::Root;
pub use call::sampling::{Sampled, Sampling};
pub use call::session_required::SessionRequired;
pub use call::state::MissingState;
pub use call::step::Step;
#[cfg(feature = "client")]
pub use http::in_process::InProcess;
pub use http::stream::{Body, EventStream};
pub use http::{AllowedOrigins, Endpoint, Limits, LogPolicy, PageRequest};
pub use protocol::capabilities::ClientCapabilities;
pub use protocol::content::{Content, NotBase64, PromptMessage, ResourceContents};
pub use protocol::description::{
    Annotations, Icon, Implementation, PromptArgument, ResourceDescription, Role, Text, Theme,
};
pub use protocol::log_level::LogLevel;
pub use protocol::message::RequestId;
pub use protocol::revision::Revision;
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

/// The crate that derives the JSON Schema of a type. A program that derives schemas by this name needs no dependency on schemars.
///
/// ```
/// use edge_mcp::Tool;
/// use edge_mcp::schemars::{self, JsonSchema};
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Greeting {
///     /// Whom to greet
///     #[schemars(length(min = 1))]
///     name: String,
/// }
///
/// let greet = |Greeting { name }: Greeting| async move { format!("Hello, {name}") };
/// let tool = Tool::new("greet", "Says hello.", greet);
/// ```
///
/// The derived code names the crate `schemars`, so that name must be in scope. If it is not, name the crate at the type:
///
/// ```
/// use serde::Deserialize;
///
/// #[derive(Deserialize, edge_mcp::schemars::JsonSchema)]
/// #[schemars(crate = "edge_mcp::schemars")]
/// struct Greeting {
///     name: String,
/// }
/// # fn is_described<T: edge_mcp::schema::HasJsonSchema>() {}
/// # is_described::<Greeting>();
/// ```
pub use schemars;

/// The names that most servers use, for `use edge_mcp::prelude::*`.
///
/// It has no modules: after `use edge_mcp::*`, the module `worker` shadows the crate `worker`.
///
/// ```
/// use edge_mcp::prelude::*;
///
/// fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
///     McpServer::builder("greeter", "1.0.0").tool(Tool::new("greet", "Says hello.", || async { "Hello" })).build()
/// }
/// ```
pub mod prelude {
    #[doc(no_inline)]
    pub use crate::{
        BuildError, Completion, ConfigError, Content, Context, Elicited, Endpoint, HandlerError, IntoHandlerError,
        Json, McpServer, Prompt, PromptMessage, RequestInfo, Resource, ResourceContents, ResourceDescription,
        ResourceTemplate, ResultExt, StaticTokens, Tool, ToolResult,
    };
}
