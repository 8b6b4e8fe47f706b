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
//! The [`prelude`] has the names that most servers use. `docs/tutorial.md` builds a server step by step, and `docs/concepts.md` explains the
//! terms.
//!
//! In a Worker, an endpoint function gets the environment and returns an [`Endpoint`], and a macro exports the fetch handler:
//!
//! ```no_run
//! # #[cfg(feature = "worker")]
//! # mod example {
//! use edge_mcp::{BuildError, ConfigError, Endpoint, McpServer, Tool};
//!
//! fn server() -> Result<McpServer, BuildError> {
//!     let greet = Tool::new("greet", "Says hello.", || async { "Hello" });
//!     McpServer::builder("greeter", "1.0.0").tool(greet).build()
//! }
//!
//! fn endpoint(env: &worker::Env) -> Result<Endpoint, ConfigError> {
//!     Ok(Endpoint::of(server()?).configured(env))
//! }
//!
//! edge_mcp::worker::entry!(endpoint);
//! # }
//! ```
//!
//! | topic | names | page |
//! |---|---|---|
//! | tools | [`Tool`], [`Json`], [`ToolResult`], [`HandlerError`]; [`handler`] lists the types that a handler takes and returns | `docs/tools.md`, `docs/tool-arguments.md`, `docs/tool-results.md`, `docs/compiler-errors.md` |
//! | resources | [`Resource`], [`ResourceTemplate`], [`uri_template`] | `docs/resources.md` |
//! | prompts | [`Prompt`], [`Completion`] | `docs/prompts.md` |
//! | parts of results, icons, annotations | [`Content`], [`content`] | `docs/tool-results.md` |
//! | a server whose items depend on the request | [`Endpoint::new`], [`RequestInfo`] | `docs/your-own-server.md` |
//! | state | [`Endpoint::state`], [`Context::state`] | `docs/your-own-server.md` |
//! | SQL and keys: D1 and Workers KV, in tests SQLite and a map | [`storage`] | `docs/storage.md` |
//! | authorization | [`StaticTokens`], [`auth`], [`Tool::scopes`] | `docs/authorization.md`, `docs/identity-providers.md` |
//! | configuration | [`Endpoint::configured`], [`Variables`], [`ConfigError`] | `docs/your-own-server.md` |
//! | limits | [`Limits`], [`Tool::deadline`] | `docs/limits.md` |
//! | tests | [`testing`] | `docs/testing.md` |
//! | the check before publishing | [`Endpoint::check`], [`McpServer::check`], [`check`] | `docs/check.md` |
//! | questions to the user: forms, confirmations | [`Context::elicit`], [`Context::confirm`] | `docs/elicitation.md` |
//! | text from the client's model, roots | [`Context::sample`], [`Context::roots`] | `docs/elicitation.md` |
//! | work that later rounds of a call do not repeat | [`Context::step`] | `docs/steps.md` |
//! | progress, log messages, cancellation | [`Context::progress`], [`Context::log`], [`Context::cancelled`] | `docs/progress.md` |
//! | calls that outlive their requests, and a sleep that survives a restart | `tasks`, with the feature `tasks`; [`Context::sleep`], [`Context::start_task`] | `docs/tasks.md` |
//! | agents and workflows as tools | [`agents`] | `docs/agents.md`, `docs/workflows.md` |
//! | calls of other MCP servers | `client`, with the feature `client` | `docs/client.md` |
//! | other MCP servers behind one endpoint | `gateway`, with the feature `gateway` | `docs/gateway.md` |
//! | tools that search documents | `rag`, with the feature `rag` | `docs/retrieval.md` |
//! | items that are not known before a request | [`source`] | |
//! | user interfaces of tools | [`App`] | `docs/apps.md` |
//! | skills | [`Skills`], [`skills`] | `docs/skills.md` |
//! | protocol extensions | [`extension`] | `docs/extensions.md` |
//! | observation of tool calls | [`Tool::hook`] | `docs/hooks.md` |
//! | the metadata of a server, `server.json` | [`registry`] | `docs/about.md` |
//! | the landing page (feature `page`, on by default) | [`Endpoint::without_page`] | `docs/page.md` |
//! | the log | [`LogPolicy`] | `docs/logging.md` |
//! | traces and metrics | [`Endpoint::telemetry`] | `docs/tracing.md` |
//! | results without hidden characters, an audit log | [`Tool::clean_output`] | `docs/audit.md` |
//! | cache hints | [`cache`] | `docs/protocol.md` |
//! | revisions and messages of the protocol | [`protocol`] | `docs/protocol.md` |
//! | another host than Workers | [`host`], [`Endpoint::handle`] | `docs/hosts.md` |
//!
//! The feature `worker`, on by default, adds the module `worker`: Cloudflare Workers as the host. Without default features, the crate does
//! not depend on the `worker` crate.

