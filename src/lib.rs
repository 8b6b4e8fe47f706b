//! A framework for MCP servers at the edge.
//!
//! A server runs as WebAssembly on Cloudflare Workers. Its fetch handler builds a fresh MCP server for each request and keeps no state
//! between requests. It answers with one JSON response, or with a stream if a handler reports progress. One endpoint serves all five
//! revisions of the protocol: 2026-07-28 and, for clients that still send `initialize`, 2025-11-25, 2025-06-18, 2025-03-26 and
//! 2024-11-05.
//!
//! This program defines a server with one tool, and calls the tool as a client does:
//!
//! ```
//! use edge_mcp::testing::{self, call};
//! use edge_mcp::{BuildError, HandlerError, Json, McpServer, RequestInfo, Tool};
//! use schemars::JsonSchema;
//! use serde::{Deserialize, Serialize};
//! use serde_json::json;
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
//! // The handler of the tool.
//! async fn divide(Division { dividend, divisor }: Division) -> Result<Json<Quotient>, HandlerError> {
//!     if divisor == 0.0 {
//!         return Err(HandlerError::new("`divisor` must not be 0."));
//!     }
//!     Ok(Json(Quotient { quotient: dividend / divisor }))
//! }
//!
//! // The server function. The endpoint calls it for each request.
//! fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
//!     let divide = Tool::new("divide", "Divides one number by another.", divide).read_only();
//!     McpServer::builder("calculator", "1.0.0").tool(divide).build()
//! }
//!
//! testing::run(async {
//!     let endpoint = testing::endpoint(server);
//!     let answer = call(&endpoint, "divide", json!({ "dividend": 1, "divisor": 4 })).await;
//!     assert_eq!(answer.structured()["quotient"], 0.25);
//!     assert!(call(&endpoint, "divide", json!({ "dividend": 1 })).await.is_error());
//! });
//! ```
//!
//! The next sections follow the order in which a new server needs them. Each section names the pages of the repository with the details.
//! `docs/concepts.md` explains the terms.
//!
//! # Installation
//!
//! In the repository of edge-mcp, `scripts/new` creates a complete server from `template/`: a Worker with a D1 database, a token and native
//! tests. `npm run dev` in the new folder builds the server and serves it on your machine.
//!
//! ```sh
//! scripts/new ~/parcels && cd ~/parcels && npm run dev
//! ```
//!
//! The default feature `worker` adds the module `worker`, which serves an endpoint on Cloudflare Workers. The default feature `page` adds
//! the landing page. With `default-features = false`, the crate does not depend on the `worker` crate. The feature `client` adds the module `client`, a client of other MCP servers. The
//! feature `gateway` adds the module `gateway`, which mounts other MCP servers behind one endpoint. The feature `rag` adds the module `rag`,
//! with tools that search documents. The feature `tasks` adds the module `tasks`, with calls that outlive their requests.
//!
//! Pages: `README.md`, `docs/tutorial.md`.
//!
//! # First server
//!
//! A Worker consists of a server function, an endpoint function, and one macro. The server function builds the [`McpServer`] of each
//! request. [`build`](McpServerBuilder::build) rejects a definition that cannot work, for example a name that is used twice or a schema
//! that the library cannot enforce. The [`BuildError`] names the definition.
//!
//! The endpoint function gets the environment of the Worker, and returns an [`Endpoint`]: the server function with an HTTP path,
//! authentication and limits. The macro `worker::entry!` exports the fetch handler. The [`prelude`] has the names that most servers use.
//!
//! ```no_run
//! # #[cfg(feature = "worker")]
//! # mod example {
//! use edge_mcp::{BuildError, Endpoint, McpServer, RequestInfo, StaticTokens, Tool};
//!
//! fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
//!     let greet = Tool::new("greet", "Says hello.", || async { "Hello" });
//!     McpServer::builder("greeter", "1.0.0").tool(greet).build()
//! }
//!
//! edge_mcp::worker::entry!(|env| {
//!     StaticTokens::from_secret(env, "MCP_STATIC_TOKENS").map(|tokens| Endpoint::new(server).auth(tokens))
//! });
//! # }
//! ```
//!
//! A server can depend on its caller, because the server function gets the [`RequestInfo`] of each request:
//!
//! ```
//! use edge_mcp::{BuildError, McpServer, RequestInfo, Tool};
//!
//! fn server(request: &RequestInfo) -> Result<McpServer, BuildError> {
//!     let greet = Tool::new("greet", "Says hello.", || async { "Hello" });
//!     let server = McpServer::builder("greeter", "1.0.0").tool(greet);
//!     let is_admin = request.caller().is_some_and(|caller| caller.has_scope("admin"));
//!     let reset = || Tool::new("reset", "Deletes all greetings.", || async {});
//!     if is_admin { server.tool(reset()).build() } else { server.build() }
//! }
//! ```
//!
//! Page: `docs/your-own-server.md`.
//!
//! # Tools
//!
//! A [`Tool`] is an async function. Its parameters are the arguments, the [`Context`] of the call, both, or none. The JSON Schema of the
//! arguments comes from their Rust type. The server publishes and enforces the schema, and calls the function only with valid arguments.
//!
//! The function returns text, [`Json`], [`Content`], a [`ToolResult`], `()`, or a `Result` of one of these. [`IntoToolResult`] lists the
//! return types. A [`HandlerError`] contains the sentence that the model gets. The operator `?` converts every `std::error::Error` into a
//! `HandlerError` with a fixed sentence. The log gets the text of the error. [`ResultExt::message`] sets another sentence.
//!
//! Pages: `docs/tools.md`, `docs/tool-arguments.md`, `docs/tool-results.md`, `docs/compiler-errors.md`.
//!
//! # State
//!
//! [`Endpoint::state`] shares bindings and configuration with all handlers of the isolate. A handler gets them by their type:
//!
//! ```
//! use edge_mcp::{BuildError, Context, Endpoint, HandlerError, McpServer, RequestInfo, Tool};
//!
//! struct App {
//!     greeting: String,
//! }
//!
//! async fn greet(cx: Context) -> Result<String, HandlerError> {
//!     Ok(cx.state::<App>()?.greeting.clone())
//! }
//!
//! fn server(_: &RequestInfo) -> Result<McpServer, BuildError> {
//!     McpServer::builder("greeter", "1.0.0").tool(Tool::new("greet", "Says hello.", greet)).build()
//! }
//!
//! let endpoint = Endpoint::new(server).state(App { greeting: "Hello".into() }).without_auth();
//! ```
//!
//! State lives as long as the isolate, so do not store data of a request in it. Page: `docs/your-own-server.md`.
//!
//! # Storage
//!
//! [`storage`] has a type for SQL and a type for keys. A handler gets them from the state. In a Worker they are D1 and Workers KV, and in tests
//! SQLite with the migrations of the server and a map. Page: `docs/storage.md`.
//!
//! # Resources
//!
//! A [`Resource`] has one URI. A [`ResourceTemplate`] has a [URI template](uri_template) and serves every URI that matches it. For both,
//! an async function returns the contents.
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
//! Page: `docs/resources.md`.
//!
//! # Prompts
//!
//! A [`Prompt`] is an async function that returns messages. [`Completion`] suggests values for the arguments of a prompt and for the
//! variables of a resource template. Page: `docs/prompts.md`.
//!
//! # Authorization
//!
//! An endpoint answers every request with 503 until its authentication is set. [`Endpoint::auth`] sets the validator of bearer tokens: a
//! list of tokens ([`StaticTokens`]), token introspection ([`Introspection`]), signed tokens ([`Jwt`]), several of these ([`AnyOf`]), or
//! your own [`TokenValidator`]. [`Endpoint::configured`] reads these settings from environment variables. [`Tool::scopes`] sets the scopes
//! that a caller of the tool needs. Resources and prompts have the same method.
//!
//! Pages: `docs/authorization.md`, `docs/identity-providers.md`.
//!
//! # Limits
//!
//! [`Limits`] bounds the size of requests and answers, and [`Tool::deadline`] bounds the time of a call. [`limits`] lists all limits of the
//! library. Page: `docs/limits.md`.
//!
//! # Testing
//!
//! [`testing`] has a client, and a host with a clock, a network and a log. A test calls an endpoint in the same process, without a Worker
//! and without a network. Page: `docs/testing.md`.
//!
//! # Publishing
//!
//! [`Endpoint::check`] and [`McpServer::check`] name what directories of servers, models and client libraries would reject. [`check`] has
//! the rules. Page: `docs/check.md`.
//!
//! # Deployment
//!
//! To deploy a server that `scripts/new` created, run `npm run deploy`. Page: `docs/your-own-server.md`.
//!
//! To serve on another host, implement the traits of [`host`], and call [`Endpoint::handle`]. It returns an `http::Response`.
//!
//! # More features
//!
//! | feature | entry point | page |
//! |---|---|---|
//! | questions to the user: forms, confirmations | [`Context::elicit`], [`Context::confirm`] | `docs/elicitation.md` |
//! | text from the client's model, roots | [`Context::sample`], [`Context::roots`] | `docs/elicitation.md` |
//! | work that later rounds of a call do not repeat | [`Context::step`] | `docs/steps.md` |
//! | progress, log messages, cancellation | [`Context::progress`], [`Context::log`], [`Context::cancelled`] | `docs/progress.md` |
//! | calls that outlive their requests, and a sleep that survives a restart | `tasks`, with the feature `tasks`; [`Context::sleep`], [`Context::start_task`] | `docs/tasks.md` |
//! | agents and workflows as tools | [`agents`] | `docs/agents.md`, `docs/workflows.md` |
//! | calls of other MCP servers | `client`, with the feature `client` | `docs/client.md` |
//! | other MCP servers behind one endpoint | `gateway`, with the feature `gateway` | `docs/gateway.md` |
//! | tools that search documents | `rag`, with the feature `rag` | `docs/retrieval.md` |
//! | observation of tool calls | [`Tool::hook`] | `docs/hooks.md` |
//! | the metadata of a server, `server.json` | [`registry`] | `docs/about.md` |
//! | the landing page (feature `page`) | [`Endpoint::without_page`] | `docs/page.md` |
//! | the log | [`LogPolicy`] | `docs/logging.md` |
//! | traces and metrics | [`Endpoint::telemetry`] | `docs/tracing.md` |
//! | results without hidden characters, an audit log | [`Tool::clean_output`] | `docs/audit.md` |
//! | differences between the revisions | [`Revision`] | `docs/protocol.md` |
//!
//! # Source layout
//!
//! Each directory of the source is a module, and a module uses only modules above it. The crate exports the names of a private module at its
//! root. Page: `ARCHITECTURE.md`.

