//! A client of other MCP servers (feature `client`).
//!
//! A handler connects with the context of its call. It then calls tools, reads resources and gets prompts of other servers:
//!
//! ```
//! use edge_mcp::client::McpClient;
//! use edge_mcp::{Context, HandlerError};
//! use serde_json::json;
//!
//! async fn temperature(client: McpClient, cx: Context) -> Result<String, HandlerError> {
//!     let weather = client.connect(&cx).server("weather")?;
//!     let answer = weather.call("get-weather", json!({ "location": "Paris" })).await?;
//!     Ok(answer.text())
//! }
//! ```
//!
//! A server is modern if it supports revision 2026-07-28. A legacy server supports only older revisions, which begin with `initialize` and
//! may have sessions. The client finds out which kind a server is.
//!
//! Page: `docs/client.md`.
//!
//! `wire` knows only bytes and messages. `tokens` and `questions` are what a program provides, and `sign_in` are the tokens of persons.
//! `session` sends requests to one server, and `operations` are the requests that a program can make. `skills` checks the skills of a server.
//! The other files are the settings ([`McpClient`], [`Upstream`]), the [`Connection`], and the tools of other servers as a source of this
//! server.

mod budget;
mod configuration;
mod connection;
mod conversation;
mod error;
mod foreign_tool;
mod mcp_client;
mod oauth;
mod operations;
pub(crate) mod questions;
mod remote_task;
mod session;
mod sign_in;
pub(crate) mod skills;
mod source;
mod tokens;
mod upstream;
pub(crate) mod wire;

#[cfg(feature = "gateway")]
pub(crate) use connection::to as connection_to;
pub use connection::{Connection, Peer};
#[cfg(feature = "gateway")]
pub(crate) use conversation::gateways;
pub use error::{ClientError, Delivery, Failure, NotMcp, Unreachable, Unverified};
#[cfg(feature = "gateway")]
pub(crate) use foreign_tool::foreign_tool;
pub use mcp_client::{McpClient, McpClientBuilder};
pub use operations::call::Call;
pub use operations::definition::Definition;
pub use operations::listing::{Listing, Toolset};
#[cfg(feature = "gateway")]
pub(crate) use operations::passed_task::{DetailedTask, TaskDetail};
pub use operations::read::{Complete, CompleteResult, GetPromptResult, ReadResult};
pub use operations::request::{ExtensionRequest, RequestResult};
pub use operations::result::CallResult;
#[cfg(feature = "gateway")]
pub(crate) use operations::tool_call::CallOutcome;
pub use questions::question::{Elicitation, SamplingRequest, UrlElicitation};
pub use remote_task::RemoteTask;
pub use session::about::About;
pub use session::listeners::{LogMessage, Progress};
pub use sign_in::{
    MemoryTokens, OwnClient, SignIn, SqliteTokens, TokenKeys, TokenStore, TokenStoreError, token_migration,
};
pub use source::RemoteTools;
pub use tokens::client_credentials::{AuthorizationServer, ClientCredentials};
pub use upstream::Upstream;

pub use crate::auth::client_assertion::SigningKey;
pub use crate::host::transport::Transport;
pub use crate::http::in_process::InProcess;