// Only the client and retrieval use some functions of other modules. The linker drops them from a wasm module without these features. With
// the features, the compiler finds functions that nothing uses.
#![cfg_attr(
    not(all(feature = "client", feature = "gateway", feature = "rag", feature = "tasks")),
    allow(dead_code, unused_imports)
)]

pub mod agents;
pub mod auth;
mod base64;
mod bounded_cache;
pub mod call;
#[cfg(feature = "client")]
pub mod client;
mod config;
mod engine;
#[cfg(feature = "gateway")]
pub mod gateway;
pub mod host;
pub mod http;
mod limits;
pub mod models;
mod parallel;
pub mod protocol;
#[cfg(feature = "rag")]
pub mod rag;
pub mod registry;
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

/// Cache hints: how long a client may cache a result.
pub mod cache {
    pub use crate::server::cache::{CacheHint, Cacheable};
}

/// The check before publishing: its rules, its limits and its result.
pub mod check {
    pub use crate::server::problems::{Check, Problem, RULES, Rule, SizeLimits, ToolSize};
}

/// The parts of contents and descriptions: blocks, media, annotations, icons.
pub mod content {
    pub use crate::protocol::content::{Block, Media};
    pub use crate::protocol::description::{Annotations, Icon, Role, Theme};
    pub use crate::protocol::resource_contents::NotBase64;
}

/// Protocol extensions with methods of their own.
pub mod extension {
    pub use crate::server::extension::{Extension, ExtensionMethod, ExtensionResult};
}

/// The types that handlers take and return, as traits. Most servers do not name them.
pub mod handler {
    #[doc(hidden)]
    pub use crate::call::error::Cause;
    #[doc(hidden)]
    pub use crate::call::handler::AbsentArguments;
    pub use crate::call::handler::{Arguments, Handler, Parameters};
    pub use crate::call::result::IntoToolResult;
    pub use crate::schema::{HasJsonSchema, SchemaError};
    pub use crate::server::extension::IntoExtensionResult;
    pub use crate::server::list::IntoList;
    pub use crate::server::prompt::IntoPromptResult;
    pub use crate::server::resource::IntoContents;
}

/// Skills: the catalogs that `scripts/skills` writes, and stores of your own.
pub mod skills {
    pub use crate::server::skills::catalog::{Catalog, File, Skill};
    pub use crate::server::skills::entry::{SkillEntry, SkillFile, digest};
    pub use crate::server::skills::store::{SkillChild, SkillContent, SkillFuture, SkillRecord, SkillStore};
}

/// Sources of tools, resources and prompts that are not known when the server is built.
pub mod source {
    pub use crate::server::list::ListKind;
    pub use crate::server::source::{Source, SourceItems};
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

pub use auth::static_tokens::StaticTokens;
pub use call::context::Context;
pub use call::elicitation::FormAnswer;
pub use call::error::{HandlerError, IntoHandlerError, ResultExt};
pub use call::request_info::RequestInfo;
pub use call::result::{Json, ToolResult};
pub use config::{ConfigError, Variables};
pub use engine::limits::Limits;
pub use http::endpoint::Endpoint;
pub use http::log_line::LogPolicy;
pub use protocol::content::{Content, PromptMessage};
pub use protocol::description::{PromptArgument, ResourceDescription};
pub use protocol::resource_contents::ResourceContents;
pub use server::app::{App, AppPermission};
pub use server::build_error::BuildError;
pub use server::builder::{McpServer, McpServerBuilder};
pub use server::completion::{Completion, CompletionRequest};
pub use server::prompt::{Prompt, PromptResult};
pub use server::resource::{Resource, ResourceTemplate};
pub use server::skills::Skills;
pub use server::tool::Tool;

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
/// # fn is_described<T: edge_mcp::handler::HasJsonSchema>() {}
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
        BuildError, Completion, ConfigError, Content, Context, Endpoint, FormAnswer, HandlerError, IntoHandlerError,
        Json, McpServer, Prompt, PromptMessage, RequestInfo, Resource, ResourceContents, ResourceDescription,
        ResourceTemplate, ResultExt, StaticTokens, Tool, ToolResult,
    };
}