// Only the client and retrieval use some functions of other modules. The linker drops them from a wasm module without these features. With
// the features, the compiler finds functions that nothing uses.
#![cfg_attr(
    not(all(feature = "client", feature = "gateway", feature = "rag", feature = "tasks")),
    allow(dead_code, unused_imports)
)]

pub mod agents;
mod auth;
mod base64;
mod bounded_cache;
mod call;
#[cfg(feature = "client")]
pub mod client;
mod config;
#[cfg(feature = "gateway")]
pub mod gateway;
pub mod host;
mod http;
pub mod limits;
pub mod models;
mod parallel;
mod protocol;
#[cfg(feature = "rag")]
pub mod rag;
pub mod registry;
mod rpc;
mod schema;
mod server;
pub mod storage;
#[cfg(feature = "tasks")]
pub mod tasks;
pub mod testing;
mod text;
#[cfg(any(feature = "rag", feature = "gateway"))]
mod words;
#[cfg(feature = "worker")]
pub mod worker;

#[cfg(doctest)]
mod documentation;

/// The check before publishing: its rules, its limits and its result.
pub mod check {
    pub use crate::server::problems::{Check, Problem, RULES, Rule, SizeLimits, ToolSize};
}

/// Skills: the catalogs that `scripts/skills` writes, and stores of your own.
pub mod skills {
    pub use crate::server::skills::catalog::{Catalog, File, Skill};
    pub use crate::server::skills::entry::{SkillEntry, SkillFile, digest};
    pub use crate::server::skills::store::{SkillChild, SkillContent, SkillFuture, SkillRecord, SkillStore};
}

/// Functions that the fuzz targets call directly. They read headers, bodies and texts whose bytes a caller or another server chooses.
#[doc(hidden)]
pub mod parsers {
    pub use crate::auth::bearer::{Malformed, is_in_query, is_token, token};
    pub use crate::auth::introspection::parse_answer;
    #[cfg(feature = "client")]
    pub use crate::client::questions::passed::labelled;
    #[cfg(feature = "client")]
    pub use crate::client::skills::frontmatter;
    #[cfg(feature = "client")]
    pub use crate::client::wire::sse::{Event, EventReader};
    pub use crate::protocol::header_value::{BadEncoding, decode};
    pub use crate::server::approval::{message, shown_call};
    pub use crate::text::{line, sentence, shortened, visible};
}

/// The JSON reader and writer.
pub use edge_json as json;
/// URI templates (RFC 6570).
pub use edge_uri_template as uri_template;

pub use auth::{
    Algorithm, AnyOf, ExpectedClaims, Introspection, Jwt, Presented, Principal, ProtectedResource, StateKeys,
    StaticTokens, TokenRefusal, TokenValidator,
};
pub use call::client_extensions::ClientSupport;
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
pub use call::task_info::TaskInfo;
pub use call::tool_event::{FinishedCall, ToolEvent};
pub use config::{ConfigError, SecureUrl, Variables};
pub use http::stream::{Body, EventStream};
pub use http::{AllowedOrigins, Endpoint, Limits, LogPolicy, PageRequest};
pub use protocol::capabilities::ClientCapabilities;
pub use protocol::content::{Block, Content, Media, PromptMessage};
pub use protocol::description::{Annotations, Icon, Implementation, PromptArgument, ResourceDescription, Role, Theme};
pub use protocol::log_level::LogLevel;
pub use protocol::message::RequestId;
pub use protocol::resource_contents::{NotBase64, ResourceContents};
pub use protocol::revision::Revision;
pub use schema::{HasJsonSchema, SchemaError};
pub use server::app::{App, Permission};
pub use server::build_error::BuildError;
pub use server::builder::{McpServer, McpServerBuilder};
pub use server::cache::{CacheHint, Cacheable};
pub use server::completion::{Completion, CompletionRequest};
pub use server::extension::{Extension, ExtensionMethod, ExtensionResult, IntoExtensionResult};
pub use server::list::{IntoList, ListKind};
pub use server::prompt::{IntoPromptResult, Prompt, PromptResult};
pub use server::resource::{IntoContents, Resource, ResourceTemplate};
pub use server::skills::Skills;
pub use server::source::{Found, Source};
pub use server::tool::Tool;
pub use text::Text;

/// The crate that derives the JSON Schema of a type. A program that uses this re-export does not need its own dependency on schemars.
///
/// ```
/// use edge_mcp::Tool;
/// use edge_mcp::schemars::{self, JsonSchema};
/// use serde::Deserialize;
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Greeting {
///     /// Name of the person to greet
///     #[schemars(length(min = 1))]
///     name: String,
/// }
///
/// let greet = |Greeting { name }: Greeting| async move { format!("Hello, {name}") };
/// let tool = Tool::new("greet", "Says hello.", greet);
/// ```
///
/// The derived code uses the name `schemars`, so this name must be in scope. Otherwise, set the path in an attribute of the type:
///
/// ```
/// use serde::Deserialize;
///
/// #[derive(Deserialize, edge_mcp::schemars::JsonSchema)]
/// #[schemars(crate = "edge_mcp::schemars")]
/// struct Greeting {
///     name: String,
/// }
/// # fn is_described<T: edge_mcp::HasJsonSchema>() {}
/// # is_described::<Greeting>();
/// ```
pub use schemars;

/// Contains the names that most servers use, for `use edge_mcp::prelude::*`.
///
/// The prelude contains no modules. In contrast, `use edge_mcp::*` imports the module `worker`, which shadows the crate `worker`.
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
